/** Space that stays free on the disks of some folders, whatever clients send. */
import { statfs } from 'node:fs/promises';

/** As when the disk is full. */
export class DiskFloorError extends Error {
  override readonly name = 'DiskFloorError';
  readonly code = 'ENOSPC';
  readonly folder: string;
  readonly freeBytes: number;
  readonly floorBytes: number;

  constructor(folder: string, freeBytes: number, floorBytes: number) {
    super(`${toMiB(freeBytes)} MiB are free in ${folder}, and min_free_bytes keeps ${toMiB(floorBytes)} MiB free`);
    this.folder = folder;
    this.freeBytes = freeBytes;
    this.floorBytes = floorBytes;
  }
}

export class DiskFloor {
  readonly #folders: readonly string[];
  readonly #floorBytes: number;

  /** `floorBytes` 0: nothing is looked at. */
  constructor(folders: readonly string[], floorBytes: number) {
    this.#folders = folders;
    this.#floorBytes = floorBytes;
  }

  /** `wantedBytes`: how much is to be written, where it is known. @throws DiskFloorError */
  async check(wantedBytes = 0): Promise<void> {
    if (this.#floorBytes === 0) return;
    for (const folder of this.#folders) {
      // A folder that was removed is made again by what writes to it.
      const found = await statfs(folder).catch(() => undefined);
      if (!found) continue;
      const freeBytes = found.bavail * found.bsize;
      if (freeBytes - wantedBytes < this.#floorBytes) throw new DiskFloorError(folder, freeBytes, this.#floorBytes);
    }
  }
}

function toMiB(bytes: number): number {
  return Math.floor(bytes / 2 ** 20);
}
