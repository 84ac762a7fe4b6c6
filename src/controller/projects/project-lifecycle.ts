/**
 * The phases of a project: closed, being opened, open. The caller opens and closes it one after the other; requests wait for an opening
 * that is under way.
 */
import { fault, isFault } from '../../api/faults.ts';
import { removeHalfWritten } from '../../lib/atomic-file.ts';
import type { EventStream } from '../../lib/event-stream.ts';
import { stagingPrefix } from '../../schema/folders.ts';
import type { Notice } from '../live/host/project-context.ts';
import { LiveProject } from '../live/live-project.ts';
import type { NewProject } from '../log/project-log.ts';
import type { ProjectEntry } from '../model/topology.ts';
import { dropEarlierList, takeEarlierMoves } from '../reconcile/migrate.ts';
import type { ProjectEnvironment, ProjectPlace } from './project-environment.ts';

interface LifecycleOptions extends ProjectPlace {
  readonly id: string;
  readonly environment: ProjectEnvironment;
  readonly notices: EventStream<Notice>;
  /** The project's own fields were changed. */
  readonly onEntry: (entry: ProjectEntry) => void;
  /** The project entered another phase. */
  readonly onChange: () => void;
}

export interface ShutDown {
  /** Runs first; returns the nodes that it has stopped. */
  readonly before?: (live: LiveProject) => Promise<ReadonlySet<string> | undefined>;
  /** The project is being deleted: nothing is written to its files. Its log has all, should that fail. */
  readonly isForGood?: boolean;
}

type Phase =
  | { readonly is: 'closed' }
  | { readonly is: 'opening'; readonly live: Promise<LiveProject> }
  | { readonly is: 'open'; readonly live: LiveProject };

export class ProjectLifecycle {
  readonly #options: LifecycleOptions;
  #phase: Phase = { is: 'closed' };

  constructor(options: LifecycleOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#phase.is !== 'closed';
  }

  /** Undefined also while it is being opened. */
  get now(): LiveProject | undefined {
    return this.#phase.is === 'open' ? this.#phase.live : undefined;
  }

  /** The open project, once an opening that is under way has ended; undefined when it is closed. */
  async find(): Promise<LiveProject | undefined> {
    return this.#phase.is === 'opening' ? this.#phase.live.catch(() => undefined) : this.now;
  }

  /** Opens what is in the files, or was `created` just now. @throws why it cannot be opened; it is closed then */
  async open(created?: NewProject): Promise<LiveProject> {
    const opening = this.#open(created);
    this.#enterPhase({ is: 'opening', live: opening });
    try {
      const live = await opening;
      this.#enterPhase({ is: 'open', live });
      return live;
    } catch (error) {
      this.#enterPhase({ is: 'closed' });
      throw error;
    }
  }

  /** Stops the nodes when no change is under way. Returns whether it was open. */
  async shutDown({ before, isForGood = false }: ShutDown): Promise<boolean> {
    const live = this.now;
    if (!live) return false;
    await live.gate.hold(async () => {
      const stopped = await before?.(live);
      // Frozen, its nodes stay wanted. Otherwise, when that cannot be written, they would run at the next opening, which loses nothing.
      if (!stopped && !isForGood) await live.runs.wantNone('closed').catch((error: unknown) => this.#warn(error));
      await live.shutDown({ ...(stopped && { stopped }), isForGood });
      this.#phase = { is: 'closed' };
    });
    this.#options.onChange();
    return true;
  }

  /** Remembers it for the next start. */
  note(opened: boolean): Promise<void> {
    const { id, path, filename, environment } = this.#options;
    return environment.registry.setOpened(id, { path, filename, opened });
  }

  /** Does something to the open project while it is open, with others (`pass`) or alone (`hold`). @throws project_closed, node_moving */
  async enter<T>(how: 'pass' | 'hold', name: string, fn: (live: LiveProject) => Promise<T>): Promise<T> {
    const live = await this.find();
    if (!live) throw fault('project_closed', { name });
    if (how === 'hold') requireStill(live);
    return live.gate[how](async () => {
      if (this.now !== live) throw fault('project_closed', { name });
      return fn(live);
    });
  }

  /** Nodes may run since an earlier server. */
  async #stopOnLocal(): Promise<void> {
    const { transport } = this.#options.environment.computes.local;
    const path = { project_id: this.#options.id };
    await transport.send('POST /v2/compute/projects/{project_id}/close', { path }).catch((error: unknown) => {
      if (!isFault(error, 'project_not_found')) throw error;
    });
  }

  #warn(error: unknown): void {
    this.#options.environment.log.warn({ err: error }, 'what is wanted of the nodes of a project could not be written');
  }

  #enterPhase(phase: Phase): void {
    this.#phase = phase;
    this.#options.onChange();
  }

  async #open(created?: NewProject): Promise<LiveProject> {
    const { path: folder, filename, notices, onEntry } = this.#options;
    const { registry: _registry, ...environment } = this.#options.environment;
    if (!created) await removeHalfWritten(folder, stagingPrefix);
    await environment.restores.settle(folder, async () => {
      await this.#stopOnLocal();
      await dropEarlierList(folder);
    });
    const opening = (live: LiveProject) => (created ? Promise.resolve() : takeEarlierMoves(live));
    const live = await environment.openings.run(() =>
      LiveProject.open({ ...environment, opening, folder, filename, notices, onEntry }, created),
    );
    if (!created) await environment.reconciler.migrate(live).catch((error: unknown) => this.#warn(error));
    try {
      await this.note(true);
    } catch (error) {
      await live.shutDown();
      throw error;
    }
    return live;
  }
}

/** Refuses while a node moves: a request that holds the gate would have all others wait for the move. @throws node_moving */
export function requireStill({ nodes, entry }: LiveProject): void {
  const moving = [...nodes.all()].find(({ isMoving }) => isMoving);
  if (moving) throw fault('node_moving', { project: entry.name, name: moving.entry.name });
}
