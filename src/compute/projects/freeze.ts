/**
 * A copy of a project with the memory of its machines. They are paused for the copy of the disks and the transfer of the memory only: what
 * receives it is started before, and completes its files after they have resumed. Memory stands below `memory_path` as files of nodes
 * stand in a project, `project-files/<kind>/<node id>/saved-memory`.
 */
import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import type { MemorySaver } from '../../emulators/driver.ts';
import type { Kind } from '../../emulators/kind.ts';
import { syncFolder } from '../../lib/atomic-file.ts';
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import { DiskFloor } from '../../lib/disk-floor.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import type { ComputeFreeze } from '../../schema/compute-node.ts';
import { keptMemoryName, resumedLinksName, savedLinksName, savedMemoryName, savedStatesName } from '../../schema/folders.ts';
import type { ColdNode } from '../../schema/snapshot.ts';
import type { Static } from '../../schema/type.ts';
import type { Context } from '../context.ts';
import { type SavedState, writeStates } from '../host/saved-states.ts';
import { type FabricHolds, HeldLinks, type HeldNodes, syncSavedLinks } from '../links/held-links.ts';
import type { ComputeNode } from '../nodes/node.ts';
import { copyProject, type Pause, type PauseWork, type ProjectCopy, whileHeld } from './copy.ts';
import { placeFor } from './project-folder.ts';
import type { ComputeProjects } from './projects.ts';

interface FreezeWanted extends ProjectCopy {
  /** Exists; absolute. */
  readonly memory_path: string;
}

/** Each one is a process with memory of its own. */
const startedAtOnce = 4;
/** States of nodes in the fabric that are asked for at a time. */
const statesAtOnce = 256;

interface SavedNode {
  readonly node: ComputeNode;
  readonly saver: MemorySaver;
}

export class ProjectFreezes {
  readonly #context: Context;
  readonly #fabric: FabricHolds;
  readonly #projects: ComputeProjects;
  /** Freezes by project id, in lower case: the freeze under way, and the last one until it is waited for. */
  readonly #freezes = new Map<string, MemoryFreeze>();

  constructor(context: Context, projects: ComputeProjects, fabric: FabricHolds) {
    this.#context = context;
    this.#projects = projects;
    this.#fabric = fabric;
  }

  /** Answers when the machines run again. @throws project_not_found, freeze_busy, disk_floor, project_copy_failed */
  async freeze(projectId: string, wanted: FreezeWanted): Promise<Static<typeof ComputeFreeze>> {
    const { id, name } = this.#projects.get(projectId);
    const key = id.toLowerCase();
    const busy = () => {
      if (this.#freezes.get(key)?.isUnderWay) throw fault('freeze_busy', { name });
    };
    const folder = await placeFor(this.#context.settings, id, wanted.memory_path);
    busy();
    const freeze = new MemoryFreeze(this.#context, this.#fabric, folder);
    this.#freezes.set(key, freeze);
    try {
      const pause = await copyProject({ context: this.#context, projects: this.#projects }, id, wanted, freeze);
      freeze.complete();
      return freeze.report(pause);
    } catch (error) {
      this.#freezes.delete(key);
      await freeze.dispose();
      throw error;
    }
  }

  /**
   * The memory of its machines becomes what they continue from at their next start, and they are stopped: where this fails, they run on.
   * @throws project_not_found, freeze_busy, disk_floor, memory_not_kept
   */
  async keep(projectId: string): Promise<Static<typeof ComputeFreeze>> {
    const project = this.#projects.get(projectId);
    const key = project.id.toLowerCase();
    // The last freeze may be a checkpoint, which the client does not know of.
    await this.#freezes.get(key)?.completed.catch(() => undefined);
    if (this.#freezes.get(key)?.isUnderWay) throw fault('freeze_busy', { name: project.name });
    const folder = join(project.path, keptMemoryName);
    const freeze = new MemoryFreeze(this.#context, this.#fabric, folder);
    this.#freezes.set(key, freeze);
    try {
      await this.#context.store.beginCopy(folder);
      await removeTree(folder);
      await mkdir(folder);
      return freeze.report(await whileHeld([...project.nodes.values()], this.#context, keeping(freeze, project.path)));
    } catch (error) {
      if (isFault(error, 'disk_floor')) throw error;
      throw fault('memory_not_kept', { name: project.name, reason: (error as Error).message }, { cause: error });
    } finally {
      await freeze.dispose();
      this.#freezes.delete(key);
      await removeTree(folder).catch(() => undefined);
      await this.#context.store.endCopy(folder).catch(() => undefined);
    }
  }

  /** A project that is frozen may be closed meanwhile. @throws project_not_found, and why the memory is not complete */
  async wait(projectId: string): Promise<void> {
    const key = projectId.toLowerCase();
    const freeze = this.#freezes.get(key);
    if (!freeze) this.#projects.get(projectId);
    await freeze?.completed.finally(() => this.#freezes.get(key) === freeze && this.#freezes.delete(key));
  }

  /** The server ends: what is incomplete is of no use. */
  async close(): Promise<void> {
    await Promise.all([...this.#freezes.values()].map((freeze) => freeze.dispose()));
  }
}

/** The machines stay paused until their memory has its place. */
function keeping(freeze: MemoryFreeze, projectPath: string): PauseWork {
  return {
    prepare: (nodes) => freeze.prepare(nodes),
    beforePause: (nodes) => freeze.beforePause(nodes),
    async whilePaused() {
      await freeze.whilePaused();
      freeze.complete();
      await freeze.completed;
      return freeze.place(projectPath);
    },
    whenResumed: () => freeze.whenResumed(),
  };
}

class MemoryFreeze implements PauseWork {
  readonly #context: Context;
  readonly #fabric: FabricHolds;
  readonly #folder: string;
  readonly #saved: SavedNode[] = [];
  /** Nodes in the fabric whose states are saved, and the states, once they are. */
  readonly #inFabric: ComputeNode[] = [];
  readonly #states = new Map<string, SavedState>();
  readonly #cold: ColdNode[] = [];
  completed: Promise<void> = Promise.resolve();
  isUnderWay = true;
  #links: HeldLinks | undefined;
  #hasFrames = false;
  #frozenAt = 0;

  constructor(context: Context, fabric: FabricHolds, folder: string) {
    this.#context = context;
    this.#fabric = fabric;
    this.#folder = folder;
  }

  async prepare(nodes: readonly ComputeNode[]): Promise<void> {
    const running = nodes.filter(({ emulator, driver }) => emulator && !driver.kind.alwaysRunning);
    const [error] = await forEachBounded(running, startedAtOnce, (node) => this.#prepareNode(node));
    if (error !== undefined) throw error;
    await this.#requireSpace();
  }

  /** Holds the links: frames stay in them from now on, and frames on their way to a machine are in it before it is paused. */
  async beforePause(nodes: readonly ComputeNode[]): Promise<void> {
    const held = HeldLinks.hold(this.#fabric, this.#context.wiring, linkNodes(nodes));
    this.#links = await held.catch((error: unknown) => this.#withoutFrames(error));
    await Promise.all(this.#saved.map(({ saver }) => saver.settle()));
  }

  async whilePaused(): Promise<ReadonlySet<ComputeNode>> {
    this.#frozenAt = Date.now();
    const transfers = this.#saved.map(({ saver }) => saver.transfer());
    const states = this.#saveStates();
    await Promise.allSettled([...transfers, states, this.#saveFrames()]);
    await Promise.all([...transfers, states]);
    return new Set();
  }

  /** Moves what is complete to the nodes' folders and that of the project. Answers the nodes. */
  async place(projectPath: string): Promise<ReadonlySet<ComputeNode>> {
    const memory = this.#saved.map(({ node }) => ({ from: this.#memoryOf(node), to: join(node.directory, savedMemoryName) }));
    const links = join(projectPath, resumedLinksName);
    await removeTree(links);
    if (this.#states.size > 0) memory.push({ from: this.#statesFile, to: join(projectPath, 'project-files', savedStatesName) });
    await placeFolders([...memory, ...(this.#hasFrames ? [{ from: this.#linksFolder, to: links }] : [])]);
    const nodes = [...this.#saved.map(({ node }) => node), ...this.#inFabric];
    for (const { project } of this.#inFabric.slice(0, 1)) project.savedStates.reset();
    return new Set(nodes);
  }

  async whenResumed(): Promise<void> {
    await this.#links
      ?.release()
      .catch((error) => this.#context.log('warning', `links are released by the fabric itself: ${error}`));
  }

  /** Completes the memory files of the machines, which run again already. */
  complete(): void {
    const completing = this.#saved.map(({ saver }) => saver.finish());
    if (this.#states.size > 0) completing.push(writeStates(this.#statesFile, this.#states));
    this.completed = Promise.allSettled(completing).then(async () => {
      await this.dispose();
      await Promise.all(completing);
      if (this.#hasFrames) await syncSavedLinks(this.#linksFolder);
    });
    // The result is awaited later.
    this.completed.catch(() => undefined);
  }

  report({ pausedMs, skewMs }: Pause): Static<typeof ComputeFreeze> {
    return {
      paused_ms: Math.round(pausedMs),
      skew_ms: Math.round(skewMs * 10) / 10,
      frozen_at: this.#frozenAt,
      memory: [
        ...this.#saved.map(({ node, saver }) => ({ node_id: node.id, bytes: saver.ramBytes })),
        ...this.#inFabric.map(({ id }) => ({ node_id: id, bytes: this.#states.get(id.toLowerCase())?.text.length ?? 0 })),
      ],
      cold: this.#cold,
    };
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#saved.map(({ saver }) => saver.dispose()));
    this.isUnderWay = false;
  }

  #memoryOf({ id, driver }: ComputeNode): string {
    return join(this.#folder, 'project-files', driver.kind.folder, id, savedMemoryName);
  }

  get #statesFile(): string {
    return join(this.#folder, savedStatesName);
  }

  get #linksFolder(): string {
    return join(this.#folder, savedLinksName);
  }

  async #saveFrames(): Promise<void> {
    const saving = this.#links?.save(this.#linksFolder);
    this.#hasFrames = saving !== undefined;
    await saving?.catch((error: unknown) => this.#withoutFrames(error));
  }

  /** Notes that frames in flight are not saved. Nodes that use TCP send them again. */
  #withoutFrames(error: unknown): undefined {
    this.#hasFrames = false;
    this.#context.log('warning', `frames in flight are not saved: ${error}`);
  }

  async #prepareNode(node: ComputeNode): Promise<void> {
    const { id, name, emulator, driver } = node;
    if (emulator?.saveState) return void this.#inFabric.push(node);
    const answer = emulator?.saveMemory
      ? await emulator.saveMemory(this.#memoryOf(node))
      : `the memory of ${driver.kind.title} nodes cannot be saved`;
    if (typeof answer === 'string') this.#cold.push({ node_id: id, name, reason: answer });
    else this.#saved.push({ node, saver: answer });
  }

  async #saveStates(): Promise<void> {
    const [error] = await forEachBounded(this.#inFabric, statesAtOnce, (node) => this.#saveState(node));
    if (error !== undefined) throw error;
  }

  async #saveState({ id, name, emulator, driver }: ComputeNode): Promise<void> {
    const state = await emulator?.saveState?.();
    if (state === undefined) throw new Error(`${name} has ended`);
    this.#states.set(id.toLowerCase(), { type: driver.kind.type, text: JSON.stringify(state) });
  }

  async #requireSpace(): Promise<void> {
    const bytes = this.#saved.reduce((sum, { saver }) => sum + saver.ramBytes, 0);
    const floor = new DiskFloor([this.#folder], this.#context.settings.Server.min_free_bytes);
    await floor.check(bytes).catch((error: Error) => {
      throw isFault(error) ? error : fault('disk_floor', { reason: error.message });
    });
  }
}

/** Sorts a project's nodes for the fabric: nodes whose links are held, and the switches and PCs in the fabric. */
export function linkNodes(nodes: readonly ComputeNode[]): HeldNodes {
  const idsOf = (place: Kind['inFabric']) => nodes.filter(({ driver }) => driver.kind.inFabric === place).map(({ id }) => id);
  return { nodeIds: nodes.map(({ id }) => id), switchIds: idsOf('switch'), pcIds: idsOf('pc') };
}

/** Folders that get their places together: a machine that runs on must not find memory of an earlier moment at its next start. */
interface Placement {
  readonly from: string;
  /** Replaced where it exists; the folder above it exists. */
  readonly to: string;
}

/** Moves all folders to their places, durably. After a failure there is nothing at any of the places. @throws errors of the system */
export async function placeFolders(placements: readonly Placement[]): Promise<void> {
  try {
    const [error] = await forEachBounded(placements, concurrency, async ({ from, to }) => {
      await remove(to);
      await rename(from, to);
      await syncFolder(dirname(to));
    });
    if (error !== undefined) throw error;
  } catch (error) {
    await Promise.allSettled(placements.map(({ to }) => remove(to)));
    throw error;
  }
}

function remove(folder: string): Promise<void> {
  return removeTree(folder);
}
