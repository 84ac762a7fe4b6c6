/**
 * Machines that templates hold, with their memory: a folder each, `<data>/warm-machines/<machine id>/`, of the form of a node's folder.
 * A node that is made from one gets a copy of it, and continues from the memory at its first start. Folders grow under another name and
 * get theirs by one rename; the controller knows which of them a template holds.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import type { MemorySaver } from '../../emulators/driver.ts';
import { DiskFloor } from '../../lib/disk-floor.ts';
import { sizeOnDisk } from '../../lib/folder-size.ts';
import { makeFolders } from '../../lib/make-folders.ts';
import { KeyedMutex } from '../../lib/mutex.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { isUuid } from '../../schema/common.ts';
import type { WarmMachine } from '../../schema/compute-node.ts';
import { memorySourceName, savedMemoryName } from '../../schema/folders.ts';
import type { Static } from '../../schema/type.ts';
import type { Context } from '../context.ts';
import type { ComputeNode } from '../nodes/node.ts';
import { copyTrees, exists, grow, type Pause, together, whileHeld } from './copy.ts';
import type { ComputeProjects } from './projects.ts';

export class WarmMachines {
  readonly #context: Context;
  readonly #projects: ComputeProjects;
  readonly #folder: string;
  /** Locks per machine: a machine is not removed while it is copied. */
  readonly #locks = new KeyedMutex();
  readonly #saving = new Set<MemorySaver>();

  constructor(context: Context, projects: ComputeProjects) {
    this.#context = context;
    this.#projects = projects;
    this.#folder = join(context.settings.dataDirectory, 'warm-machines');
  }

  /** Keeps a running machine, which is paused for the instant; answers when all of it is on disk. @throws machine_not_kept, disk_floor */
  async keep(projectId: string, nodeId: string, machineId: string): Promise<Static<typeof WarmMachine>> {
    const node = this.#find(projectId, nodeId);
    const failed = (reason: string, cause?: unknown) => fault('machine_not_kept', { name: node.name, reason }, { cause });
    const shared = node.driver.memory?.findSharedDisk?.(node.properties);
    if (shared !== undefined) throw failed(shared);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const target = this.#pathOf(machineId);
    if (await exists(target)) throw failed(`there is a machine ${machineId} already`);
    try {
      return await grow(this.#context, target, async (folder) => {
        const { pausedMs } = await this.#save(node, folder);
        return { bytes: await sizeOnDisk(folder), paused_ms: Math.round(pausedMs) };
      });
    } catch (error) {
      throw isFault(error) ? error : failed((error as Error).message, error);
    }
  }

  /**
   * Gives a stopped node the files of a machine, and its memory for the next start; `source` is the template's name. Memory that cannot
   * be restored here is left out, with a warning. @throws machine_not_found, node_running, disk_floor, node_failed
   */
  copy(projectId: string, nodeId: string, { machineId, source }: { machineId: string; source: string }): Promise<void> {
    const node = this.#find(projectId, nodeId);
    const from = this.#pathOf(machineId);
    return this.#locks.run(from, () =>
      node.exclusively(async () => {
        if (node.emulator) throw fault('node_running', { name: node.name, what: 'replace its files' });
        const names = await readdir(from).catch(() => {
          throw fault('machine_not_found', { machine_id: machineId });
        });
        await this.#requireSpace([node.project.path], await sizeOnDisk(from));
        const refusal = await this.#findRefusal(node, join(from, savedMemoryName));
        if (refusal !== undefined) node.view().warn(`${node.name} starts cold. ${refusal}`);
        const wanted = refusal === undefined ? names : names.filter((name) => name !== savedMemoryName);
        await makeFolders(dirname(node.directory));
        await grow(this.#context, node.directory, async (folder) => {
          if (wanted.length > 0) await copyTrees(this.#context, from, wanted, folder);
          if (refusal === undefined) await writeFile(join(folder, savedMemoryName, memorySourceName), source, { mode: 0o600 });
        }).catch((error: Error) => {
          throw fault(
            'node_failed',
            { name: node.name, reason: `its files could not be copied: ${error.message}` },
            { cause: error },
          );
        });
      }),
    );
  }

  /** @throws machine_not_found */
  remove(machineId: string): Promise<void> {
    const path = this.#pathOf(machineId);
    return this.#locks.run(path, async () => {
      if (!(await exists(path))) throw fault('machine_not_found', { machine_id: machineId });
      await removeTree(path);
    });
  }

  /** Removes all but these: a server that was killed may have left some that no template holds. */
  async prune(kept: readonly string[]): Promise<void> {
    const known = new Set(kept.map((id) => id.toLowerCase()));
    const names = await readdir(this.#folder).catch((): string[] => []);
    // Growing ones have other names, and are removed by those that note them.
    for (const name of names) if (!known.has(name) && isUuid(name)) await this.remove(name);
  }

  /** The server ends: what is incomplete is of no use. */
  async close(): Promise<void> {
    await Promise.all([...this.#saving].map((saver) => saver.dispose()));
  }

  /** @throws machine_not_found */
  #pathOf(machineId: string): string {
    if (!isUuid(machineId)) throw fault('machine_not_found', { machine_id: machineId });
    return join(this.#folder, machineId.toLowerCase());
  }

  #find(projectId: string, nodeId: string): ComputeNode {
    const node = this.#projects.get(projectId).nodes.get(nodeId);
    if (!node) throw fault('node_not_found', { node_id: nodeId });
    return node;
  }

  async #save(node: ComputeNode, folder: string): Promise<Pause> {
    let saver: MemorySaver | undefined;
    try {
      const pause = await whileHeld([node], this.#context, {
        prepare: async () => {
          saver = await startSaving(node, join(folder, savedMemoryName));
          this.#saving.add(saver);
          await this.#requireSpace([folder], saver.ramBytes + (await sizeOnDisk(node.directory)));
        },
        beforePause: async () => saver?.settle(),
        whilePaused: async () => {
          await together([saver?.transfer(), copyTrees(this.#context, node.directory, ['.'], folder)]);
          return new Set();
        },
        whenResumed: async () => {},
      });
      await saver?.finish();
      return pause;
    } finally {
      if (saver) this.#saving.delete(saver);
      await saver?.dispose();
    }
  }

  async #findRefusal(node: ComputeNode, folder: string): Promise<string | undefined> {
    try {
      await node.driver.memory?.check(folder, node.name);
      return undefined;
    } catch (error) {
      if (isFault(error, 'memory_refused')) return error.message;
      throw error;
    }
  }

  async #requireSpace(folders: readonly string[], bytes: number): Promise<void> {
    const floor = new DiskFloor(folders, this.#context.settings.Server.min_free_bytes);
    await floor.check(bytes).catch((error: Error) => {
      throw fault('disk_floor', { reason: error.message });
    });
  }
}

/** @throws machine_not_kept */
async function startSaving({ name, status, emulator, driver }: ComputeNode, folder: string): Promise<MemorySaver> {
  const refuse = (reason: string) => fault('machine_not_kept', { name, reason });
  if (!driver.memory?.findSharedDisk) throw refuse(`${driver.kind.title} nodes cannot be kept as templates`);
  if (status !== 'started') throw refuse(`it is ${status}: start it and let it boot`);
  const answer = await emulator?.saveMemory?.(folder);
  if (answer === undefined || typeof answer === 'string') throw refuse(answer ?? 'it does not run');
  return answer;
}
