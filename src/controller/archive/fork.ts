/**
 * New projects from one snapshot. With its memory their nodes continue where they were; each has disks of its own, and those of
 * one request share the file of the memory (`compute/projects/stage-memory.ts`), so that nothing depends on the parent. All of them
 * grow in one folder and are registered when all are in their places: a crash in between leaves those that are in theirs, each
 * complete.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import { syncFolder, writeFileAtomic } from '../../lib/atomic-file.ts';
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import { moveFolder } from '../../lib/make-folders.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import type { ForkedFrom } from '../../schema/project.ts';
import type { Settings } from '../../schema/settings.ts';
import type { Snapshot, SnapshotFork } from '../../schema/snapshot.ts';
import type { Computes } from '../computes/computes.ts';
import { beginLog } from '../log/begin-log.ts';
import { canonical } from '../model/canonical.ts';
import { FreshIds, type NewIdentity, renewTopology } from '../model/fresh-ids.ts';
import { findKind } from '../model/node.ts';
import type { ProjectEntry, Topology } from '../model/topology.ts';
import { topologyText } from '../model/topology-text.ts';
import { runningOf } from '../model/wanted.ts';
import { renameNodeFolders } from '../projects/copy-files.ts';
import type { KnownProject } from '../projects/project.ts';
import { projectFileName } from '../projects/project-path.ts';
import type { KnownProjects } from '../projects/projects.ts';
import { stagingPrefix } from '../projects/registry.ts';
import type { StagingFolders } from '../projects/staging-folders.ts';
import { continueSchedules } from './continue-schedules.ts';
import { snapshotsFolder } from './snapshot-index.ts';
import type { MemoryRecord } from './snapshot-memory.ts';
import { stageMemory } from './stage-memory.ts';
import { unpackSnapshot } from './unpack-snapshot.ts';

export interface ForkOptions {
  readonly settings: Settings;
  readonly version: string;
  readonly computes: Computes;
  readonly projects: KnownProjects;
  readonly staging: StagingFolders;
}

export interface ForkSource {
  readonly project: KnownProject;
  readonly snapshot: Snapshot;
  readonly memory: (MemoryRecord & { readonly path: string }) | undefined;
  /** Content of a snapshot that is discarded afterwards: a single fork gets its files and its memory themselves, in place of copies. */
  readonly taken: Topology | undefined;
}

interface Fork {
  readonly identity: NewIdentity;
  readonly entry: ProjectEntry;
  readonly folder: string;
  readonly topology: Topology;
}

/** Opened; their nodes run where the snapshot has memory. @throws not_local, project_name_taken, memory_refused, disk_floor, snapshot_failed */
export async function forkSnapshot(source: ForkSource, wanted: SnapshotFork, options: ForkOptions): Promise<KnownProject[]> {
  const { Server } = options.settings;
  if (!Server.local && !Server.remote_duplicate)
    throw fault('not_local', { what: 'or remote_duplicate = True to allow forks of projects' });
  const { count = 1, name } = wanted;
  if (name !== undefined) projectFileName(name);
  const make = (names: readonly string[]) => makeForks(source, { names, uplinks: wanted.uplinks ?? false }, options);
  const { projects } = options;
  const forks = await (name !== undefined && count === 1
    ? projects.withName(name, () => make([name]))
    : projects.withFreeNames(name ?? `${source.project.name} fork`, count, make));
  await forEachBounded(forks, concurrency, ({ project, topology }) => project.open({ isAwaited: true, created: { topology } }));
  return forks.map(({ project }) => project);
}

async function makeForks(
  source: ForkSource,
  { names, uplinks }: { names: readonly string[]; uplinks: boolean },
  options: ForkOptions,
): Promise<{ project: KnownProject; topology: Topology }[]> {
  const { settings, staging, projects } = options;
  const { projects_path } = settings.Server;
  const { project, snapshot } = source;
  const forked_from: ForkedFrom = { project_id: project.id, name: project.name, snapshot_id: snapshot.snapshot_id };
  try {
    return await staging.use(join(projects_path, `${stagingPrefix}fork-${randomUUID()}`), async (stagingPath) => {
      const isLastUse = source.taken !== undefined && names.length === 1;
      // The memory goes first: a server that dies in between leaves a snapshot without memory, not memory without a snapshot.
      const memory = source.memory && { ...source.memory, path: await placeOfMemory(source.memory, { isLastUse, stagingPath }) };
      const forks = await each(names, (name) => fill({ ...source, memory }, { name, uplinks, stagingPath, isLastUse }, options));
      await fillMemory({ ...source, memory }, forks, { ...options, isLastUse: memory?.path !== source.memory?.path });
      const places = forks.map(({ entry, ...fork }) => {
        const place = { path: join(projects_path, entry.project_id), filename: projectFileName(entry.name), forked_from };
        return { ...fork, entry, place };
      });
      try {
        await each(places, ({ folder, place }) => rename(folder, place.path));
        await syncFolder(projects_path);
        return await each(places, async ({ entry, place, topology }) => ({
          project: await projects.register(entry, place),
          topology,
        }));
      } catch (error) {
        // The next start would find them, and list forks of a request that failed.
        const unknown = places.filter(({ entry }) => !projects.find(entry.project_id));
        await each(unknown, ({ place }) => removeTree(place.path)).catch(() => undefined);
        throw error;
      }
    });
  } catch (error) {
    if (isFault(error)) throw error;
    throw fault('snapshot_failed', { name: snapshot.name, what: 'forked', reason: (error as Error).message }, { cause: error });
  }
}

/** Side by side, in the order of the items; when one fails the others are waited for. */
async function each<T, R>(items: readonly T[], fn: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const [error] = await forEachBounded(items.entries(), concurrency, async ([index, item]) => {
    results[index] = await fn(item);
  });
  if (error !== undefined) throw error;
  return results;
}

async function fill(
  { project, snapshot, memory, taken }: ForkSource,
  { name, uplinks, stagingPath, isLastUse }: { name: string; uplinks: boolean; stagingPath: string; isLastUse: boolean },
  { version, settings }: ForkOptions,
): Promise<Fork> {
  const identity: NewIdentity = { projectId: randomUUID(), name, ids: new FreshIds(), resetMacAddresses: false };
  const folder = join(stagingPath, identity.projectId);
  await mkdir(folder);
  const topology = await unpackSnapshot(join(snapshotsFolder(project.path), snapshot.filename), {
    folder,
    floorBytes: settings.Server.min_free_bytes,
    isLastUse,
    taken,
  });
  const renewed = await renewTopology(topology, identity);
  await renameNodeFolders(join(folder, 'project-files'), identity.ids);
  const closed = { auto_start: false, auto_open: false, auto_close: false, checkpoint_minutes: 0 };
  const entry = canonical<ProjectEntry>({ ...topology.project, ...closed, name, project_id: identity.projectId });
  const links = continueSchedules(uplinks ? renewed.links : withoutUplinks(renewed), memory?.frozen_at);
  const content = { ...renewed, project: entry, links };
  await writeFileAtomic(join(folder, projectFileName(name)), await topologyText(content, version));
  return { identity, entry, folder, topology: content };
}

async function placeOfMemory(
  { path }: { readonly path: string },
  { isLastUse, stagingPath }: { readonly isLastUse: boolean; readonly stagingPath: string },
): Promise<string> {
  const place = join(stagingPath, 'memory');
  return isLastUse && (await moveFolder(path, place)) ? place : path;
}

async function fillMemory(
  { project, memory }: ForkSource,
  forks: readonly Fork[],
  { computes, isLastUse }: ForkOptions & { readonly isLastUse: boolean },
): Promise<void> {
  if (!memory) return;
  const destinations = forks.map(({ folder, identity }) => ({ path: folder, nodes: Object.fromEntries(identity.ids.entries()) }));
  await stageMemory(project, computes, { path: memory.path, destinations, isLastUse });
  await each(forks, ({ folder, identity, entry }) => {
    const started = memory.started.flatMap((id) => identity.ids.find(id) ?? []);
    const wanted = runningOf(started);
    return beginLog(join(folder, projectFileName(entry.name)), { seq: Date.now(), history: [], wanted });
  });
}

/** Suspends links to the outside: there, the fork's machines would answer under the same addresses as the originals. */
function withoutUplinks({ nodes, links }: Topology): Topology['links'] {
  const uplinks = new Set(nodes.filter(({ node_type }) => findKind(node_type)?.isUplink).map(({ node_id }) => node_id));
  return links.map((link) => (link.nodes.some(({ node_id }) => uplinks.has(node_id)) ? { ...link, suspend: true } : link));
}
