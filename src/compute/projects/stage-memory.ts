/** Saved memory on its way to nodes: checked where it is kept, then copied to their folders, which continue from it at their next start. */
import { access, chmod, copyFile, link, lstat, mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import type { Driver } from '../../emulators/driver.ts';
import { forEachBounded } from '../../lib/bounded.ts';
import { DiskFloor } from '../../lib/disk-floor.ts';
import { sizeOnDisk } from '../../lib/folder-size.ts';
import { makeFolders, moveFolder } from '../../lib/make-folders.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { mapInTurns } from '../../lib/turns.ts';
import { resumedLinksName, savedLinksName, savedMemoryName, savedStatesName } from '../../schema/folders.ts';
import type { NodeType } from '../../schema/node.ts';
import type { Context } from '../context.ts';
import { readStates, type SavedState, type StateMap, writeStates } from '../host/saved-states.ts';
import { copySavedLinks } from '../links/held-links.ts';
import { copyFolder } from './copy.ts';
import { placeFor } from './project-folder.ts';
import type { ComputeProjects } from './projects.ts';

interface MemoryStaging {
  /** Filled by a freeze. */
  readonly source_path: string;
  /** Folders that get a copy, and id of each node to that of its copy. */
  readonly destinations: readonly { readonly path: string; readonly nodes: Readonly<Record<string, string>> }[];
  /** The source is on the disk of the destinations and is not needed any more: what it holds is moved. */
  readonly last_use?: boolean;
}

interface FoundMemory {
  readonly driver: Driver;
  readonly nodeId: string;
  readonly folder: string;
}

/** Memory of so many machines is checked or copied at a time: that of one in the fabric is a small file, others take a program each. */
const atOnce = { inFabric: 16, other: 2 };

/** Smallest file, in bytes, that is shared; a smaller file is copied for each destination. */
const linkedBytes = 1 << 20;

/**
 * The destinations share one copy of large files, which machines map privately: pages that no machine changes are in memory once. What is
 * kept at the source is not shared, as a machine can write to the file that its memory came from. @throws memory_refused
 */
export async function stageMemory(
  { context, projects }: { readonly context: Context; readonly projects: ComputeProjects },
  projectId: string,
  { source_path, destinations, last_use = false }: MemoryStaging,
): Promise<void> {
  const project = projects.get(projectId);
  const source = await existing(context, project.id, source_path);
  const places = await Promise.all(
    destinations.map(async ({ path, nodes }) => ({ path: await existing(context, project.id, path), nodes })),
  );
  const found = await findMemory(context, source);
  const nameOf = (nodeId: string) => project.nodes.get(nodeId)?.name ?? nodeId;
  await eachMemory(found, async ({ driver, nodeId, folder }) => driver.memory?.check(folder, nameOf(nodeId)));
  const states = await readStates(join(source, savedStatesName)).catch((error: Error) => {
    throw fault('memory_refused', { name: project.name, reason: error.message });
  });
  await checkStates(context, states, nameOf);
  const bytes = destinations.length === 0 || last_use ? 0 : await sizeOnDisk(source);
  await new DiskFloor(places.map(({ path }) => path).slice(0, 1), context.settings.Server.min_free_bytes)
    .check(bytes)
    .catch((error: Error) => {
      throw fault('disk_floor', { reason: error.message });
    });
  await eachMemory(found, async ({ driver, nodeId, folder }) => {
    const [first, ...others] = places.flatMap(({ path, nodes }) => {
      const id = nodes[nodeId];
      return id === undefined ? [] : [join(path, 'project-files', driver.kind.folder, id, savedMemoryName)];
    });
    if (first === undefined) return;
    if (last_use) await makeFolders(dirname(first));
    const isMoved = last_use && (await moveFolder(folder, first));
    if (!isMoved) await ((await hasSmallFilesOnly(folder)) ? shareFolder(folder, first) : copyFolder(context, folder, first));
    for (const other of others) await shareFolder(first, other);
  });
  await each(places, ({ path, nodes }) => placeStates(states, path, nodes));
  await each(places, ({ path, nodes }) => copySavedLinks(join(source, savedLinksName), join(path, resumedLinksName), nodes));
}

/** @throws memory_refused */
async function checkStates({ drivers }: Context, states: StateMap, nameOf: (nodeId: string) => string): Promise<void> {
  await mapInTurns(states, ([nodeId, { type, text }]) => {
    const refuse = (reason: string) => fault('memory_refused', { name: nameOf(nodeId), reason });
    const { checkState } = drivers.get(type as NodeType)?.memory ?? {};
    if (!checkState) throw refuse(`nodes of type ${type} have no state`);
    let state: unknown;
    try {
      state = JSON.parse(text);
    } catch (error) {
      throw refuse((error as Error).message);
    }
    checkState(state, nameOf(nodeId));
  });
}

/** Writes the states of the nodes that a copy has. */
async function placeStates(states: StateMap, path: string, nodes: Readonly<Record<string, string>>): Promise<void> {
  const copied = new Map<string, SavedState>();
  for (const [from, to] of Object.entries(nodes)) {
    const state = states.get(from.toLowerCase());
    if (state) copied.set(to.toLowerCase(), state);
  }
  if (copied.size === 0) return;
  const folder = join(path, 'project-files');
  const file = join(folder, savedStatesName);
  await makeFolders(folder);
  await removeTree(file);
  await writeStates(file, copied);
}

/** The memory of a PC of 0.2 is one: a `cp` for each of a thousand takes longer than all else of a fork. */
async function hasSmallFilesOnly(folder: string): Promise<boolean> {
  for (const name of await readdir(folder)) {
    const facts = await lstat(join(folder, name));
    if (!facts.isFile() || facts.size >= linkedBytes) return false;
  }
  return true;
}

/** Copies a folder of regular files, without copying the large ones. Their machines are different users, each of which may enter its folder only. */
async function shareFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const name of await readdir(from)) {
    const [source, target] = [join(from, name), join(to, name)];
    const { size } = await lstat(source);
    if (size < linkedBytes) {
      await copyFile(source, target);
      continue;
    }
    await chmod(source, 0o666);
    await link(source, target);
  }
}

async function eachMemory(found: readonly FoundMemory[], fn: (memory: FoundMemory) => Promise<void>): Promise<void> {
  const isInFabric = ({ driver }: FoundMemory) => driver.kind.inFabric !== undefined;
  await each(found.filter(isInFabric), fn, atOnce.inFabric);
  await each(
    found.filter((memory) => !isInFabric(memory)),
    fn,
  );
}

async function each<T>(items: readonly T[], fn: (item: T) => Promise<void>, limit: number = atOnce.other): Promise<void> {
  const [error] = await forEachBounded(items, limit, fn);
  if (error === undefined) return;
  throw isFault(error) ? error : fault('storage_failed', { reason: (error as Error).message });
}

async function findMemory(context: Context, source: string): Promise<FoundMemory[]> {
  const found: FoundMemory[] = [];
  for (const driver of context.drivers.values()) {
    if (!driver.memory) continue;
    const parent = join(source, 'project-files', driver.kind.folder);
    for (const nodeId of await readdir(parent).catch((): string[] => []))
      found.push({ driver, nodeId, folder: join(parent, nodeId, savedMemoryName) });
  }
  return found;
}

/** @throws path_forbidden */
async function existing(context: Context, projectId: string, path: string): Promise<string> {
  const place = await placeFor(context.settings, projectId, path);
  await access(place).catch(() => {
    throw fault('path_forbidden', { path, reason: 'it is not there: make it before memory is copied to it' });
  });
  return place;
}
