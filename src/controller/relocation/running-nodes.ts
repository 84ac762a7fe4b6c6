/**
 * Which nodes of slices are to run, on disk: a slice that is lost, or ends, takes what runs there along, and this server may have ended
 * before. A node that its slice says to have stopped is not among them any more, unless it was interrupted: the slice has stopped it on its
 * own, or has another lease than the one under which the node ran. One record is written for each start and each stop; neither waits for it.
 */
import { join } from 'node:path';
import { DurableMap } from '../../lib/durable-map.ts';
import type { Log } from '../../lib/log.ts';
import { nullable, object, optional, text, whole } from '../../lib/shape.ts';
import type { LiveProject } from '../live/live-project.ts';
import type { OpenNode } from '../live/nodes/open-node.ts';
import type { KnownProject } from '../projects/project.ts';
import { isRunning } from './nodes-on.ts';

export interface RunningEntry {
  readonly project_id: string;
  readonly compute_id: string;
  /** Of the lease under which it was seen to run; earlier versions did not note it. */
  readonly epoch?: number | null;
}

/** By the id of the node. */
export type RunningEntries = DurableMap<RunningEntry>;

export interface RunningNodesOptions {
  readonly log: Log;
  readonly isSlice: (computeId: string) => boolean;
  /** It was open when the server before this one ended. */
  readonly wasOpen: (projectId: string) => boolean;
  /** A node of the project has been interrupted. */
  readonly onInterrupted: (project: KnownProject) => void;
}

const shape = object({ project_id: text, compute_id: text, epoch: optional(nullable(whole())) });

export class RunningNodes {
  readonly #options: RunningNodesOptions;
  readonly #entries: RunningEntries;
  readonly #followed = new Map<string, () => void>();

  constructor(options: RunningNodesOptions, entries: RunningEntries) {
    this.#options = options;
    this.#entries = entries;
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
        else if (node) this.#seen(project, node);
      };
      this.#followed.set(id, notices.subscribe(listener));
    }
    if (action !== 'project.opened') return;
    project.liveNow?.resumeList.refusals.subscribe((nodeId) => this.#delete(nodeId));
    for (const node of project.liveNow?.nodes.all() ?? []) this.#seen(project, node);
  }

  /** Those of a project that were to run when they were seen last, and do not, through no doing of theirs or their users. */
  interrupted(live: LiveProject): string[] {
    return [...live.nodes.all()].filter((node) => this.#isInterrupted(node)).map(({ id }) => id);
  }

  /** They are in the project's list of nodes that are to run again. */
  handedOver(nodeIds: readonly string[]): void {
    for (const id of nodeIds) this.#delete(id);
  }

  #isInterrupted({ id, compute, entry, live }: OpenNode): boolean {
    const known = this.#entries.get(id);
    if (!compute || known?.compute_id !== compute.id || entry.compute_id !== compute.id) return false;
    return known.epoch !== compute.epoch || live.interrupted;
  }

  #seen(project: KnownProject, node: OpenNode): void {
    const { id, compute, projectId: project_id } = node;
    if (!compute || !this.#options.isSlice(compute.id)) {
      this.#delete(id);
      return;
    }
    const known = this.#entries.get(id);
    // What is shown of it may be what was before it was away.
    const isOld = node.problem !== undefined && (known !== undefined || !isRunning(node));
    if (!compute.transport.state.connected || isOld || !node.isPresent) return;
    if (isRunning(node)) {
      const { epoch } = compute;
      if (known?.compute_id !== compute.id || known.epoch !== epoch)
        this.#entries.set(id, { project_id, compute_id: compute.id, epoch }).catch((error: Error) => this.#failed(error));
    } else if (this.#isInterrupted(node)) this.#options.onInterrupted(project);
    else this.#delete(id);
  }

  #delete(nodeId: string): void {
    this.#entries.delete(nodeId).catch((error: Error) => this.#failed(error));
  }

  #failed(error: Error): void {
    this.#options.log.warn({ err: error }, 'which nodes run could not be noted');
  }
}
