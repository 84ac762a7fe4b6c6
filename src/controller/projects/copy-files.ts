/** Files of a project that are copied: by the computes what is below `project-files`, here the rest of the folder. */
import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { isFault } from '../../api/faults.ts';
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import type { ComputeFreeze } from '../../schema/compute-node.ts';
import type { Static } from '../../schema/type.ts';
import { localComputeId, type RegisteredCompute } from '../computes/compute.ts';
import type { TemporaryProjects } from '../computes/temporary-projects.ts';
import type { FreshIds } from '../model/fresh-ids.ts';
import type { Topology } from '../model/topology.ts';
import { copyTree } from './copy-tree.ts';
import type { KnownProject } from './project.ts';

/** Report of a compute on how it froze the machines. */
export type FreezeReport = Static<typeof ComputeFreeze>;

interface CopyOnCompute {
  readonly source: KnownProject;
  readonly compute: RegisteredCompute;
  readonly temporary: TemporaryProjects;
  /** Whether the project is open, so that the compute knows it anyway. */
  readonly isOpen: boolean;
  readonly to: {
    readonly projectId: string;
    /** Where the local compute puts it; a remote compute has its own place for the project. */
    readonly folder: string;
    /** Id of each node on the compute to the id of its copy. */
    readonly ids: Readonly<Record<string, string>>;
  };
  /** Folders directly in `project-files` that are not copied. */
  readonly leaveOut?: readonly string[];
  /** Existing folder for the memory of machines. Local compute only. */
  readonly memoryPath?: string | undefined;
}

/**
 * Running machines are paused for the instant. A closed project is made known to the compute for as long as it takes, and so is that on
 * a remote compute which gets the files: it is temporary there (`temporary`), and is deleted when it does not get all.
 */
export async function copyOnCompute({
  source,
  compute,
  temporary,
  isOpen,
  to,
  leaveOut,
  memoryPath,
}: CopyOnCompute): Promise<FreezeReport | undefined> {
  const { transport, isLocal } = compute;
  const path = { project_id: source.id };
  const body = { destination_project_id: to.projectId, nodes: to.ids, ...(leaveOut && { leave_out: [...leaveOut] }) };
  const copy = (destination: object) =>
    transport.send('POST /v2/compute/projects/{project_id}/copy', { path, body: { ...body, ...destination }, timeoutMs: 0 });
  await transport.send('POST /v2/compute/projects', {
    body: { ...path, name: source.name, ...(isLocal && { path: source.path }) },
  });
  try {
    if (memoryPath !== undefined) {
      return await transport.call('POST /v2/compute/projects/{project_id}/freeze', {
        path,
        body: { ...body, destination_path: to.folder, memory_path: memoryPath },
        timeoutMs: 0,
      });
    }
    if (isLocal) await copy({ destination_path: to.folder });
    else await asNewProject(compute, temporary, { project_id: to.projectId, name: source.name }, () => copy({}));
  } finally {
    if (!isOpen) await transport.send('POST /v2/compute/projects/{project_id}/close', { path });
  }
  return undefined;
}

async function asNewProject(
  compute: RegisteredCompute,
  temporary: TemporaryProjects,
  body: { readonly project_id: string; readonly name: string },
  fill: () => Promise<unknown>,
): Promise<void> {
  const { transport } = compute;
  const { project_id } = body;
  await temporary.begin(compute, project_id);
  try {
    await transport.send('POST /v2/compute/projects', { body });
    await fill();
    await transport.send('POST /v2/compute/projects/{project_id}/close', { path: { project_id } });
  } catch (error) {
    // Refused as there are files already: they are not of this copy.
    if (isFault(error, 'compute_forbidden')) await temporary.keep(project_id, compute);
    else await temporary.end(project_id, compute);
    throw error;
  }
}

/**
 * Ids of the nodes on each compute. The local one is always there, and with all nodes: pictures of drawings are in its
 * `project-files`, and so are files that wait to be sent to another compute.
 */
export function nodesByCompute(topology: Topology): Map<string, string[]> {
  const computes = new Map<string, string[]>([[localComputeId, []]]);
  for (const node of topology.nodes) {
    const nodes = computes.get(node.compute_id) ?? [];
    nodes.push(node.node_id);
    computes.set(node.compute_id, nodes);
  }
  computes.set(
    localComputeId,
    topology.nodes.map((node) => node.node_id),
  );
  return computes;
}

/** Copies what of a project's folder the computes do not copy. */
export async function copyOwnFiles(from: string, to: string, leaveOut: readonly string[] = []): Promise<void> {
  for (const name of await readdir(from)) {
    if (isOwnFile(name) && !leaveOut.includes(name)) await copyTree(join(from, name), join(to, name));
  }
}

/** Project files and their logs are written anew; the computes copy `project-files`; `tmp` and staging folders are left out. */
function isOwnFile(name: string): boolean {
  return !isProjectFile(name) && name !== 'project-files' && name !== 'tmp' && !name.startsWith('.');
}

/** A project file, its log, or something that comes and goes beside them. */
export function isProjectFile(name: string): boolean {
  return /\.gns3(?:\.(?:(?:log|history)(?:\.tmp)?|(?:(?:log|history)\.)?damaged(?:-\w+)?|history\.damaged|tmp|backup\d*))?$/.test(
    name,
  );
}

/** Gives the folders of nodes their new ids, whatever kind they are of. */
export async function renameNodeFolders(projectFiles: string, ids: FreshIds): Promise<void> {
  for (const kind of await readdir(projectFiles, { withFileTypes: true }).catch(() => [])) {
    if (!kind.isDirectory()) continue;
    const parent = join(projectFiles, kind.name);
    const [error] = await forEachBounded(await readdir(parent), concurrency, async (name) => {
      const id = ids.find(name);
      if (id !== undefined) await rename(join(parent, name), join(parent, id));
    });
    if (error !== undefined) throw error;
  }
}
