/**
 * Import of an archive as a project, all or nothing: it is built in a staging folder beside its final place, which is renamed when
 * it is complete. A server that dies before that leaves a folder which the next one removes.
 */
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, rmdir, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fault, isFault } from '../../api/faults.ts';
import { syncFolder, writeFileAtomic } from '../../lib/atomic-file.ts';
import { makeFolders, removeFolders } from '../../lib/make-folders.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { isUuid } from '../../schema/common.ts';
import type { Settings } from '../../schema/settings.ts';
import { localComputeId, type RegisteredCompute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { upgradeFiles } from '../live/upgrade-files.ts';
import { canonical } from '../model/canonical.ts';
import { FreshIds, renewTopology } from '../model/fresh-ids.ts';
import { findKind } from '../model/node.ts';
import { readTopology } from '../model/read-topology.ts';
import type { NodeEntry, Topology } from '../model/topology.ts';
import { topologyText } from '../model/topology-text.ts';
import { isProjectFile, renameNodeFolders } from '../projects/copy-files.ts';
import type { KnownProject } from '../projects/project.ts';
import { projectFileName, projectFolder } from '../projects/project-path.ts';
import type { KnownProjects } from '../projects/projects.ts';
import { stagingPrefix } from '../projects/registry.ts';
import { renewSnapshots } from '../projects/renew-snapshots.ts';
import type { StagingFolders } from '../projects/staging-folders.ts';
import { projectEntry, refuseArchive } from '../zip/archive-entries.ts';
import { extractArchive } from '../zip/extract.ts';
import { placeImages, removeImages } from './import-images.ts';
import { type Announce, makeProgress } from './progress.ts';

export interface ImportWanted {
  readonly projectId: string;
  readonly name: string | undefined;
  /** Folder of the project, absolute. */
  readonly path: string | undefined;
}
export interface ImportOptions {
  readonly settings: Settings;
  readonly version: string;
  readonly computes: Computes;
  readonly projects: KnownProjects;
  readonly staging: StagingFolders;
  readonly announce: Announce;
}

/**
 * The project is closed. Its ids are new, unless the archive is that of this very project.
 * @throws project_id_taken, project_path_taken, path_forbidden, archive_invalid, archive_image_differs, project_newer,
 * storage_failed
 */
export async function importProject(body: Readable, wanted: ImportWanted, options: ImportOptions): Promise<KnownProject> {
  const { projects, staging } = options;
  if (!isUuid(wanted.projectId)) refuseArchive(`"${wanted.projectId.slice(0, 100)}" cannot be the id of a project`);
  const projectId = wanted.projectId.toLowerCase();
  const path = await placeOf(wanted, projectId, options.settings);
  return projects.exclusively(projectId, async () => {
    if (projects.find(projectId)) throw fault('project_id_taken', { project_id: projectId });
    await requireFree(path);
    const made = await makeFolders(dirname(path));
    try {
      return await staging.use(join(dirname(path), `${stagingPrefix}import-${projectId}`), async (stagingPath) => {
        const report = makeProgress(options.announce, { project_id: projectId, what: 'import' });
        const archive = join(stagingPath, 'archive');
        const content = join(stagingPath, 'content');
        await receiveArchive(body, archive, (doneBytes) => report(doneBytes, null));
        await mkdir(content);
        const floorBytes = options.settings.Server.min_free_bytes;
        await extractArchive({ archive, folder: content, floorBytes }, report);
        await rm(archive);
        return await adopt({ content, path, projectId, name: wanted.name }, options);
      });
    } catch (error) {
      if (made !== undefined) await removeFolders(dirname(path), made);
      if (isFault(error)) throw error;
      throw fault('storage_failed', { reason: (error as Error).message }, { cause: error });
    }
  });
}

async function placeOf({ path }: ImportWanted, projectId: string, { Server }: Settings): Promise<string> {
  if (path === undefined) return join(Server.projects_path, projectId);
  if (path.includes('.gns3')) refuseArchive('the path names a project file: give the folder of the project');
  return projectFolder(path, Server.projects_path, Server.local);
}

async function requireFree(path: string): Promise<void> {
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? [] : [path]));
  if (names.length > 0) throw fault('project_path_taken', { path });
}

interface Extracted {
  readonly content: string;
  readonly path: string;
  readonly projectId: string;
  readonly name: string | undefined;
}

/** Makes an extracted archive, or a copied folder, a project of this server. */
export async function adopt(extracted: Extracted, options: ImportOptions): Promise<KnownProject> {
  const { content, path, projectId } = extracted;
  const { projects } = options;
  const warn = (message: string) => options.announce('log.warning', { message });
  const topology = await readUpgraded(content, warn).catch((error: unknown) => {
    if (isFault(error, 'project_damaged')) refuseArchive(error.message, error);
    throw error;
  });
  const name = projects.freeName(extracted.name ?? topology.project.name);
  const filename = projectFileName(name);
  return projects.withName(name, async () => {
    const renewed = await renew(topology, { ...extracted, name });
    const closed = { auto_start: false, auto_open: false, auto_close: true, name, project_id: projectId };
    const nodes = spreadNodes(renewed.nodes, options.computes);
    const project = canonical({ ...renewed.project, ...closed });
    // Project files and logs inside the archive would be taken for this project's.
    for (const entry of await readdir(content)) if (isProjectFile(entry)) await removeTree(join(content, entry));
    await writeFileAtomic(join(content, filename), await topologyText({ ...renewed, nodes, project }, options.version));
    const images = await placeImages(content, options.settings.Server.images_path);
    try {
      return await projects.inFolder(path, async () => {
        await moveInto(path, content);
        try {
          await syncFolder(dirname(path));
          return await projects.register(project, { path, filename });
        } catch (error) {
          await removeTree(path);
          throw error;
        }
      });
    } catch (error) {
      await removeImages(images);
      throw error;
    }
  });
}

/** @throws project_path_taken when there is a project by now: it stays */
async function moveInto(path: string, content: string): Promise<void> {
  await requireFree(path);
  await rmdir(path).catch(() => undefined);
  await rename(content, path);
}

/** Reads the project file of an extracted archive. Files beside an old one are moved to where they belong; lost parts are warned of. */
export async function readUpgraded(content: string, warn?: (message: string) => void): Promise<Topology> {
  const file = join(content, projectEntry);
  const { topology, upgradedFrom } = await readTopology(file);
  const lost = upgradedFrom === undefined ? undefined : await upgradeFiles(content, { file, upgradedFrom, topology });
  if (lost !== undefined) warn?.(`${topology.project.name}: ${lost}`);
  return topology;
}

/** New ids, also in the names of folders and in snapshots. */
async function renew(topology: Topology, { content, projectId, name }: Extracted & { name: string }): Promise<Topology> {
  if (topology.project.project_id.toLowerCase() === projectId) return topology;
  const identity = { projectId, name, ids: new FreshIds(), resetMacAddresses: false };
  const renewed = await renewTopology(topology, identity);
  await renameNodeFolders(join(content, 'project-files'), identity.ids);
  await renewSnapshots(join(content, 'snapshots'), identity).catch((error: unknown) => {
    if (isFault(error)) throw error;
    refuseArchive(`a snapshot in it cannot be used: ${(error as Error).message}`, error);
  });
  return renewed;
}

/** Id of the compute that is a virtual machine, for kinds of nodes that need a kernel of their own. */
const vmComputeId = 'vm';

/**
 * Chooses the computes of an imported project's nodes. Nodes of a compute that is registered here stay on it. All others, also
 * those of `local`, take turns on the connected computes that know their kind; with a compute `vm`, some kinds go there and the
 * rest stays local. Source: GNS3's rules for imports.
 */
function spreadNodes(nodes: readonly NodeEntry[], computes: Computes): NodeEntry[] {
  const connected = [...computes.all()].filter((compute) => compute.transport.state.connected);
  const vm = connected.find((compute) => compute.id === vmComputeId);
  let turn = 0;
  return nodes.map((node) => {
    if (node.compute_id !== localComputeId && computes.find(node.compute_id)) return node;
    if (vm) return { ...node, compute_id: findKind(node.node_type)?.needsVmCompute ? vm.id : localComputeId };
    const able = connected.filter((compute) => canRun(compute, node));
    const compute = able[turn % Math.max(able.length, 1)];
    if (able.length > 1) turn += 1;
    return { ...node, compute_id: compute?.id ?? localComputeId };
  });
}

function canRun({ isLocal, transport }: RegisteredCompute, { node_type }: NodeEntry): boolean {
  if (isLocal) return findKind(node_type) !== undefined;
  return transport.state.capabilities.node_types.includes(node_type);
}

/** Disk space that uploads must leave free. */
const reserveBytes = 64 * 1024 * 1024;
/** Interval, in uploaded bytes, at which the free space is checked. */
const lookEveryBytes = 16 * 1024 * 1024;

/**
 * Saves an uploaded archive as a file: archives are read from their end, so it must be complete first.
 * @throws archive_invalid for an upload that breaks off, form_invalid, storage_failed
 */
async function receiveArchive(body: Readable, file: string, onBytes: (doneBytes: number) => void): Promise<void> {
  try {
    await saveUpload(body, file, onBytes);
  } catch (error) {
    if (isFault(error)) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const full = code === 'ENOSPC' || code === 'EDQUOT' || code === 'EIO';
    if (full) throw fault('storage_failed', { reason: message }, { cause: error });
    refuseArchive(`the upload broke off: ${message}`, error);
  }
}

async function saveUpload(source: Readable, file: string, onBytes: (doneBytes: number) => void): Promise<void> {
  async function* counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let doneBytes = 0;
    let lookAt = lookEveryBytes;
    for await (const chunk of chunks) {
      doneBytes += chunk.length;
      if (doneBytes >= lookAt) {
        lookAt += lookEveryBytes;
        const { bavail, bsize } = await statfs(dirname(file));
        if (bavail * bsize < reserveBytes) throw fault('storage_failed', { reason: 'there is no space left for the archive' });
      }
      onBytes(doneBytes);
      yield chunk;
    }
  }
  await pipeline(source, counted, createWriteStream(file));
}
