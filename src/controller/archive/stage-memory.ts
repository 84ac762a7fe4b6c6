/** Saved memory on its way to the folders of nodes: the local compute checks and copies it. */
import type { Computes } from '../computes/computes.ts';
import type { KnownProject } from '../projects/project.ts';

export interface StagedMemory {
  readonly path: string;
  /** Folders of projects, and id of each node to that of its copy. */
  readonly destinations: readonly { readonly path: string; readonly nodes: Readonly<Record<string, string>> }[];
}

/** @throws memory_refused, disk_floor; the destinations may hold a part of it then */
export async function stageMemory(source: KnownProject, { local }: Computes, { path, destinations }: StagedMemory): Promise<void> {
  await local.transport.send('POST /v2/compute/projects/{project_id}/memory', {
    path: { project_id: source.id },
    body: { source_path: path, destinations: [...destinations] },
    timeoutMs: 0,
  });
}
