/** Keeps a minimum of free disk space on the disks of some folders. */
import { statfs } from 'node:fs/promises';

/** Error for too little free space, with the code of a full disk. */
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

  /** `floorBytes` 0 turns the check off. */
  constructor(folders: readonly string[], floorBytes: number) {
    this.#folders = folders;
    this.#floorBytes = floorBytes;
  }

  /** Checks the free space. `wantedBytes`: size of the data to be written, where known. @throws DiskFloorError */
  async check(wantedBytes = 0): Promise<void> {
    if (this.#floorBytes === 0) return;
    for (const folder of this.#folders) {
      // A writer creates a missing folder again.
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
