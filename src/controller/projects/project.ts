/**
 * A known project, open or closed. Closed, only what is listed of it is in memory. Opening, closing and deleting happen one after
 * the other; changes wait for an opening that is under way.
 */
import { join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import { EventStream } from '../../lib/event-stream.ts';
import { Gate } from '../../lib/gate.ts';
import { Mutex } from '../../lib/mutex.ts';
import type { RunFacts } from '../../schema/node-runs.ts';
import type { ForkedFrom, Project as ProjectObject, ProjectUpdate } from '../../schema/project.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { Notice } from '../live/host/project-context.ts';
import { LinkStatsFeed } from '../live/links/link-stats-feed.ts';
import type { LiveProject } from '../live/live-project.ts';
import { Presence } from '../live/presence.ts';
import type { NewProject } from '../log/project-log.ts';
import { type ProjectState, readProject, topologyOf } from '../log/project-state.ts';
import { assemble } from '../model/canonical.ts';
import type { ComputeNodeObject } from '../model/node.ts';
import type { ProjectEntry } from '../model/topology.ts';
import { AutoClose } from './auto-close.ts';
import { updateClosed } from './closed-project.ts';
import { EarlyReports } from './early-reports.ts';
import { keepMemory, stopOthers } from './keep-memory.ts';
import type { FrozenProject, ProjectEnvironment, ProjectPlace } from './project-environment.ts';
import { ProjectLifecycle, requireStill, type ShutDown } from './project-lifecycle.ts';
import { projectFileName } from './project-path.ts';

interface Replacement {
  /** No change is under way; the nodes still run. What it throws leaves them running. */
  readonly beforeStop: (live: LiveProject) => Promise<void>;
  /** Replaces the files. */
  readonly whenStopped: () => Promise<void>;
}

interface ProjectOpening {
  readonly again?: boolean;
  readonly isAwaited?: boolean;
  readonly created?: NewProject;
}

export class KnownProject {
  readonly id: string;
  readonly path: string;
  readonly filename: string;
  readonly #forkedFrom: ForkedFrom | undefined;
  /** Notices for listeners of the project. */
  readonly notices = new EventStream<Notice>();
  /** Counters of links, for listeners that request them. */
  readonly linkStats = new LinkStatsFeed(async () => (await this.findLive())?.linkStats.list() ?? []);
  /** Users who have the project open in the page. */
  readonly presence = new Presence();
  readonly #environment: ProjectEnvironment;
  readonly #life = new Mutex();
  readonly #lifecycle: ProjectLifecycle;
  /** Gate of the project's folder: work in the folder passes it, a deletion holds it. */
  readonly #folder = new Gate();
  #isDeleted = false;
  /** Settles when the nodes that continue run: what runs is known then. */
  #resuming = Promise.resolve();
  readonly #early = new EarlyReports(() => this.findLive());
  #entry: ProjectEntry;
  #object: Readonly<ProjectObject> | undefined;
  readonly #autoClose: AutoClose;
  /** Notice for the next listener. */
  #unread: Notice | undefined;

  constructor(entry: ProjectEntry, place: ProjectPlace, environment: ProjectEnvironment) {
    this.id = entry.project_id;
    this.path = place.path;
    this.filename = place.filename;
    this.#forkedFrom = place.forked_from;
    this.#entry = entry;
    this.#environment = environment;
    this.#autoClose = new AutoClose(environment.autoClose.graceMs, () => this.#closeIfIdle());
    const { id, notices } = this;
    const onEntry = (next: ProjectEntry) => this.#updated(next);
    this.#lifecycle = new ProjectLifecycle({ ...place, id, environment, notices, onEntry, onChange: () => this.#changed() });
  }

  get name(): string {
    return this.#entry.name;
  }

  get entry(): ProjectEntry {
    return this.#entry;
  }

  get file(): string {
    return join(this.path, this.filename);
  }

  get isOpen(): boolean {
    return this.#lifecycle.isOpen;
  }

  /** The object of the API, frozen. */
  get object(): Readonly<ProjectObject> {
    if (this.#object) return this.#object;
    const { replicate_link_state, on_close, checkpoint_minutes, checkpoint_bytes, ...entry } = this.#entry;
    this.#object = assemble<ProjectObject>({
      ...entry,
      ...(replicate_link_state && { replicate_link_state }),
      ...(on_close === 'freeze' && { on_close }),
      ...(checkpoint_minutes > 0 && { checkpoint_minutes, checkpoint_bytes }),
      filename: this.filename,
      ...(this.#forkedFrom && { forked_from: this.#forkedFrom }),
      path: this.path,
      status: this.isOpen ? 'opened' : 'closed',
    });
    return this.#object;
  }

  /** The open project; undefined also while it is being opened. */
  get liveNow(): LiveProject | undefined {
    return this.#lifecycle.now;
  }

  /** The open project, once an opening that is under way has ended; undefined when it is closed. */
  findLive(): Promise<LiveProject | undefined> {
    return this.#lifecycle.find();
  }

  /** @throws `project_closed` */
  async live(): Promise<LiveProject> {
    const live = await this.findLive();
    if (!live) throw fault('project_closed', { name: this.name });
    return live;
  }

  /** Does something to the open project; it is not closed or copied meanwhile. @throws `project_closed` */
  change<T>(fn: (live: LiveProject) => Promise<T>): Promise<T> {
    return this.#lifecycle.enter('pass', this.name, fn);
  }

  /** Changes the project while no other change is under way. @throws `project_closed`, `node_moving` */
  changeAlone<T>(fn: (live: LiveProject) => Promise<T>): Promise<T> {
    return this.#lifecycle.enter('hold', this.name, fn);
  }

  /** Does something to the open project as `change` does; nothing happens when it is closed. */
  async whileOpen(fn: (live: LiveProject) => Promise<void>): Promise<void> {
    await this.change(fn).catch((error: unknown) => {
      if (!isFault(error, 'project_closed')) throw error;
    });
  }

  /** Runs something while the project is closed and is not opened; nothing happens when it is open. */
  whileClosed(fn: () => Promise<void>): Promise<void> {
    return this.#life.run(() => (this.isOpen ? undefined : fn()));
  }

  /** Runs what works in the project's folder: it is not deleted meanwhile. @throws `project_not_found` */
  whileThere<T>(fn: () => Promise<T>): Promise<T> {
    return this.#folder.pass(() => {
      this.#requireThere();
      return fn();
    });
  }

  /** State of a node that a compute reports. Ignored when the node is on another compute, and while the project is closed. */
  report(node: ComputeNodeObject, by: RegisteredCompute, run?: RunFacts): void {
    const take = () => {
      const live = this.liveNow;
      if (live?.nodes.find(String(node.node_id))?.compute === by) live.nodes.report(node, run);
    };
    if (this.liveNow && this.#early.isEmpty) take();
    else if (this.isOpen) this.#early.add(take);
  }

  /** Does something while nothing changes; the project file is complete meanwhile. @throws node_moving */
  async freeze<T>(fn: (frozen: FrozenProject) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      const live = this.liveNow;
      if (!live) return fn({ topology: topologyOf(await readProject(this.file)), live });
      requireStill(live);
      return live.gate.hold(async () => {
        await live.writeSnapshot();
        return fn({ topology: live.topology(), live });
      });
    });
  }

  /** Nodes, links and drawings of the closed project as they stand in its file. @throws as `readProject`, `project_not_found` */
  stored(): Promise<ProjectState> {
    // Where it fails, its files may be removed or replaced just now.
    return readProject(this.file).catch(() => this.#inTurn(() => readProject(this.file)));
  }

  /**
   * `again`: it was open when the server ended, and its nodes may be running. `created`: it has just been made, and holds this; where it is
   * not settled, it is new and empty, and listeners know.
   * `isAwaited`: answers when the nodes that ran when it was frozen run.
   * @throws why it cannot be opened; it is closed then
   */
  open({ again = false, isAwaited = false, created }: ProjectOpening = {}): Promise<Readonly<ProjectObject>> {
    return this.#inTurn(async () => {
      if (this.liveNow) return this.object;
      await this.#openNow(created);
      if (created?.settle) {
        if (this.liveNow) void this.#environment.reconciler.follow(this, this.liveNow);
        return this.object;
      }
      this.#environment.announce('project.opened', this);
      if (this.#entry.auto_start && !again) await this.#wantAll();
      if (this.liveNow) void this.resume(this.liveNow);
      if (isAwaited) await this.#resuming;
      return this.object;
    });
  }

  /** Starts the nodes that are wanted, and has them run as they are wanted from then on. Never rejects. */
  resume(live: LiveProject): Promise<void> {
    this.#resuming = this.#environment.reconciler.follow(this, live);
    return this.#resuming;
  }

  /**
   * Stops the nodes, has the files replaced, and opens what is there then. A server that dies meanwhile opens it at its start.
   * @throws project_closed, node_moving, or why it could not be opened again; it is closed then
   */
  replace({ beforeStop, whenStopped }: Replacement): Promise<LiveProject> {
    return this.#life.run(async () => {
      if (this.liveNow) requireStill(this.liveNow);
      if (!(await this.#shutDown({ before: (live) => beforeStop(live).then(() => undefined) })))
        throw fault('project_closed', { name: this.name });
      try {
        await whenStopped();
        const live = await this.#openNow();
        this.#environment.announce('project.opened', this);
        if (this.#entry.auto_start) await this.#wantAll();
        return live;
      } catch (error) {
        await this.#lifecycle.note(false).catch(() => undefined);
        this.#environment.announce('project.closed', this);
        throw error;
      }
    });
  }

  /**
   * Stops the nodes, with `on_close` "freeze" so that they continue when it is opened. Nothing happens when it is closed already.
   * @throws why their memory cannot be kept; it stays open then
   */
  close(): Promise<void> {
    return this.#life.run(async () => {
      const keeps = this.#entry.on_close === 'freeze';
      if (keeps) await this.#resuming;
      if (await this.#close({ keeps })) this.#environment.announce('project.closed', this);
    });
  }

  /** The server is about to end: what is frozen when it is closed is frozen now, and continues with the next server. Never rejects. */
  keep(stopsNodes: boolean): Promise<void> {
    return this.#life.run(async () => {
      const live = this.liveNow;
      if (!live || this.#entry.on_close !== 'freeze') return;
      this.#autoClose.end();
      await this.#resuming;
      await live.gate
        .hold(async () => {
          const kept = await keepMemory(live);
          if (stopsNodes) await stopOthers(live, kept);
        })
        .catch((error: unknown) => this.#environment.log.warn({ err: error }, `the machines of "${this.name}" run on`));
    });
  }

  /** Leaves everything running: the server ends. */
  release(): Promise<void> {
    return this.#life.run(async () => {
      this.#autoClose.end();
      await this.liveNow?.release();
    });
  }

  /** Closes it and has the files removed by `remove`, when nothing works in its folder any more. */
  delete(remove: () => Promise<void>): Promise<void> {
    return this.#folder.hold(() => this.#inTurn(() => this.#delete(remove)));
  }

  update(body: ProjectUpdate): Promise<Readonly<ProjectObject>> {
    return this.#inTurn(async () => {
      const { path, ...fields } = body;
      if (path && path !== this.path) throw fault('path_forbidden', { path, reason: 'the folder of a project cannot be changed' });
      if (fields.name !== undefined) projectFileName(fields.name);
      if (this.liveNow) await this.liveNow.update(fields);
      else await updateClosed(this.file, fields, this.#environment).then((entry) => entry && this.#updated(entry));
      return this.object;
    });
  }

  /** Adds a listener of its notices; returns what removes it. */
  listen(listener: (notice: Notice) => void): () => void {
    const { left } = this.#autoClose.listen();
    const unsubscribe = this.notices.subscribe(listener);
    if (this.#unread) listener(this.#unread);
    this.#unread = undefined;
    return () => {
      unsubscribe();
      left();
    };
  }

  #updated(entry: ProjectEntry): void {
    this.#entry = entry;
    this.#changed();
    this.#environment.announce('project.updated', this);
  }

  #changed(): void {
    this.#object = undefined;
    this.#environment.onChange(this);
  }

  #requireThere(): void {
    if (this.#isDeleted) throw fault('project_not_found', { project_id: this.id });
  }

  /** Opening, closing, copying, deleting: one after the other. @throws `project_not_found` once it is deleted */
  #inTurn<T>(fn: () => Promise<T>): Promise<T> {
    return this.#life.run(() => {
      this.#requireThere();
      return fn();
    });
  }

  /** Writes that all nodes are to run, for `auto_start`. Never rejects. */
  async #wantAll(): Promise<void> {
    const live = this.liveNow;
    await live?.runs.want(live.nodes.all(), 'running', 'auto_start').catch((error: Error) => {
      live.notify('log.error', { message: `The nodes are not started, as that could not be written: ${error.message}` });
    });
  }

  async #openNow(created?: NewProject): Promise<LiveProject> {
    const live = await this.#lifecycle.open(created);
    this.#entry = live.entry;
    this.#changed();
    return live;
  }

  async #shutDown(how: ShutDown): Promise<boolean> {
    this.#autoClose.cancel();
    const wasOpen = await this.#lifecycle.shutDown(how);
    if (wasOpen) this.#unread = undefined;
    return wasOpen;
  }

  async #close({ keeps = false } = {}): Promise<boolean> {
    if (!(await this.#shutDown(keeps ? { before: keepMemory } : {}))) return false;
    await this.#noteClosed();
    return true;
  }

  /** Notes the close. Without the note the project would be opened again at the next start, which loses nothing. */
  async #noteClosed(): Promise<void> {
    await this.#lifecycle
      .note(false)
      .catch((error: unknown) => this.#environment.log.warn({ err: error }, 'the end of a project was not noted'));
  }

  async #delete(remove: () => Promise<void>): Promise<void> {
    // The record of the deletion says that it is not open, and its files are not needed any more.
    const wasOpen = await this.#shutDown({ isForGood: true });
    const { announce, captures } = this.#environment;
    try {
      await remove();
    } catch (error) {
      await this.#noteClosed();
      if (wasOpen) announce('project.closed', this);
      throw error;
    }
    this.#isDeleted = true;
    // An entry that is left over concerns no other project.
    await captures.forget(this.id).catch(() => undefined);
    announce('project.deleted', this);
  }

  /**
   * Running nodes are not stopped because a page was closed, unless that is wanted. Where they cannot be frozen, the project stays open and
   * they run on; the reason is logged, and sent to listeners or to the next one.
   */
  async #closeIfIdle(): Promise<'done' | 'busy' | 'failed'> {
    if (!this.#entry.auto_close || !this.liveNow) return 'done';
    if (this.liveNow.nodes.isRunning && !this.#environment.autoClose.evenRunning) return 'busy';
    try {
      await this.close();
      return 'done';
    } catch (error) {
      const message = `The project "${this.name}" stays open, and its nodes run on. It could not be closed after its last user had left, and the server tries again: ${(error as Error).message}`;
      this.#environment.log.error({ err: error }, message);
      const notice: Notice = { action: 'log.error', event: { message } };
      if (this.#autoClose.hasListeners) this.notices.emit(notice);
      else this.#unread = notice;
      return 'failed';
    }
  }
}
