/** Pings from a guest's shell and from a VPCS, and what their words mean in figures. */
import type { Console } from './console.ts';

export interface PingResult {
  sent: number;
  received: number;
  lossPercent: number;
  /** Median round trip, ms; undefined when nothing came back. */
  medianMs: number | undefined;
}

/** busybox's ping with `count` echoes, `intervalMs` apart. */
export async function ping(
  shell: Console,
  target: string,
  { count, intervalMs }: { count: number; intervalMs: number },
): Promise<PingResult> {
  const limitMs = count * intervalMs + 30_000;
  return readPing(await shell.run(`ping -c ${count} -i ${intervalMs / 1000} -W 2 ${target}`, limitMs));
}

/** Reads the lines of busybox's ping, with its summary. */
export function readPing(output: string): PingResult {
  const summary = /(\d+) packets transmitted, (\d+) packets received/.exec(output);
  if (!summary) throw new Error(`ping said nothing that can be read: ${JSON.stringify(output.slice(-300))}`);
  return result(Number(summary[1]), Number(summary[2]), times(output));
}

/** A VPCS's ping: one line per echo, no summary. */
export async function pingFromVpcs(pc: Console, target: string, count: number): Promise<PingResult> {
  pc.skip();
  pc.send(`ping ${target} -c ${count}\r\n`);
  const line = /(?:icmp_seq=\d+ (?:ttl|timeout)|not reachable|unreachable)/;
  let received = 0;
  let output = '';
  for (let seen = 0; seen < count; seen++) {
    const part = await pc.expect(new RegExp(`${line.source}[^\\n]*\\n`), 20_000);
    if (/icmp_seq=\d+ ttl/.test(part)) received += 1;
    output += part;
    if (/not reachable|unreachable/.test(part)) break;
  }
  return result(count, received, times(output));
}

function times(output: string): number[] {
  return [...output.matchAll(/time=([\d.]+) ms/g)].map((match) => Number(match[1]));
}

function result(sent: number, received: number, trips: number[]): PingResult {
  const sorted = trips.toSorted((a, b) => a - b);
  return {
    sent,
    received,
    lossPercent: sent === 0 ? 0 : Math.round(((sent - received) * 1000) / sent) / 10,
    medianMs: sorted[Math.floor(sorted.length / 2)],
  };
}
