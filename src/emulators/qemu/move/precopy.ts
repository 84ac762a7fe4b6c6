/** Memory that is sent while the guest runs. @see QEMU docs/devel/migration.rst */
import { setTimeout as delay } from 'node:timers/promises';
import { fault } from '../../../api/faults.ts';
import { ask, Migration } from '../answers.ts';
import { pauseBeforeSwitchover, settleMigration } from '../memory/migration.ts';
import type { Monitor } from '../monitor.ts';

const pollMs = 3;
/** The guest is paused when the rest takes this long, as QEMU reckons; a guest that writes faster gets more, little by little. */
const firstDowntimeMs = 40;
const longestDowntimeMs = 20_000;
const patienceMs = 5_000;

/**
 * Sends all but the rest to a socket, and resolves when the guest is paused. @returns when it still ran (`performance.now`)
 * @throws qemu_failed
 */
export async function lastRunning(monitor: Monitor, accelerator: 'kvm' | 'tcg', socket: string): Promise<number> {
  await pauseBeforeSwitchover(monitor, true);
  return accelerator === 'tcg' ? await inOnePass(monitor, socket) : await untilLittleIsLeft(monitor, socket);
}

/**
 * An emulated processor must not run while QEMU reads which pages were written: it misses some, and guests crash (tried with 7.2). So it is
 * paused for a moment while that is read first, and again after one pass over the memory, as QEMU completes then: with a limit of 0 it does
 * not read that again in between.
 */
async function inOnePass(monitor: Monitor, socket: string): Promise<number> {
  await limitDowntime(monitor, 0);
  const begun = performance.now();
  await monitor.execute('stop');
  await monitor.execute('migrate', { uri: `unix:${socket}` });
  let progress = await progressOf(monitor);
  while (progress.status !== 'pre-switchover' && syncsOf(progress) === 0) {
    await delay(pollMs);
    progress = await progressOf(monitor);
  }
  const syncs = syncsOf(progress);
  // A small memory may have been sent meanwhile: then QEMU refuses.
  const isRunning = await monitor.execute('cont').then(
    () => true,
    () => false,
  );
  let running = isRunning ? performance.now() : begun;
  for (;;) {
    const asked = performance.now();
    if (await isPaused(monitor)) break;
    if (isRunning) running = asked;
    await delay(pollMs);
  }
  if (syncsOf(await progressOf(monitor)) > syncs)
    throw fault('qemu_failed', { reason: 'QEMU read which pages were written while the guest ran: some of them may be missing' });
  return running;
}

/** @throws qemu_failed, also when the guest is not paused any more */
async function isPaused(monitor: Monitor): Promise<boolean> {
  const { status } = await progressOf(monitor);
  if (status === 'completed') throw fault('qemu_failed', { reason: 'the memory was sent without a pause' });
  return status === 'pre-switchover';
}

/** Number of times that QEMU has read which pages were written. */
const syncsOf = ({ ram }: Migration): number => ram?.['dirty-sync-count'] ?? 0;

/** The guest gets more time, little by little, when it writes faster than its memory is sent. */
async function untilLittleIsLeft(monitor: Monitor, socket: string): Promise<number> {
  let downtime = firstDowntimeMs;
  await limitDowntime(monitor, downtime);
  await monitor.execute('migrate', { uri: `unix:${socket}` });
  let running = performance.now();
  let raiseAt = running + patienceMs;
  for (;;) {
    const asked = performance.now();
    if (await isPaused(monitor)) return running;
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
  while ((await progressOf(monitor)).status !== 'completed') await delay(pollMs);
}

/** Whatever was sent, the guest runs here. @throws qemu_failed */
export async function continueHere(monitor: Monitor): Promise<void> {
  await settleMigration(monitor);
  if ((await monitor.status()) !== 'running') await monitor.execute('cont');
}

/** @throws qemu_failed when it has failed, or has ended before it should */
async function progressOf(monitor: Monitor): Promise<Migration> {
  const progress = await ask(monitor, 'query-migrate', Migration);
  const { status = 'none', 'error-desc': reason = status } = progress;
  if (/^(?:failed|cancelled|cancelling|none)$/.test(status))
    throw fault('qemu_failed', { reason: `the memory was not sent: ${reason}` });
  return progress;
}

function limitDowntime(monitor: Monitor, ms: number): Promise<unknown> {
  return monitor.execute('migrate-set-parameters', { 'downtime-limit': ms });
}
