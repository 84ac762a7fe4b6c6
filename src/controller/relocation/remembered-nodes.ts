/**
 * Nodes that are to be started again, in the list of the project's folder (`resume-nodes.ts`): it is written before anything of them is
 * stopped or moved, so that a server that dies in between starts them when it opens the project.
 */
import { forEachBounded } from '../../lib/bounded.ts';
import { KeyedMutex } from '../../lib/mutex.ts';
import type { LiveProject } from '../live/live-project.ts';
import { readResumeList, writeResumeList } from '../projects/resume-nodes.ts';

export class RememberedNodes {
  /** Started at a time. */
  readonly #rate: number;
  /** By project: what writes the list. */
  readonly #lists = new KeyedMutex();
  readonly #starts = new KeyedMutex();
  /** By project that starts its nodes: what was added meanwhile, which may be stopped again. */
  readonly #added = new Map<string, Set<string>>();

  constructor(rate: number) {
    this.#rate = rate;
  }

  /** Resolves when they are on disk. */
  async add(live: LiveProject, nodeIds: readonly string[]): Promise<void> {
    if (nodeIds.length === 0) return;
    const { folder, projectId } = live;
    await this.#lists.run(projectId, async () => {
      for (const id of nodeIds) this.#added.get(projectId)?.add(id);
      const known = await readResumeList(folder);
      const all = new Set([...known, ...nodeIds]);
      // A slice that waits for the move of its nodes asks twice a second.
      if (all.size > known.length) await writeResumeList(folder, [...all]);
    });
  }

  /** Those whose compute is connected; the others stay in the list, as do those on `except`, a compute that is about to end. */
  start(live: LiveProject, except?: string): Promise<void> {
    const { folder, projectId } = live;
    return this.#starts.run(projectId, async () => {
      const ids = await readResumeList(folder);
      if (ids.length === 0) return;
      const added = new Set<string>();
      this.#added.set(projectId, added);
      const ended = new Set(ids);
      await forEachBounded(ids, this.#rate, async (nodeId) => {
        if (!(await startAgain(live, nodeId, except))) ended.delete(nodeId);
      });
      await this.#lists.run(projectId, async () => {
        this.#added.delete(projectId);
        const left = (await readResumeList(folder)).filter((id) => !ended.has(id) || added.has(id));
        await writeResumeList(folder, left);
      });
    });
  }
}

/** False: its compute is away, or is about to end. Listeners are sent what fails. */
async function startAgain(live: LiveProject, nodeId: string, except: string | undefined): Promise<boolean> {
  const node = live.nodes.find(nodeId);
  if (node?.compute?.isAwaited || (node && node.entry.compute_id === except)) return false;
  if (node?.live.status !== 'stopped') return true;
  await live.nodes.act(nodeId, 'start').catch((error: Error) => {
    live.notify('log.error', { message: `Node ${node.entry.name} could not be started again: ${error.message}` });
  });
  return true;
}
