/** Runs pings in a guest's shell and in a VPCS, and parses their output. */
import type { Console } from './console.ts';

export interface PingResult {
  sent: number;
  received: number;
  lossPercent: number;
  /** Median round trip, ms; undefined without a reply. */
  medianMs: number | undefined;
  /** Shortest round trip, ms: the link's delay with the least noise of a busy machine. */
  quickestMs: number | undefined;
}

/** Pause between two echoes of a PC, ms. */
const pcIntervalMs = 200;

/** busybox's ping with `count` echoes, `intervalMs` apart; the last one has `waitSeconds` for its reply. */
export async function ping(
  shell: Console,
  target: string,
  { count, intervalMs, waitSeconds = 2 }: { count: number; intervalMs: number; waitSeconds?: number },
): Promise<PingResult> {
  const limitMs = count * intervalMs + 30_000;
  return readPing(await shell.run(`ping -c ${count} -i ${intervalMs / 1000} -W ${waitSeconds} ${target}`, limitMs));
}

/** Parses the output of busybox's ping, with its summary. */
export function readPing(output: string): PingResult {
  const summary = /(\d+) packets transmitted, (\d+) packets received/.exec(output);
  if (!summary) throw new Error(`ping printed no summary: ${JSON.stringify(output.slice(-300))}`);
  return result(Number(summary[1]), Number(summary[2]), times(output));
}

/** A VPCS's ping: one line per echo, no summary, then its prompt. It stops at the first echo when the gateway does not reply. */
export async function pingFromVpcs(pc: Console, target: string, count: number): Promise<PingResult> {
  pc.skip();
  pc.send(`ping ${target} -c ${count} -i ${pcIntervalMs}\r\n`);
  // The typed line is echoed; results start with the first reply or refusal.
  const output = await pc.expect(/(?:icmp_seq=|reachable).*> $/s, count * 10_000 + 20_000);
  return result(count, [...output.matchAll(/icmp_seq=\d+ ttl/g)].length, times(output));
}

function times(output: string): number[] {
  return [...output.matchAll(/time=([\d.]+) ms/g)].map((match) => Number(match[1]));
}

function result(sent: number, received: number, trips: number[]): PingResult {
  const sorted = trips.toSorted((a, b) => a - b);
  const lossPercent = sent === 0 ? 0 : Math.round(((sent - received) * 1000) / sent) / 10;
  return { sent, received, lossPercent, medianMs: sorted[Math.floor(sorted.length / 2)], quickestMs: sorted[0] };
}
