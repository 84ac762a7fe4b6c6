/** Unpacks the files of a snapshot, or of a kept present, into a folder. */
import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { DiskFloor } from '../../lib/disk-floor.ts';
import { sizeOfCopy } from '../../lib/folder-size.ts';
import { moveFolder } from '../../lib/make-folders.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import type { Topology } from '../model/topology.ts';
import { copyTree } from '../projects/copy-tree.ts';
import { projectEntry } from '../zip/archive-entries.ts';
import { extractArchive } from '../zip/extract.ts';
import { readUpgraded } from './import.ts';

export interface UnpackOptions {
  /** An empty folder. */
  readonly folder: string;
  readonly floorBytes: number;
  /** The snapshot is not needed any more: its files are moved where that is possible, and it is not listed then. */
  readonly isLastUse?: boolean;
  /** Content of a snapshot that was taken a moment before: it is not read then. */
  readonly taken?: Topology | undefined;
}

/** Unpacks all of a snapshot, a folder or an archive, but the project file, which is read. @throws disk_floor */
export async function unpackSnapshot(
  source: string,
  { folder, floorBytes, isLastUse = false, taken }: UnpackOptions,
): Promise<Topology> {
  if (!(await lstat(source)).isDirectory()) await extractArchive({ archive: source, folder, floorBytes });
  else if (!isLastUse || !(await moveFolder(source, folder))) {
    await new DiskFloor([folder], floorBytes).check(await sizeOfCopy(source, folder)).catch((error: Error) => {
      throw fault('disk_floor', { reason: error.message });
    });
    await copyTree(source, folder);
  }
  const topology = taken ?? (await readUpgraded(folder));
  await rm(join(folder, projectEntry));
  await removeTree(join(folder, 'snapshots'));
  return topology;
}
