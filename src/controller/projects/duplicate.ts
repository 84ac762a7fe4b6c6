/**
 * Duplication of a project, all or nothing.
 *
 * The copy grows in a folder beside its place: each compute copies what its nodes keep on disk (it holds running machines for that
 * instant), everything else is copied here, and nothing of the project changes meanwhile. Ids are new throughout, also in the
 * snapshots. When all is there the folder gets its name; a server that dies before that leaves a folder which the next one removes.
 */
import { randomUUID } from 'node:crypto';
import { access, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import { syncFolder, writeFileAtomic } from '../../lib/atomic-file.ts';
import { isReallyBelow } from '../../lib/inside.ts';
import type { ProjectDuplicate } from '../../schema/project.ts';
import type { Settings } from '../../schema/settings.ts';
import type { Computes } from '../computes/computes.ts';
import { canonical } from '../model/canonical.ts';
import { FreshIds, type NewIdentity, renewTopology } from '../model/fresh-ids.ts';
import type { ProjectEntry, Topology } from '../model/topology.ts';
import { topologyText } from '../model/topology-text.ts';
import { copyOnCompute, copyOwnFiles, nodesByCompute } from './copy-files.ts';
import type { KnownProject } from './project.ts';
import type { FrozenProject } from './project-environment.ts';
import { projectFileName, projectFolder } from './project-path.ts';
import { stagingPrefix } from './registry.ts';
import { renewSnapshots } from './renew-snapshots.ts';
import type { StagingFolders } from './staging-folders.ts';

interface DuplicateOptions {
  readonly settings: Settings;
  readonly version: string;
  readonly computes: Computes;
  readonly staging: StagingFolders;
  readonly isKnown: (projectId: string) => boolean;
  /** A name that no project has, made from this one. */
  readonly freeName: (base: string) => string;
}

/** A complete project on disk that is not registered yet. */
export interface Duplicated {
  readonly path: string;
  readonly filename: string;
  readonly project: ProjectEntry;
}

interface Copying {
  readonly source: KnownProject;
  readonly wanted: ProjectDuplicate;
  readonly identity: NewIdentity;
  readonly filename: string;
  /** The folder that grows, and the one that it becomes. */
  readonly stagingPath: string;
  readonly path: string;
}

/** @throws not_local, project_name_invalid, project_id_taken, path_forbidden, project_path_taken, project_copy_failed */
export async function duplicateProject(
  source: KnownProject,
  wanted: ProjectDuplicate,
  options: DuplicateOptions,
): Promise<Duplicated> {
  const { settings, isKnown, freeName } = options;
  if (!settings.Server.local && !settings.Server.remote_duplicate)
    throw fault('not_local', { what: 'or remote_duplicate = True to allow duplication' });
  const projectId = wanted.project_id?.toLowerCase() ?? randomUUID();
  if (isKnown(projectId)) throw fault('project_id_taken', { project_id: projectId });
  const name = wanted.name ?? freeName(source.name);
  const filename = projectFileName(name);
  const path = await placeOf(source, wanted, projectId, settings);
  const identity = { projectId, name, ids: new FreshIds(), resetMacAddresses: wanted.reset_mac_addresses ?? false };
  try {
    return await options.staging.use(join(dirname(path), `${stagingPrefix}${projectId}`), async (stagingPath) => {
      const copying: Copying = { source, wanted, identity, filename, stagingPath, path };
      const project = await source.freeze((frozen) => fill(copying, frozen, options));
      await rename(stagingPath, path);
      await syncFolder(dirname(path));
      return { path, filename, project };
    });
  } catch (error) {
    for (const compute of options.computes.all()) await options.computes.temporary.end(projectId, compute);
    if (isFault(error)) throw error;
    throw fault('project_copy_failed', { name: source.name, reason: (error as Error).message }, { cause: error });
  }
}

async function placeOf(source: KnownProject, wanted: ProjectDuplicate, projectId: string, { Server }: Settings): Promise<string> {
  const path = wanted.path
    ? await projectFolder(wanted.path, Server.projects_path, Server.local)
    : join(Server.projects_path, projectId);
  if (wanted.path && (await isReallyBelow(source.path, path)))
    throw fault('path_forbidden', { path, reason: 'it is inside the project that is copied' });
  const exists = await access(path).then(
    () => true,
    () => false,
  );
  if (exists) throw fault('project_path_taken', { path });
  return path;
}

async function fill(wanted: Copying, { topology, live }: FrozenProject, options: DuplicateOptions): Promise<ProjectEntry> {
  const { source, identity, stagingPath, filename } = wanted;
  // The project file's ids come first: computes and snapshots use the same ones.
  const copy = await renewed(topology, wanted);
  const byCompute = [...nodesByCompute(topology)].map(([id, nodes]) => ({ compute: options.computes.get(id), nodes }));
  const copying = byCompute.map(({ compute, nodes }) => {
    const ids = Object.fromEntries(nodes.map((node) => [node, identity.ids.get(node)]));
    const to = { projectId: identity.projectId, folder: stagingPath, ids };
    return copyOnCompute({ source, compute, temporary: options.computes.temporary, isOpen: live !== undefined, to });
  });
  await Promise.allSettled(copying);
  await Promise.all(copying);
  await copyOwnFiles(source.path, stagingPath);
  await renewSnapshots(join(stagingPath, 'snapshots'), identity);
  await writeFileAtomic(join(stagingPath, filename), await topologyText(copy, options.version));
  return copy.project;
}

/** Returns the content of the copy: the source's content under new ids, with the requested settings. */
async function renewed(topology: Topology, { wanted, identity }: Copying): Promise<Topology> {
  const { name: _name, path: _path, project_id: _id, reset_mac_addresses: _reset, ...settings } = wanted;
  const closed = { auto_start: false, auto_open: false, auto_close: false };
  const project = {
    ...topology.project,
    ...closed,
    ...settings,
    name: identity.name,
    project_id: identity.projectId,
  } as ProjectEntry;
  return { ...(await renewTopology(topology, identity)), project: canonical(project) };
}
