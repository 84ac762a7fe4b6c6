/**
 * Whether a project is open: closed, being opened, or open. Its opener sees to it that it is opened and closed one after the other; who
 * asks meanwhile waits for an opening that is under way.
 */
import { fault } from '../../api/faults.ts';
import type { EventStream } from '../../lib/event-stream.ts';
import type { Notice } from '../live/host/project-host.ts';
import { LiveProject } from '../live/live-project.ts';
import type { ProjectEntry } from '../model/topology.ts';
import type { ProjectEnvironment, ProjectPlace } from './project-environment.ts';

export interface OpeningParts extends ProjectPlace {
  readonly id: string;
  readonly environment: ProjectEnvironment;
  readonly notices: EventStream<Notice>;
  /** The project's own fields are others now. */
  readonly onEntry: (entry: ProjectEntry) => void;
  /** It is open, or closed, and was not. */
  readonly onChange: () => void;
}

export class ProjectOpening {
  readonly #parts: OpeningParts;
  #live: LiveProject | undefined;
  #opening: Promise<LiveProject> | undefined;

  constructor(parts: OpeningParts) {
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#live !== undefined || this.#opening !== undefined;
  }

  /** Undefined also while it is being opened. */
  get now(): LiveProject | undefined {
    return this.#live;
  }

  /** The open project, once an opening that is under way has ended; undefined when it is closed. */
  async find(): Promise<LiveProject | undefined> {
    return this.#opening ? this.#opening.catch(() => undefined) : this.#live;
  }

  /** Opens what is in the files. @throws why it cannot be opened; it is closed then */
  async open(): Promise<LiveProject> {
    this.#opening = this.#open();
    this.#parts.onChange();
    try {
      this.#live = await this.#opening;
      return this.#live;
    } finally {
      this.#opening = undefined;
      this.#parts.onChange();
    }
  }

  /** Stops the nodes when nobody changes anything any more. Returns whether it was open. */
  async shutDown(): Promise<boolean> {
    const live = this.#live;
    if (!live) return false;
    await live.gate.hold(async () => {
      await live.shutDown();
      this.#live = undefined;
    });
    this.#parts.onChange();
    return true;
  }

  /** Remembers it for the next start. */
  note(opened: boolean): Promise<void> {
    const { id, path, filename, environment } = this.#parts;
    return environment.registry.note(id, { path, filename, opened });
  }

  /** Does something to the open project while it is open, with others (`pass`) or alone (`hold`). @throws `project_closed` */
  async enter<T>(how: 'pass' | 'hold', name: string, fn: (live: LiveProject) => Promise<T>): Promise<T> {
    const live = await this.find();
    if (!live) throw fault('project_closed', { name });
    return live.gate[how](async () => {
      if (this.#live !== live) throw fault('project_closed', { name });
      return fn(live);
    });
  }

  async #open(): Promise<LiveProject> {
    const { path: folder, filename, notices, onEntry } = this.#parts;
    const { registry: _registry, ...environment } = this.#parts.environment;
    await environment.restores.settle(folder);
    const live = await environment.openings.run(() => LiveProject.open({ ...environment, folder, filename, notices, onEntry }));
    try {
      await this.note(true);
    } catch (error) {
      await live.shutDown();
      throw error;
    }
    return live;
  }
}
