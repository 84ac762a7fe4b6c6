/**
 * Which nodes of slices are to run, on disk: a server that dies together with a host starts them elsewhere when it has started again and
 * declared the slice lost. A node that its compute reports as stopped, as it was stopped or its process ended, is not among them. One record
 * is written for each start and each stop; neither waits for it.
 */
import { join } from 'node:path';
import { DurableMap } from '../../lib/durable-map.ts';
import type { Log } from '../../lib/log.ts';
import { object, text } from '../../lib/shape.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { LiveProject } from '../live/live-project.ts';
import type { OpenNode } from '../live/nodes/open-node.ts';
import type { KnownProject } from '../projects/project.ts';
import { isRunning } from './nodes-on.ts';

export interface RunningEntry {
  readonly project_id: string;
  readonly compute_id: string;
}

/** By the id of the node. */
export type RunningEntries = DurableMap<RunningEntry>;

export interface RunningNodesOptions {
  readonly log: Log;
  readonly isSlice: (computeId: string) => boolean;
  /** Its lease was not renewed for so long that it may have ended what ran. */
  readonly isOverdue: (computeId: string) => boolean;
  /** It was open when the server before this one ended. */
  readonly wasOpen: (projectId: string) => boolean;
}

const shape = object({ project_id: text, compute_id: text });

export class RunningNodes {
  readonly #options: RunningNodesOptions;
  readonly #entries: RunningEntries;
  readonly #followed = new Map<string, () => void>();
  /**
   * Nodes that ran when their slice was connected last, to this server or the one before it, and were not seen to run since. A slice that had
   * lost its controller for long has ended them, reports them as stopped, and starts them again: until then they are not taken for nodes
   * that were stopped.
   */
  readonly #unseen: Set<string>;
  /** Slices that were asked to end: the epoch, by the id of the compute. What stops there is stopped by the slice. */
  readonly #ending = new Map<string, number | null>();

  constructor(options: RunningNodesOptions, entries: RunningEntries) {
    this.#options = options;
    this.#entries = entries;
    this.#unseen = new Set(Array.from(entries.entries(), ([id]) => id));
    // Of projects that vanished, or were closed as the server before this one ended.
    for (const [id, { project_id }] of [...entries.entries()]) if (!options.wasOpen(project_id)) this.#delete(id);
  }

  static openEntries(stateDirectory: string, warn: (message: string) => void): Promise<RunningEntries> {
    const isEntry = (value: unknown) => shape.problem(value, 'the node') === undefined;
    return DurableMap.open<RunningEntry>(join(stateDirectory, 'running-nodes.log'), warn, isEntry);
  }

  /** A project was made, opened, changed, closed or deleted. */
  follow(action: string, project: KnownProject): void {
    const { id, notices } = project;
    if (action === 'project.closed' || action === 'project.deleted') {
      this.#followed.get(id)?.();
      this.#followed.delete(id);
      for (const [nodeId, { project_id }] of [...this.#entries.entries()]) if (project_id === id) this.#delete(nodeId);
    } else if (!this.#followed.has(id)) {
      const listener = ({ action: what, event }: { action: string; event: unknown }) => {
        if (!/^node\.(created|updated|deleted)$/.test(what)) return;
        const { node_id } = event as { node_id: string };
        const node = project.liveNow?.nodes.find(node_id);
        if (what === 'node.deleted') this.#delete(node_id);
        else if (node) this.#seen(node);
      };
      this.#followed.set(id, notices.subscribe(listener));
    }
    if (action !== 'project.opened') return;
    project.liveNow?.resumeList.refusals.subscribe((nodeId) => this.#delete(nodeId));
    for (const node of project.liveNow?.nodes.all() ?? []) this.#seen(node);
  }

  /** Those of a project that were to run there when they were seen last. */
  on(live: LiveProject, compute: RegisteredCompute): string[] {
    const isOn = ({ id, entry }: OpenNode) => this.#entries.get(id)?.compute_id === compute.id && entry.compute_id === compute.id;
    return [...live.nodes.all()].filter(isOn).map(({ id }) => id);
  }

  /** It was asked to end: until its lease is over, only its nodes' users have them removed. */
  ending({ id, epoch }: RegisteredCompute): void {
    this.#ending.set(id, epoch);
  }

  /** They are in the project's list of nodes that are to run again. */
  handedOver(nodeIds: readonly string[]): void {
    for (const id of nodeIds) this.#delete(id);
  }

  #seen(node: OpenNode): void {
    const { id, compute, projectId: project_id } = node;
    if (!compute || !this.#options.isSlice(compute.id)) {
      this.#delete(id);
      return;
    }
    const { connected } = compute.transport.state;
    if (!connected && !compute.isFenced) {
      if (this.#entries.has(id)) this.#unseen.add(id);
    } else if (isRunning(node)) {
      this.#unseen.delete(id);
      if (this.#entries.get(id)?.compute_id !== compute.id)
        this.#entries.set(id, { project_id, compute_id: compute.id }).catch((error: Error) => this.#failed(error));
    } else if (!this.#unseen.has(id) && node.isPresent && !this.#isByLease(compute)) this.#delete(id);
  }

  /** What stops there may have been stopped by the slice itself. */
  #isByLease({ id, epoch }: RegisteredCompute): boolean {
    return this.#ending.get(id) === epoch || this.#options.isOverdue(id);
  }

  #delete(nodeId: string): void {
    this.#unseen.delete(nodeId);
    this.#entries.delete(nodeId).catch((error: Error) => this.#failed(error));
  }

  #failed(error: Error): void {
    this.#options.log.warn({ err: error }, 'which nodes run could not be noted');
  }
}
