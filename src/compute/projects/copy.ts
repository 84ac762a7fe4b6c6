/**
 * Copies of what nodes keep on disk. Running machines are held for the instant of the copy, so that what is copied is what a power
 * cut would have left. `cp` shares blocks where the file system can, and keeps holes elsewhere; nothing is read into memory.
 *
 * All or nothing: a copy grows in a folder of its own and gets its name when it is complete. The folder is noted in the
 * store first, so that a server that dies in between removes it when it starts again.
 */
import { randomBytes } from 'node:crypto';
import { access, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import type { Emulator } from '../../emulators/driver.ts';
import { removeDiskCopies } from '../../emulators/host/disk-copies.ts';
import { syncFolder } from '../../lib/atomic-file.ts';
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import { makeFolders } from '../../lib/make-folders.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { Turns } from '../../lib/turns.ts';
import { spawnChild } from '../../process/child.ts';
import { savedMemoryName, savedStatesName } from '../../schema/folders.ts';
import type { Context } from '../context.ts';
import type { ComputeNode } from '../nodes/node.ts';
import type { ComputeProject } from './project.ts';
import { placeFor } from './project-folder.ts';
import type { ComputeProjects } from './projects.ts';

export interface ProjectCopy {
  readonly destination_project_id: string;
  /** A folder that is there, absolute; undefined: the folder of that project, which must be known. */
  readonly destination_path?: string;
  /** Id of a node to the id of its copy. Folders of other nodes are not copied. */
  readonly nodes: Readonly<Record<string, string>>;
  /** Names of folders directly in `project-files` that are not copied. */
  readonly leave_out?: readonly string[];
}

/**
 * Copies `project-files` of a project to another one or to an existing folder; all of it except `tmp` and what is to be left
 * out. No folder is made beside `project-files`: who is to remove it must have been there before.
 * @throws project_not_found, project_path_taken, path_forbidden, project_copy_failed
 */
export async function copyProject(
  { context, projects }: { readonly context: Context; readonly projects: ComputeProjects },
  projectId: string,
  wanted: ProjectCopy,
  work: PauseWork = noWork,
): Promise<Pause> {
  const project = projects.get(projectId);
  const copying = { context, project, wanted, work };
  if (wanted.destination_path === undefined) {
    const other = projects.get(wanted.destination_project_id);
    return other.whileThere(() => copyTo(copying, other.path));
  }
  const destination = await placeFor(context.settings, wanted.destination_project_id, wanted.destination_path);
  if (!(await exists(destination)))
    throw fault('path_forbidden', {
      path: wanted.destination_path,
      reason: 'it is not there: make it before files are copied to it',
    });
  return copyTo(copying, destination);
}

/** Additional work on the nodes while they are held. */
export interface PauseWork {
  /** May take its time. */
  prepare(nodes: readonly ComputeNode[]): Promise<void>;
  /** Called when the nodes are about to be paused. */
  beforePause(nodes: readonly ComputeNode[]): Promise<void>;
  /** Answers the nodes that are stopped instead of resumed. */
  whilePaused(): Promise<ReadonlySet<ComputeNode>>;
  /** Called when the nodes run again, whatever failed. Never rejects. */
  whenResumed(): Promise<void>;
}

const noWork: PauseWork = {
  prepare: async () => {},
  beforePause: async () => {},
  whilePaused: async () => new Set(),
  whenResumed: async () => {},
};

/** Times of a pause, milliseconds: how long machines were paused, at most, and how far apart the first and the last one were paused. */
export interface Pause {
  readonly pausedMs: number;
  readonly skewMs: number;
}

interface ComputeCopying {
  readonly context: Context;
  readonly project: ComputeProject;
  readonly wanted: ProjectCopy;
  readonly work: PauseWork;
}

async function copyTo({ context, project, wanted, work }: ComputeCopying, destination: string): Promise<Pause> {
  const target = join(destination, 'project-files');
  if (destination === project.path || (await exists(target))) throw fault('project_path_taken', { path: destination });
  try {
    return await grow(context, target, async (folder) => {
      const copy = async () => {
        const source = join(project.path, 'project-files');
        // Only the nodes themselves continue from their states.
        const without = new Set(['tmp', savedStatesName, ...(wanted.leave_out ?? [])]);
        for (const { directory, driver } of project.nodes.values()) if (!driver.kind.inFabric) await removeDiskCopies(directory);
        const names = (await readdir(source).catch(() => [])).filter((name) => !without.has(name));
        if (names.length > 0) await copyTrees(context, source, names, folder);
      };
      const whilePaused = async () => {
        const working = work.whilePaused();
        await together([copy(), working.then(() => undefined)]);
        return working;
      };
      const pause = await whileHeld([...project.nodes.values()], context, {
        prepare: (nodes) => work.prepare(nodes),
        beforePause: (nodes) => work.beforePause(nodes),
        whilePaused,
        whenResumed: () => work.whenResumed(),
      });
      await renameNodes(context, folder, new Map(Object.entries(wanted.nodes).map(([from, to]) => [from.toLowerCase(), to])));
      return pause;
    });
  } catch (error) {
    throw isFault(error)
      ? error
      : fault('project_copy_failed', { name: project.name, reason: (error as Error).message }, { cause: error });
  }
}

/** Replaces the folder of one node by a copy of another's. The destination must not run. */
export async function copyNode(context: Context, source: ComputeNode, destination: ComputeNode): Promise<void> {
  const stopped = () => {
    if (destination.status === 'stopped' || destination.driver.kind.alwaysRunning) return;
    throw fault('node_running', { name: destination.name, what: 'replace its files' });
  };
  if (source === destination || source.driver.kind.inFabric === 'switch') return;
  stopped();
  const copy = async () => {
    stopped();
    await makeFolders(dirname(destination.directory));
    await grow(context, destination.directory, async (folder) => {
      await removeDiskCopies(source.directory);
      if (await exists(source.directory)) await copyTrees(context, source.directory, ['.'], folder);
      await removeTree(join(folder, savedMemoryName));
    });
    await destination.dropState();
    await destination.driver.renamed?.(destination.directory, source.name, destination.name);
  };
  const copying = whileHeld([source, destination], context, {
    ...noWork,
    async whilePaused() {
      await copy();
      return new Set();
    },
  });
  await copying.catch((error) => {
    throw isFault(error)
      ? error
      : fault('node_failed', { name: source.name, reason: `its files could not be copied: ${error.message}` });
  });
}

/** Folders that a server which died has left half copied. What cannot be removed stays noted for the next start. */
export async function removeHalfCopies(context: Context, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    await removeTree(folder)
      .then(() => context.store.endCopy(folder))
      .catch((error) => context.log('error', `removing ${folder}: ${error}`));
  }
}

/**
 * Holds all the nodes, pauses those that run, runs `fn`, and lets them go whatever happened. They are held in the order of their ids,
 * so that two copies never wait for each other, and paused only when all are held: none stands still while another one is waited for.
 */
export async function whileHeld(nodes: readonly ComputeNode[], context: Context, work: PauseWork): Promise<Pause> {
  const holds = new Map<ComputeNode, Hold>();
  let stopped: ReadonlySet<ComputeNode> = new Set();
  const began: number[] = [];
  let firstAt = performance.now();
  let endedAt = firstAt;
  try {
    const turns = new Turns();
    for (const node of [...nodes].sort((one, other) => (one.id < other.id ? -1 : 1))) {
      holds.set(node, await holdNode(node));
      if (turns.isOver) await turns.next();
    }
    await work.prepare(nodes);
    await work.beforePause(nodes);
    firstAt = performance.now();
    await together([...holds.values()].map(async (hold) => void ((await hold.pause()) && began.push(performance.now()))));
    stopped = await work.whilePaused();
  } finally {
    const errors = await forEachBounded(holds, holds.size, ([node, hold]) => hold.release({ stop: stopped.has(node) }));
    endedAt = performance.now();
    await work.whenResumed();
    for (const error of errors) context.log('error', `a node did not resume after a copy: ${error}`);
  }
  const [first = firstAt, last = first] = [began.at(0), began.at(-1)];
  return { pausedMs: began.length > 0 ? endedAt - firstAt : 0, skewMs: last - first };
}

/** Waits for every part before throwing, because a part that is under way needs files that the failure would remove. */
export async function together(parts: readonly (Promise<void> | undefined)[]): Promise<void> {
  for (const result of await Promise.allSettled(parts)) if (result.status === 'rejected') throw result.reason;
}

/**
 * Fills a folder beside the target and puts it in the target's place; what both are in is there. Disks of gigabytes are not synced: like anything else that
 * machines write, they reach the disk when the kernel sees fit; what this protects from is the death of the server.
 */
export async function grow<T>(context: Context, target: string, fill: (folder: string) => Promise<T>): Promise<T> {
  const growing = join(dirname(target), `.${basename(target)}.${randomBytes(4).toString('hex')}`);
  await context.store.beginCopy(growing);
  try {
    await mkdir(growing);
    const filled = await fill(growing);
    await removeTree(target);
    await rename(growing, target);
    await syncFolder(dirname(target));
    return filled;
  } catch (error) {
    await removeTree(growing).catch(() => undefined);
    throw error;
  } finally {
    // The next start removes what is recorded, and finds nothing.
    await context.store.endCopy(growing).catch((error) => context.log('warning', `${growing} stays recorded: ${error}`));
  }
}

/** Copies a folder as `copyTrees` does, into a folder that is made. */
export async function copyFolder(context: Context, from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await copyTrees(context, from, ['.'], to);
}

/** GNU coreutils: `--reflink=auto` shares blocks where it can, `--sparse=always` keeps holes; `-a` keeps links, modes and times. */
export function copyTrees(context: Context, from: string, names: readonly string[], to: string): Promise<void> {
  const sources = names.map((name) => `${from}/${name}`);
  return run(context, 'cp', ['-a', '--reflink=auto', '--sparse=always', '--', ...sources, to]);
}

/** Gives the nodes' folders the ids of the copies; folders of nodes that are not copied go. */
async function renameNodes(context: Context, folder: string, ids: ReadonlyMap<string, string>): Promise<void> {
  const kindFolders = new Set([...context.drivers.values()].map((driver) => driver.kind.folder));
  for (const kindFolder of kindFolders) {
    const parent = join(folder, kindFolder);
    const names = await readdir(parent).catch((): string[] => []);
    const [error] = await forEachBounded(names, concurrency, async (name) => {
      const id = ids.get(name.toLowerCase());
      if (id === undefined) return removeTree(join(parent, name));
      // Only the node itself continues from it: a copy starts anew.
      await removeTree(join(parent, name, savedMemoryName));
      return rename(join(parent, name), join(parent, id));
    });
    if (error !== undefined) throw error;
  }
}

async function run(context: Context, program: string, args: readonly string[]): Promise<void> {
  const { runtimeDirectory } = context.settings;
  const logFile = join(runtimeDirectory, `${program}-${randomBytes(4).toString('hex')}.log`);
  try {
    const child = await spawnChild({ program, args, cwd: '/', logFile, runDirectory: runtimeDirectory });
    const { how, code, tail } = await child.outcome;
    if (how !== 'exited' || code !== 0) throw new Error(`${program} failed: ${tail}`);
  } finally {
    await rm(logFile, { force: true });
  }
}

export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Holding a node still: its verbs wait, and its machine can be paused, until it is released. No notice is emitted: the status stays. */
interface Hold {
  /** Pauses a running machine where its kind can do that. @returns whether it did */
  pause(): Promise<boolean>;
  /** Resumes a paused machine, and the verbs that waited. With `stop` the machine is ended at once instead. */
  release(options?: { stop?: boolean }): Promise<void>;
}

/** Resolves when the verbs under way have ended. @throws node_not_found when the node was deleted meanwhile */
function holdNode(node: ComputeNode): Promise<Hold> {
  const held = Promise.withResolvers<Hold>();
  const released = Promise.withResolvers<boolean>();
  let paused: Emulator | undefined;
  const hold: Hold = {
    async pause() {
      if (node.status !== 'started' || !node.driver.kind.can.suspend) return false;
      const { emulator } = node;
      await emulator?.suspend();
      paused = emulator;
      return emulator !== undefined;
    },
    release({ stop = false } = {}) {
      released.resolve(stop);
      return done;
    },
  };
  const done = node.exclusively(async () => {
    held.resolve(hold);
    if (await released.promise) await node.stopHeld();
    else await paused?.resume();
  });
  done.catch(held.reject);
  return held.promise;
}
