/** Memory that is sent while the guest runs. @see QEMU docs/devel/migration.rst */
import { setTimeout as delay } from 'node:timers/promises';
import { fault } from '../../../api/faults.ts';
import { pauseBeforeSwitchover, settleMigration } from '../memory/migration.ts';
import type { Monitor } from '../monitor.ts';

const pollMs = 3;
/** The guest is paused when the rest takes this long, as QEMU reckons; a guest that writes faster gets more, little by little. */
const firstDowntimeMs = 40;
const longestDowntimeMs = 20_000;
const patienceMs = 5_000;

/**
 * Sends all but the rest to a socket, and resolves when the guest is paused. An emulated processor is paused first: QEMU 7.2 misses pages
 * that it writes while they are sent, and guests crash. @returns when it still ran. @throws qemu_failed
 */
export async function lastRunning(monitor: Monitor, accelerator: 'kvm' | 'tcg', socket: string): Promise<number> {
  await pauseBeforeSwitchover(monitor, true);
  const begun = performance.now();
  if (accelerator === 'tcg') await monitor.execute('stop');
  let downtime = firstDowntimeMs;
  await limitDowntime(monitor, downtime);
  await monitor.execute('migrate', { uri: `unix:${socket}` });
  let running = performance.now();
  let raiseAt = running + patienceMs;
  for (;;) {
    const asked = performance.now();
    const status = await migrationStatus(monitor);
    if (status === 'pre-switchover') return accelerator === 'tcg' ? begun : running;
    if (status === 'completed') throw fault('qemu_failed', { reason: 'the memory was sent without a pause' });
    running = asked;
    if (asked > raiseAt && downtime < longestDowntimeMs) {
      downtime *= 2;
      raiseAt = asked + patienceMs;
      await limitDowntime(monitor, downtime);
    }
    await delay(pollMs);
  }
}

/** @throws qemu_failed */
export async function sendRest(monitor: Monitor): Promise<void> {
  await monitor.execute('migrate-continue', { state: 'pre-switchover' });
  while ((await migrationStatus(monitor)) !== 'completed') await delay(pollMs);
}

/** Whatever was sent, the guest runs here. @throws qemu_failed */
export async function continueHere(monitor: Monitor): Promise<void> {
  await settleMigration(monitor);
  if ((await monitor.status()) !== 'running') await monitor.execute('cont');
}

/** @throws qemu_failed when it has failed */
async function migrationStatus(monitor: Monitor): Promise<string> {
  const { status = 'none', 'error-desc': reason } = (await monitor.execute('query-migrate')) as Record<string, string>;
  if (status === 'failed' || status === 'cancelled' || status === 'cancelling' || status === 'none')
    throw fault('qemu_failed', { reason: `the memory was not sent: ${reason ?? status}` });
  return status;
}

function limitDowntime(monitor: Monitor, ms: number): Promise<unknown> {
  return monitor.execute('migrate-set-parameters', { 'downtime-limit': ms });
}
