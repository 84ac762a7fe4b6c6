/** QEMU's migration as this server uses it: to and from Unix sockets, polled until it is over. @see QEMU docs/devel/migration.rst */
import { setTimeout as delay } from 'node:timers/promises';
import { fault } from '../../../api/faults.ts';
import { ask, Migration } from '../answers.ts';
import type { Monitor } from '../monitor.ts';

/** Bytes a second: the default of 128 MiB throttles, and nothing else uses the socket. */
const bandwidth = 2 ** 40;
const pollMs = 4;
/** A memory of 100 GiB takes minutes; what makes no progress at all must end some time. */
const limitMs = 1_800_000;

export function unthrottle(monitor: Monitor): Promise<unknown> {
  return monitor.execute('migrate-set-parameters', { 'max-bandwidth': bandwidth });
}

/** Whether memory that is a shared file is neither sent nor expected. Both sides must agree. */
export function ignoreShared(monitor: Monitor, state: boolean): Promise<unknown> {
  return monitor.execute('migrate-set-capabilities', { capabilities: [{ capability: 'x-ignore-shared', state }] });
}

/** Why devices of the machine cannot be saved; none in most. */
export async function blockedReasons(monitor: Monitor): Promise<readonly string[]> {
  return (await query(monitor))['blocked-reasons'] ?? [];
}

/** Sends to a socket on which another process listens. @throws qemu_failed */
export async function migrateTo(monitor: Monitor, path: string): Promise<void> {
  await monitor.execute('migrate', { uri: `unix:${path}` });
  await migrated(monitor);
}

/** Waits for the end of what is sent or received. @throws qemu_failed */
export async function migrated(monitor: Monitor): Promise<void> {
  const limit = performance.now() + limitMs;
  for (;;) {
    const { status = 'none', 'error-desc': reason } = await query(monitor);
    if (status === 'completed') return;
    if (status === 'failed' || status === 'cancelled')
      throw fault('qemu_failed', { reason: `the memory was not transferred: ${reason ?? status}` });
    if (performance.now() > limit) throw fault('qemu_failed', { reason: 'the memory was not transferred in time' });
    await delay(pollMs);
  }
}

/** A transfer that was given up, or that a server which died has begun, is ended, so that the machine can resume. */
export async function settleMigration(monitor: Monitor): Promise<void> {
  await monitor.execute('migrate_cancel');
  const limit = performance.now() + 10_000;
  while (performance.now() < limit && !(await isSettled(monitor))) await delay(pollMs);
  // Otherwise the next transfer, of any kind, would wait for it. QEMU before 2.11 has no such capability.
  await pauseBeforeSwitchover(monitor, false).catch(() => undefined);
}

/**
 * Whether no migration is under way. QEMU's thread ends after the transfer has: until then the state is `finish-migrate`, and QEMU refuses
 * to resume.
 */
async function isSettled(monitor: Monitor): Promise<boolean> {
  const { status = 'none' } = await query(monitor);
  return /^(none|completed|failed|cancelled)$/.test(status) && (await monitor.status()) !== 'finish-migrate';
}

export function pauseBeforeSwitchover(monitor: Monitor, state: boolean): Promise<unknown> {
  return monitor.execute('migrate-set-capabilities', { capabilities: [{ capability: 'pause-before-switchover', state }] });
}

async function query(monitor: Monitor): Promise<Migration> {
  return await ask(monitor, 'query-migrate', Migration);
}
