/** The disks of a running machine, written to another place as well. @see QEMU docs/interop/live-block-operations.rst */
import { setTimeout as delay } from 'node:timers/promises';
import { fault } from '../../../api/faults.ts';
import type { MoveOffer } from '../../../schema/move.ts';
import type { Static } from '../../../schema/type.ts';
import { ask, Jobs } from '../answers.ts';
import type { Monitor } from '../monitor.ts';

const pollMs = 4;
const prefix = 'move-';

export class DiskMirror {
  readonly #monitor: Monitor;
  readonly #drives: MoveOffer['drives'];

  constructor(monitor: Monitor, drives: MoveOffer['drives']) {
    this.#monitor = monitor;
    this.#drives = drives;
  }

  /** Resolves when both sides are the same, and stay so. `socketOf`: where the other side of a drive is an NBD export. @throws qemu_failed */
  async begin(socketOf: (drive: string) => string): Promise<void> {
    for (const { name } of this.#drives) {
      await this.#monitor.execute('drive-mirror', {
        device: name,
        target: `nbd+unix:///${name}?socket=${socketOf(name)}`,
        sync: 'top',
        mode: 'existing',
        format: 'raw',
        'job-id': prefix + name,
        // An error at the end would be lost with the job.
        'auto-dismiss': false,
      });
    }
    await this.#until((jobs) => jobs.every(({ status }) => status === 'ready'));
  }

  /** The guest is paused: what it wrote last is on the other side when this resolves. @throws qemu_failed */
  async end(): Promise<void> {
    for (const { name } of this.#drives) await this.#monitor.execute('block-job-cancel', { device: prefix + name });
    await this.#until((jobs) => jobs.every(({ status }) => status === 'concluded'), 'concluded');
    for (const { name } of this.#drives) await this.#monitor.execute('job-dismiss', { id: prefix + name });
  }

  /** Never rejects. */
  async cancel(): Promise<void> {
    await cancelMirrors(this.#monitor);
  }

  /** @throws qemu_failed when one has failed, or ended before it should */
  async #until(condition: (jobs: Static<typeof Jobs>) => boolean, last = 'ready'): Promise<void> {
    for (;;) {
      const jobs = await mirrorsOf(this.#monitor);
      const failed = jobs.find(({ error, status }) => error !== undefined || (status === 'concluded' && last !== 'concluded'));
      if (failed || jobs.length < this.#drives.length)
        throw fault('qemu_failed', { reason: `a disk was not mirrored: ${failed?.error ?? 'the mirror has ended'}` });
      if (condition(jobs)) return;
      await delay(pollMs);
    }
  }
}

/** Cancels mirrors, also those of a server that has died. Never rejects. */
export async function cancelMirrors(monitor: Monitor): Promise<void> {
  const limit = performance.now() + 10_000;
  while (performance.now() < limit) {
    const jobs = await mirrorsOf(monitor).catch((): Static<typeof Jobs> => []);
    if (jobs.length === 0) return;
    for (const { id, status } of jobs) {
      if (performance.now() > limit) return;
      if (status === 'concluded') await monitor.execute('job-dismiss', { id }).catch(() => undefined);
      else await monitor.execute('block-job-cancel', { device: id, force: true }).catch(() => undefined);
    }
    await delay(pollMs);
  }
}

async function mirrorsOf(monitor: Monitor): Promise<Static<typeof Jobs>> {
  const jobs = await ask(monitor, 'query-jobs', Jobs);
  return jobs.filter(({ id }) => id.startsWith(prefix));
}
