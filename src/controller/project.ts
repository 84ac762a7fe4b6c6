/**
 * A known project, open or closed. Closed, only what is listed of it is in memory. Opening, closing and deleting happen one after
 * the other; changes wait for an opening that is under way.
 */
import { join } from 'node:path';
import { fault, isFault } from '../api/faults.ts';
import { EventStream } from '../lib/event-stream.ts';
import { Mutex } from '../lib/mutex.ts';
import type { Project as ProjectObject, ProjectUpdate } from '../schema/project.ts';
import type { Limit } from './bounded.ts';
import { assemble } from './canonical.ts';
import type { Computes } from './computes.ts';
import { LiveProject } from './live-project.ts';
import type { Log } from './log.ts';
import type { ComputeNode } from './node.ts';
import { actOnAll } from './node-batch.ts';
import type { Notice } from './project-host.ts';
import { ProjectLog } from './project-log.ts';
import { projectFileName } from './project-path.ts';
import { type ProjectState, readProject, toProjectEntry, topologyOf } from './project-state.ts';
import type { Registry } from './registry.ts';
import type { Symbols } from './symbols.ts';
import type { ProjectEntry, Topology } from './topology.ts';

export interface ProjectEnvironment {
  readonly computes: Computes;
  readonly registry: Registry;
  readonly configsPath: string;
  readonly symbols: Symbols;
  readonly version: string;
  readonly log: Log;
  /** A server that starts again opens many projects. */
  readonly openings: Limit;
  /** Tells listeners of the controller. */
  readonly announce: (action: string, project: Project) => void;
  /** The object of a project is another one. */
  readonly onChange: () => void;
}
export interface ProjectPlace {
  readonly path: string;
  readonly filename: string;
}
/** A project that stands still. `live` is undefined when it is closed. */
export interface FrozenProject {
  readonly topology: Topology;
  readonly live: LiveProject | undefined;
}

/** How long after the last listener has left `auto_close` closes. Milliseconds. */
const autoCloseMs = 5_000;

export class Project {
  readonly id: string;
  readonly path: string;
  readonly filename: string;
  /** What listeners of the project are told. */
  readonly notices = new EventStream<Notice>();
  readonly #environment: ProjectEnvironment;
  readonly #life = new Mutex();
  #entry: ProjectEntry;
  #object: Readonly<ProjectObject> | undefined;
  #live: LiveProject | undefined;
  #opening: Promise<LiveProject> | undefined;
  #autoClose: NodeJS.Timeout | undefined;

  constructor(entry: ProjectEntry, place: ProjectPlace, environment: ProjectEnvironment) {
    this.id = entry.project_id;
    this.path = place.path;
    this.filename = place.filename;
    this.#entry = entry;
    this.#environment = environment;
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
    return this.#live !== undefined || this.#opening !== undefined;
  }

  /** The object of the API, frozen. */
  get object(): Readonly<ProjectObject> {
    this.#object ??= assemble<ProjectObject>({
      ...this.#entry,
      filename: this.filename,
      path: this.path,
      status: this.isOpen ? 'opened' : 'closed',
    });
    return this.#object;
  }

  /** The open project, once an opening that is under way has ended; undefined when it is closed. */
  async findLive(): Promise<LiveProject | undefined> {
    return this.#opening ? this.#opening.catch(() => undefined) : this.#live;
  }

  /** @throws `project_closed` */
  async live(): Promise<LiveProject> {
    const live = await this.findLive();
    if (!live) throw fault('project_closed', { name: this.name });
    return live;
  }

  /** Does something to the open project; it is not closed or copied meanwhile. @throws `project_closed` */
  async change<T>(fn: (live: LiveProject) => Promise<T>): Promise<T> {
    const live = await this.live();
    return live.gate.pass(async () => {
      if (this.#live !== live) throw fault('project_closed', { name: this.name });
      return fn(live);
    });
  }

  /** A compute tells how a node is. Of no interest while the project is closed or being opened: opening asks. */
  report(node: ComputeNode): void {
    this.#live?.nodes.report(node);
  }

  /** Does something while nothing changes; the project file is complete meanwhile. */
  async freeze<T>(fn: (frozen: FrozenProject) => Promise<T>): Promise<T> {
    return this.#life.run(async () => {
      const live = this.#live;
      if (!live) return fn({ topology: topologyOf(await readProject(this.file)), live });
      return live.gate.hold(async () => {
        await live.writeSnapshot();
        return fn({ topology: live.topology(), live });
      });
    });
  }

  /** Nodes, links and drawings of the closed project as they stand in its file. */
  stored(): Promise<ProjectState> {
    return readProject(this.file);
  }

  /**
   * `again`: it was open when the server ended, and its nodes may be running. `isNew`: it has just been made, listeners know.
   * @throws why it cannot be opened; it is closed then
   */
  open({ again = false, isNew = false } = {}): Promise<Readonly<ProjectObject>> {
    return this.#life.run(async () => {
      if (this.#live) return this.object;
      this.#opening = this.#open();
      this.#changed();
      try {
        this.#live = await this.#opening;
        this.#entry = this.#live.entry;
      } finally {
        this.#opening = undefined;
        this.#changed();
      }
      if (isNew) return this.object;
      this.#environment.announce('project.opened', this);
      if (this.#entry.auto_start && !again) this.#startAll(this.#live);
      return this.object;
    });
  }

  /** Stops the nodes. Nothing happens when it is closed already. */
  close(): Promise<void> {
    return this.#life.run(async () => {
      if (await this.#close()) this.#environment.announce('project.closed', this);
    });
  }

  /** Leaves everything running: the server ends. */
  release(): Promise<void> {
    return this.#life.run(async () => {
      clearTimeout(this.#autoClose);
      await this.#live?.release();
    });
  }

  /** Closes it and has the files removed by `remove`. */
  delete(remove: () => Promise<void>): Promise<void> {
    return this.#life.run(async () => {
      const wasOpen = await this.#close();
      try {
        await remove();
      } catch (error) {
        if (wasOpen) this.#environment.announce('project.closed', this);
        throw error;
      }
      this.#environment.announce('project.deleted', this);
    });
  }

  update(body: ProjectUpdate): Promise<Readonly<ProjectObject>> {
    return this.#life.run(async () => {
      const { path, ...fields } = body;
      if (path && path !== this.path) throw fault('path_forbidden', { path, reason: 'the folder of a project cannot be changed' });
      if (fields.name !== undefined) projectFileName(fields.name);
      const entry = toProjectEntry(this.#entry, fields);
      if (JSON.stringify(entry) === JSON.stringify(this.#entry)) return this.object;
      const object = { ...this.object, ...entry };
      if (this.#live) await this.#live.setEntry(entry, object);
      else await this.#updateClosed(entry, object);
      this.#entry = entry;
      this.#changed();
      this.#environment.announce('project.updated', this);
      return this.object;
    });
  }

  /** Somebody listens to its notices; returns what is to be called when they leave. */
  listen(listener: (notice: Notice) => void): () => void {
    clearTimeout(this.#autoClose);
    const unsubscribe = this.notices.subscribe(listener);
    return () => {
      unsubscribe();
      if (this.notices.listeners > 0 || !this.#entry.auto_close || !this.isOpen) return;
      clearTimeout(this.#autoClose);
      this.#autoClose = setTimeout(() => this.#closeIfIdle(), autoCloseMs).unref();
    };
  }

  #changed(): void {
    this.#object = undefined;
    this.#environment.onChange();
  }

  async #open(): Promise<LiveProject> {
    const { registry: _registry, ...environment } = this.#environment;
    const options = { ...environment, folder: this.path, filename: this.filename, notices: this.notices };
    const live = await environment.openings.run(() => LiveProject.open(options));
    try {
      await this.#register(true);
    } catch (error) {
      await live.shutDown();
      throw error;
    }
    return live;
  }

  async #close(): Promise<boolean> {
    clearTimeout(this.#autoClose);
    const live = this.#live;
    if (!live) return false;
    await live.gate.hold(async () => {
      await live.shutDown();
      this.#live = undefined;
    });
    this.#changed();
    // Without it the project would be opened again at the next start, which loses nothing.
    await this.#register(false).catch((error: unknown) =>
      this.#environment.log.warn({ err: error }, 'the end of a project was not noted'),
    );
    return true;
  }

  async #register(opened: boolean): Promise<void> {
    const { registry } = this.#environment;
    if (registry.get(this.id)?.opened === opened) return;
    try {
      await registry.set(this.id, { path: this.path, filename: this.filename, opened });
    } catch (error) {
      throw fault('storage_failed', { reason: (error as Error).message }, { cause: error });
    }
  }

  async #updateClosed(entry: ProjectEntry, object: object): Promise<void> {
    const { version, log: serverLog } = this.#environment;
    const onSnapshotFailed = (error: unknown) =>
      serverLog.warn({ err: error }, `${this.file} could not be written; its log has all`);
    const { log, state } = await ProjectLog.open(this.file, { version, onSnapshotFailed });
    try {
      log.snapshotFrom(() => ({ topology: topologyOf(state), udpPorts: {} }));
      await log.append({ action: 'project.updated', event: object, was: this.#entry }, () => {
        state.project = entry;
      });
      await log.writeSnapshot().catch(onSnapshotFailed);
    } finally {
      await log.close();
    }
  }

  #startAll(live: LiveProject): void {
    this.change(() => actOnAll(live.nodes, 'start')).catch((error: unknown) => {
      this.notices.emit({ action: 'log.error', event: { message: `Not all nodes could be started: ${(error as Error).message}` } });
      if (!isFault(error)) this.#environment.log.error({ err: error }, 'auto_start failed');
    });
  }

  /** Running nodes are never stopped because a page was closed. */
  #closeIfIdle(): void {
    if (this.notices.listeners > 0 || !this.#live || this.#live.nodes.isRunning) return;
    this.close().catch((error: unknown) => this.#environment.log.error({ err: error }, 'auto_close failed'));
  }
}
