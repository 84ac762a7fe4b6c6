/** Saved memory on its way to the folders of nodes: the local compute checks and copies it. */
import type { Computes } from '../computes/computes.ts';
import type { KnownProject } from '../projects/project.ts';

export interface StagedMemory {
  readonly path: string;
  /** Folders of projects, and id of each node to that of its copy. */
  readonly destinations: readonly { readonly path: string; readonly nodes: Readonly<Record<string, string>> }[];
  /** The saved memory is on the disk of the destinations and is not needed any more: it is moved. */
  readonly isLastUse?: boolean;
}

/**
 * The project is open. Its compute may not know it: it has had no node since.
 * @throws project_closed, memory_refused, disk_floor; the destinations may hold a part of it then
 */
export async function stageMemory(source: KnownProject, { local }: Computes, staged: StagedMemory): Promise<void> {
  const { path, destinations, isLastUse = false } = staged;
  await (await source.live()).announceTo(local);
  await local.transport.send('POST /v2/compute/projects/{project_id}/memory', {
    path: { project_id: source.id },
    body: { source_path: path, destinations: [...destinations], ...(isLastUse && { last_use: true }) },
    timeoutMs: 0,
  });
}
