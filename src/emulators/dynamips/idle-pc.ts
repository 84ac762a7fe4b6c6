/**
 * Idle-PC values: addresses of an image's idle loop. Without one a router takes a whole processor. Dynamips proposes some of a router that
 * has run for a while; the best is the first with which the processor idles.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fault } from '../../api/faults.ts';
import type { RouterEmulator } from './emulator.ts';
import { sendAll } from './launch.ts';
import { idleCommands } from './router-commands.ts';

export interface IdlePcTimes {
  /** Running time of a router before its values are looked for. */
  readonly bootMs: number;
  /** Trial time of each value. */
  readonly trialMs: number;
}

/** GNS3's. */
export const idlePcTimes: IdlePcTimes = { bootMs: 20_000, trialMs: 3000 };
/** Each one takes `trialMs`; a router proposes some ten. */
const mostTrials = 30;
/** Percent of a processor: GNS3's limit. */
const idleUsage = 70;
const cpu = 0;

/** Measures idle-PC values such as `0x60b5c9d4 [60]`: the value and how often it was seen. The router runs without a value meanwhile. */
export async function proposeIdlePcs({ hypervisor, router }: RouterEmulator, { bootMs }: IdlePcTimes): Promise<string[]> {
  await sendAll(hypervisor, [['vm', 'set_idle_pc_online', router, cpu, '0x0']]);
  await sleep(bootMs);
  const { rows } = await hypervisor.ask('vm', 'get_idle_pc_prop', router, cpu);
  return rows.map((row) => row.trim()).filter((row) => addressOf(row) !== undefined);
}

/** @throws idlepc_not_found */
export async function findIdlePc(emulator: RouterEmulator, times: IdlePcTimes, name: string): Promise<string> {
  const proposals = await proposeIdlePcs(emulator, times);
  const { hypervisor, router } = emulator;
  for (const value of proposals.slice(0, mostTrials).flatMap((row) => addressOf(row) ?? [])) {
    await sendAll(hypervisor, [['vm', 'set_idle_pc_online', router, cpu, value]]);
    await sleep(times.trialMs);
    const { text } = await hypervisor.ask('vm', 'cpu_usage', router, cpu);
    if (Number.parseInt(text, 10) < idleUsage) return value;
  }
  throw fault('idlepc_not_found', { name, count: proposals.length });
}

/** Gives a router that keeps running its own value again. */
export function restoreIdlePc(
  { hypervisor, router }: RouterEmulator,
  properties: Readonly<Record<string, unknown>>,
): Promise<void> {
  return sendAll(hypervisor, idleCommands(router, properties, true).slice(0, 1));
}

function addressOf(row: string): string | undefined {
  return /^\*?\s*(0x[0-9a-f]{1,16})\b/i.exec(row)?.[1];
}
