/**
 * The disks of a running machine as they were at one instant, in files beside them that nothing else writes to.
 *
 * Theory of operation. The first time QEMU copies what each overlay holds while the guest runs (copy before write), and marks from the same
 * instant on what the guest writes, in a bitmap in its memory. Later only what is marked is written into these files. A bitmap gets its
 * lasting name when the copy that it belongs to is complete: with that name on every disk the files can be brought up to date, and without
 * it (another process of QEMU, a copy that broke off) they are made anew.
 * @see QEMU docs/interop/bitmaps.rst
 */
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fault } from '../../../api/faults.ts';
import type { Backing } from '../../../lib/disk-image/image.ts';
import { readDiskImage } from '../../../lib/disk-image/read.ts';
import { diskCopyPrefix } from '../../../schema/folders.ts';
import type { Static } from '../../../schema/type.ts';
import type { NodeView } from '../../driver.ts';
import { removeDiskCopies } from '../../host/disk-copies.ts';
import { ask, BlockDevices, BlockNodes, Jobs } from '../answers.ts';
import type { Monitor } from '../monitor.ts';
import { slots } from '../properties.ts';

/** The part of QEMU's monitor that disk copies use. */
export type CopyMonitor = Pick<Monitor, 'execute'>;

interface Bitmap {
  readonly name?: string;
  readonly count: number;
}

interface CopiedDisk {
  readonly device: string;
  readonly index: number;
  /** Name of the disk's file in the node's folder. */
  readonly name: string;
  readonly bytes: number;
  readonly backing: Backing | undefined;
  readonly bitmaps: readonly Bitmap[];
}

const pollMs = 10;
/** A job that is cancelled ends once its requests to the disk have. */
const endLimitMs = 60_000;
const jobPrefix = 'copy-';
const bitmapPrefix = 'patchbay-';
const unfinishedPrefix = `${bitmapPrefix}new-`;

/** Disk copies of one machine. QEMU sends its memory only while it copies no disk. */
export class DiskCopies {
  #isCopying = false;
  /** Number of running operations during which no copy may be made. */
  #holds = 0;

  /** Copies the disks; callers make one call at a time. @throws qemu_failed */
  async make(monitor: CopyMonitor, node: Pick<NodeView, 'directory'>): Promise<Map<string, string>> {
    if (this.#holds > 0) throw fault('qemu_failed', { reason: 'QEMU is busy' });
    this.#isCopying = true;
    try {
      return await copyDisks(monitor, node);
    } finally {
      this.#isCopying = false;
    }
  }

  /** A copy that is being made is ended: it is made again later. @throws what `fn` throws */
  async without<T>(monitor: CopyMonitor, fn: () => Promise<T>): Promise<T> {
    this.#holds += 1;
    try {
      // Copies are ended at least once, as a server that has died may have left one. QEMU before 3.0 has no such jobs.
      for (;;) {
        await endDiskCopies(monitor).catch(() => undefined);
        if (!this.#isCopying) break;
        await delay(pollMs);
      }
      return await fn();
    } finally {
      this.#holds -= 1;
    }
  }
}

/**
 * Overlays only: other disks are images, which are not the node's. One call at a time.
 * @returns names in the node's folder: of the disk's file, and of its copy. @throws qemu_failed; what was copied before stays usable
 */
async function copyDisks(monitor: CopyMonitor, { directory }: Pick<NodeView, 'directory'>): Promise<Map<string, string>> {
  await endDiskCopies(monitor);
  const disks = await findDisks(monitor, directory);
  const known = await findComplete(disks, directory);
  const id = known ?? randomBytes(4).toString('hex');
  const fileOf = ({ name }: CopiedDisk) => `${diskCopyPrefix}${id}-${name}`;
  if (known === undefined) {
    await removeDiskCopies(directory);
    await copyAll({ monitor, disks, fileOf }, id);
  } else await copyWritten({ monitor, disks, fileOf }, id);
  return new Map(disks.map((disk) => [disk.name, fileOf(disk)]));
}

async function findDisks(monitor: CopyMonitor, directory: string): Promise<CopiedDisk[]> {
  const devices = await ask(monitor, 'query-block', BlockDevices);
  const disks: CopiedDisk[] = [];
  for (const [index, slot] of slots.entries()) {
    const device = `drive${index}`;
    const inserted = devices.find((one) => one.device === device)?.inserted;
    const name = `${slot}_disk.qcow2`;
    const image = await readDiskImage(join(directory, name)).catch(() => undefined);
    if (inserted?.drv !== 'qcow2' || image?.format !== 'qcow2') continue;
    const bitmaps = inserted['dirty-bitmaps'] ?? [];
    disks.push({ device, index, name, bytes: inserted.image['virtual-size'], backing: image.backing, bitmaps });
  }
  return disks;
}

/** The id of a copy that is complete on every disk. */
async function findComplete(disks: readonly CopiedDisk[], directory: string): Promise<string | undefined> {
  const names = new Set(await readdir(directory));
  const ids = (disks[0]?.bitmaps ?? []).flatMap(({ name = '' }) =>
    name.startsWith(bitmapPrefix) && !name.startsWith(unfinishedPrefix) ? name.slice(bitmapPrefix.length) : [],
  );
  return ids.find((id) =>
    disks.every(
      ({ bitmaps, name }) =>
        bitmaps.some((bitmap) => bitmap.name === bitmapPrefix + id) && names.has(`${diskCopyPrefix}${id}-${name}`),
    ),
  );
}

interface DiskCopying {
  readonly monitor: CopyMonitor;
  readonly disks: readonly CopiedDisk[];
  readonly fileOf: (disk: CopiedDisk) => string;
}

async function copyAll({ monitor, disks, fileOf }: DiskCopying, id: string): Promise<void> {
  for (const { device, bitmaps } of disks)
    for (const { name = '' } of bitmaps)
      if (name.startsWith(bitmapPrefix)) await monitor.execute('block-dirty-bitmap-remove', { node: device, name });
  for (const disk of disks) await makeTarget(monitor, disk, fileOf(disk));
  const unfinished = unfinishedPrefix + id;
  await backUp({ monitor, disks, fileOf }, (disk) => [
    action('block-dirty-bitmap-add', { node: disk.device, name: unfinished }),
    action('blockdev-backup', { ...jobOf(disk), sync: 'top' }),
  ]);
  const name = bitmapPrefix + id;
  await transact(
    monitor,
    disks.flatMap(({ device: node }) => [
      action('block-dirty-bitmap-add', { node, name }),
      action('block-dirty-bitmap-merge', { node, target: name, bitmaps: [unfinished] }),
      action('block-dirty-bitmap-remove', { node, name: unfinished }),
    ]),
  );
}

/** Copies the blocks that the guest wrote since the last copy. Where this fails, they stay marked. */
async function copyWritten({ monitor, disks, fileOf }: DiskCopying, id: string): Promise<void> {
  const bitmap = bitmapPrefix + id;
  const isSame = disks.every(({ bitmaps }) => bitmaps.find(({ name }) => name === bitmap)?.count === 0);
  if (isSame) return;
  await backUp({ monitor, disks, fileOf }, (disk) => [action('blockdev-backup', { ...jobOf(disk), sync: 'incremental', bitmap })]);
}

/** All disks at the same instant. */
async function backUp({ monitor, disks, fileOf }: DiskCopying, actionsOf: (disk: CopiedDisk) => object[]): Promise<void> {
  for (const disk of disks) {
    // The backing file named in the header is not opened: only written blocks count.
    const file = { driver: 'file', filename: fileOf(disk) };
    await monitor.execute('blockdev-add', { driver: 'qcow2', 'node-name': targetOf(disk), file, backing: null });
  }
  try {
    await transact(monitor, disks.flatMap(actionsOf));
    await ended(
      monitor,
      disks.map(({ index }) => `${jobPrefix}${index}`),
    );
  } finally {
    await endDiskCopies(monitor);
  }
}

const targetOf = ({ index }: Pick<CopiedDisk, 'index'>) => `${jobPrefix}${index}`;

const jobOf = (disk: CopiedDisk) => ({
  'job-id': `${jobPrefix}${disk.index}`,
  device: disk.device,
  target: targetOf(disk),
  // An error at the end would be lost with the job.
  'auto-dismiss': false,
});

const action = (type: string, data: object) => ({ type, data });

/** An empty overlay, made by QEMU itself in its working folder, which is the node's and its user's. */
async function makeTarget(monitor: CopyMonitor, { index, bytes, backing }: CopiedDisk, filename: string): Promise<void> {
  const node = `${jobPrefix}file${index}`;
  await create(monitor, { driver: 'file', filename, size: 0 });
  await monitor.execute('blockdev-add', { driver: 'file', 'node-name': node, filename });
  try {
    const below = backing && { 'backing-file': backing.file, ...(backing.format && { 'backing-fmt': backing.format }) };
    await create(monitor, { driver: 'qcow2', file: node, size: bytes, ...below });
  } finally {
    await monitor.execute('blockdev-del', { 'node-name': node });
  }
}

async function create(monitor: CopyMonitor, options: object): Promise<void> {
  const id = `${jobPrefix}create`;
  await monitor.execute('blockdev-create', { 'job-id': id, options });
  await ended(monitor, [id]);
}

function transact(monitor: CopyMonitor, actions: readonly object[]): Promise<unknown> {
  return monitor.execute('transaction', { actions });
}

/** @throws qemu_failed when one has failed */
async function ended(monitor: CopyMonitor, ids: readonly string[]): Promise<void> {
  for (;;) {
    const jobs = (await jobsOf(monitor)).filter(({ id }) => ids.includes(id));
    const isOver = jobs.every(({ status }) => status === 'concluded');
    if (!isOver) {
      await delay(pollMs);
      continue;
    }
    for (const { id } of jobs) await monitor.execute('job-dismiss', { id });
    const failed = jobs.find(({ error }) => error !== undefined);
    if (failed || jobs.length < ids.length)
      throw fault('qemu_failed', { reason: `a disk was not copied: ${failed?.error ?? 'its copy was ended'}` });
    return;
  }
}

/**
 * Ends every disk job: copies of this call, copies of a dead server, and any job that blocks a copy. QEMU does nothing else with a disk
 * meanwhile. @throws qemu_failed
 */
export async function endDiskCopies(monitor: CopyMonitor): Promise<void> {
  const limit = performance.now() + endLimitMs;
  for (;;) {
    const jobs = await jobsOf(monitor);
    if (jobs.length === 0) break;
    for (const { id, status } of jobs) {
      if (performance.now() > limit) throw fault('qemu_failed', { reason: 'its disk jobs do not end' });
      if (status === 'concluded') await monitor.execute('job-dismiss', { id }).catch(() => undefined);
      else await monitor.execute('job-cancel', { id }).catch(() => undefined);
    }
    await delay(pollMs);
  }
  const nodes = await ask(monitor, 'query-named-block-nodes', BlockNodes, { flat: true });
  const left = nodes.flatMap(({ 'node-name': name = '' }) => (name.startsWith(jobPrefix) ? name : []));
  // A file is below its disk: that one goes first.
  // Where two calls meet, the other one has removed it; one that stays keeps the next copy from being made.
  for (const name of left.toSorted()) await monitor.execute('blockdev-del', { 'node-name': name }).catch(() => undefined);
}

async function jobsOf(monitor: CopyMonitor): Promise<Static<typeof Jobs>> {
  return (await ask(monitor, 'query-jobs', Jobs)).filter(({ id }) => id.startsWith(jobPrefix));
}
