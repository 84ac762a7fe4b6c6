/** Everything that a project is, in one folder: what snapshots keep and archives hold. */
import { localComputeId } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { copyOnCompute, copyOwnFiles, type FreezeReport, nodesByCompute } from '../projects/copy-files.ts';
import type { KnownProject } from '../projects/project.ts';
import type { FrozenProject } from '../projects/project-environment.ts';
import { copyRemote, type RemoteCopy } from './remote-files.ts';

/** Captures are no part of a project: they are not kept in snapshots, nor exported. */
export const captureFolder = 'captures';
const leaveOut = [captureFolder, 'snapshots'];

export interface Collecting {
  readonly source: KnownProject;
  readonly frozen: FrozenProject;
  readonly computes: Computes;
  readonly withSnapshots: boolean;
  /** Existing folder for the memory of machines. */
  readonly memoryPath?: string | undefined;
}

/**
 * Fills `folder` with the project's files, all but the project file; nodes keep their ids. All computes copy at the same time. What is
 * on a compute that is not registered here stays there. Answers how machines were frozen, with `memoryPath`.
 */
export async function collectFiles(
  { source, frozen, computes, withSnapshots, memoryPath }: Collecting,
  folder: string,
): Promise<FreezeReport | undefined> {
  const { topology, live } = frozen;
  const { temporary } = computes;
  const isOpen = live !== undefined;
  const remote: Promise<RemoteCopy>[] = [];
  const byCompute = nodesByCompute(topology);
  for (const [id, nodes] of byCompute) {
    const compute = computes.find(id);
    if (compute && !compute.isLocal) remote.push(copyRemote({ source, live, compute, temporary, nodes }, leaveOut));
  }
  const ids = Object.fromEntries((byCompute.get(localComputeId) ?? []).map((node) => [node, node]));
  const to = { projectId: source.id, folder, ids };
  const local = copyOnCompute({ source, compute: computes.local, temporary, isOpen, to, leaveOut, memoryPath });
  // No copy is still running when this ends, also after a failure.
  const [, ...copies] = await Promise.allSettled([local, ...remote]);
  try {
    await Promise.all([local, ...remote]);
    for (const copy of copies) if (copy.status === 'fulfilled') await copy.value.fetch(folder);
  } finally {
    for (const copy of copies) if (copy.status === 'fulfilled') await copy.value.discard();
  }
  await copyOwnFiles(source.path, folder, withSnapshots ? [] : ['snapshots']);
  return local;
}
