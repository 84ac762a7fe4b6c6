/** All known projects: finding them at the start, making, loading and deleting them. */
import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import { concurrency, Limit } from '../../lib/bounded.ts';
import { isReallyBelow, realExisting } from '../../lib/inside.ts';
import { KeyedMutex } from '../../lib/mutex.ts';
import { mapInTurns } from '../../lib/turns.ts';
import { type ProjectCreate, type Project as ProjectObject, projectDefaults } from '../../schema/project.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import { storageFailed } from '../log/project-log.ts';
import { readListed, readProject } from '../log/project-state.ts';
import { canonical } from '../model/canonical.ts';
import type { ProjectEntry } from '../model/topology.ts';
import { forgetElsewhere } from './forget-on-computes.ts';
import { type NewPlace, NewProjectFiles, newTopology, recoverNew, settle } from './new-project.ts';
import { KnownProject } from './project.ts';
import type { ProjectEnvironment, ProjectPlace } from './project-environment.ts';
import { loadablePath, projectFileName, projectFolder } from './project-path.ts';
import { ProjectRemovals } from './project-removals.ts';
import { stagingPrefix } from './registry.ts';

interface ProjectsOptions extends Omit<ProjectEnvironment, 'onChange' | 'openings'> {
  readonly projectsPath: string;
  readonly local: boolean;
  /** Resolves with whether the local compute has closed a project; undefined if it was not asked in vain. */
  readonly closedOnLocal: (projectId: string) => Promise<boolean> | undefined;
}

export class KnownProjects {
  readonly #options: ProjectsOptions;
  readonly #environment: ProjectEnvironment;
  readonly #projects = new Map<string, KnownProject>();
  readonly #names = new ProjectNames<KnownProject>();
  /** Names of projects that are being made. */
  readonly #pending = new Set<string>();
  readonly #making = new KeyedMutex();
  readonly #removals: ProjectRemovals;
  /** Ids of new projects that have a record and are not in `#projects` yet. */
  readonly #recorded = new Set<string>();
  /** Ids of projects whose files could not be read when they were looked for: listed with what is known of them. */
  readonly #damaged = new Set<string>();
  #list: readonly Readonly<ProjectObject>[] | undefined;

  constructor(options: ProjectsOptions) {
    this.#options = options;
    const onChange = (project: KnownProject) => {
      this.#list = undefined;
      if (this.#projects.get(project.id) === project) this.#names.note(project);
    };
    const closeOnLocal = (id: string) => options.notClosedOn(options.computes.local, id);
    this.#removals = new ProjectRemovals({ ...options, closeOnLocal });
    this.#environment = { ...options, onChange, openings: new Limit(concurrency) };
  }

  /** Finds the known projects; opens, without waiting for it, those that were open and those with `auto_open`. */
  async load(): Promise<void> {
    const finishRemovals = await this.#removals.resume();
    await recoverNew(this.#options.registry, this.#options);
    const { found, damaged } = await this.#options.registry.discover({ isStart: true });
    finishRemovals();
    for (const { project, ...place } of found.values()) this.add(project, place);
    for (const { project, ...place } of damaged.values()) this.#addDamaged(project, place);
    void Promise.all(this.#openByThemselves()).then((opened) => {
      if (opened.every(Boolean)) this.#options.reconciler.haveAllMigrated();
    });
  }

  /** Reads the projects folder again: new projects are registered, those whose folder has gone are removed, `auto_open` is applied. */
  async reload(): Promise<void> {
    const { found, damaged } = await this.#options.registry.discover({ isStart: false });
    const wasDamaged = new Set(this.#damaged);
    for (const id of wasDamaged) if (!this.#projects.get(id)?.isOpen && !damaged.has(id)) this.#drop(id);
    const isKnown = (projectId: string) => this.#projects.has(projectId) || this.#recorded.has(projectId);
    for (const [projectId, { project, ...place }] of found) {
      if (isKnown(projectId)) continue;
      this.#environment.announce(wasDamaged.has(projectId) ? 'project.updated' : 'project.created', this.add(project, place));
    }
    for (const [projectId, { project, ...place }] of damaged) {
      if (!isKnown(projectId)) this.#environment.announce('project.created', this.#addDamaged(project, place));
    }
    for (const project of [...this.#projects.values()]) if (!(await isThere(project.path))) await this.#forget(project);
    this.#openByThemselves();
  }

  /** Each resolves with whether it is open. */
  #openByThemselves(): Promise<boolean>[] {
    const isDue = (project: KnownProject, again: boolean) => !project.isOpen && (again || project.entry.auto_open);
    const open = (project: KnownProject, again: boolean) => {
      const failed = (error: Error) => {
        this.#options.log.error({ err: error }, `the project "${project.name}" could not be opened: ${error.message}`);
        return false;
      };
      return project.open({ again }).then(() => true, failed);
    };
    return [...this.#projects.values()].flatMap((project) => {
      const again = this.#options.registry.get(project.id)?.opened === true;
      return isDue(project, again) ? [open(project, again)] : [];
    });
  }

  #forget(project: KnownProject): Promise<void> {
    return project.delete(async () => {
      await this.#removals.forget(project);
      this.#drop(project.id);
    });
  }

  /** Registers a project whose files exist, without a notice. */
  add(entry: ProjectEntry, place: ProjectPlace): KnownProject {
    const project = new KnownProject(entry, place, this.#environment);
    this.#projects.set(project.id, project);
    this.#names.note(project);
    this.#list = undefined;
    return project;
  }

  #addDamaged(entry: ProjectEntry, place: ProjectPlace): KnownProject {
    this.#damaged.add(entry.project_id);
    return this.add(entry, place);
  }

  #drop(projectId: string): void {
    const project = this.#projects.get(projectId);
    if (project) this.#names.forget(project);
    this.#projects.delete(projectId);
    this.#damaged.delete(projectId);
    this.#list = undefined;
  }

  /** Adds a copied or imported project as `add` does, but durably and with a notice. */
  async register(entry: ProjectEntry, place: ProjectPlace): Promise<KnownProject> {
    try {
      await this.#options.registry.set(entry.project_id, { ...place, opened: false });
    } catch (error) {
      throw storageFailed(error);
    }
    const project = this.add(entry, place);
    await this.#options.computes.temporary.keep(entry.project_id);
    this.#environment.announce('project.created', project);
    return project;
  }

  all(): Iterable<KnownProject> {
    return this.#projects.values();
  }

  /** Returns the open projects that have nodes on a remote compute. */
  async openOn(computeId: string): Promise<KnownProject[]> {
    const all = [...this.#projects.values()];
    const live = await Promise.all(all.map((project) => project.findLive()));
    const isUsed = (compute: RegisteredCompute) => compute.id === computeId && !compute.isLocal;
    return all.filter((_project, index) => live[index]?.usedComputes().some(isUsed));
  }

  /** Objects are assembled at first use, in turns: those of 10,000 projects take 60 ms. */
  async list(): Promise<readonly Readonly<ProjectObject>[]> {
    if (this.#list) return this.#list;
    await mapInTurns(this.#projects.values(), (project) => project.object);
    this.#list ??= Object.freeze(Array.from(this.#projects.values(), (project) => project.object));
    return this.#list;
  }

  find(projectId: string): KnownProject | undefined {
    return this.#projects.get(projectId);
  }

  /** @throws `project_not_found` */
  get(projectId: string): KnownProject {
    const project = this.#projects.get(projectId);
    if (!project) throw fault('project_not_found', { project_id: projectId });
    return project;
  }

  /** Gets a project for opening. A project that could not be read is read again, as its file may have been repaired. */
  async getOrReload(projectId: string): Promise<KnownProject> {
    const known = this.get(projectId);
    if (!this.#damaged.has(projectId)) return known;
    const entry = await readListed(known.file);
    const { project_id } = entry;
    const other = project_id === projectId ? undefined : this.#projects.get(project_id);
    if (other) throw fault('project_id_taken', { project_id });
    // Another request may have done the same meanwhile.
    if (!this.#damaged.has(projectId)) return this.get(project_id);
    this.#drop(projectId);
    return this.add(entry, known);
  }

  #isNameTaken(name: string): boolean {
    return this.#pending.has(name) || this.#names.has(name);
  }

  /** The name itself when it is free, else with the smallest number behind it that makes it so. */
  freeName(base: string): string {
    if (!this.#isNameTaken(base)) return base;
    for (let number = 1; ; number++) {
      const name = `${base}-${number}`;
      if (!this.#isNameTaken(name)) return name;
    }
  }

  /** Keeps a name from being given twice while a project is being made. @throws `project_name_taken` */
  async withName<T>(name: string, fn: () => Promise<T>): Promise<T> {
    if (this.#isNameTaken(name)) throw fault('project_name_taken', { name });
    this.#pending.add(name);
    try {
      return await fn();
    } finally {
      this.#pending.delete(name);
    }
  }

  /** Reserves `count` free names, made from `base`, while `fn` runs. */
  async withFreeNames<T>(base: string, count: number, fn: (names: readonly string[]) => Promise<T>): Promise<T> {
    const names: string[] = [];
    try {
      while (names.length < count) {
        const name = this.freeName(base);
        this.#pending.add(name);
        names.push(name);
      }
      return await fn(names);
    } finally {
      for (const name of names) this.#pending.delete(name);
    }
  }

  /** Has one project of an id made at a time. */
  exclusively<T>(projectId: string, fn: () => Promise<T>): Promise<T> {
    return this.#making.run(projectId, fn);
  }

  /**
   * Has one project at a time put into a folder that a client names: each would take it for its own. With `exclusively`, this comes
   * second, so that no two wait for each other.
   */
  async inFolder<T>(folder: string, fn: () => Promise<T>): Promise<T> {
    return this.#making.run(await realExisting(resolve(folder)), fn);
  }

  /** Makes and opens a project; one that has this id already is returned as it is. */
  async create(body: ProjectCreate): Promise<KnownProject> {
    const projectId = body.project_id ?? crypto.randomUUID();
    return this.#making.run(projectId, async () => {
      const existing = this.#projects.get(projectId);
      if (existing) return existing;
      const folder = body.path || (body.project_id && join(this.#options.projectsPath, body.project_id));
      const create = () => this.#create(body, projectId);
      return folder ? this.inFolder(folder, create) : create();
    });
  }

  async #create(body: ProjectCreate, projectId: string): Promise<KnownProject> {
    projectFileName(body.name);
    return this.withName(body.name, async () => {
      const { path: _path, ...fields } = body;
      const entry: ProjectEntry = canonical({ ...projectDefaults, ...fields, project_id: projectId });
      const files = await NewProjectFiles.write(await this.#placeOf(body, projectId), entry, this.#options.version);
      try {
        return await this.#openNew(entry, files);
      } catch (error) {
        await this.#projects
          .get(projectId)
          ?.close()
          .catch(() => undefined);
        this.#drop(projectId);
        // First: a full disk has room for the deletion of the record then.
        await files.remove().catch((cause: unknown) => {
          this.#options.log.warn({ err: cause }, `files of the project ${projectId}, which was not made, could not be removed`);
        });
        await this.#options.registry.discard(projectId);
        throw (error as NodeJS.ErrnoException).code?.startsWith('E') ? storageFailed(error) : error;
      }
    });
  }

  async #openNew(entry: ProjectEntry, files: NewProjectFiles): Promise<KnownProject> {
    const { registry, version } = this.#options;
    const { project_id } = entry;
    const { folder: path, filename } = files.place;
    this.#recorded.add(project_id);
    try {
      const recorded = registry.set(project_id, { path, filename, opened: true, unsettled: entry });
      const revealed = files.isInOwnFolder ? files.reveal() : recorded.then(() => files.reveal());
      // Traces are removed when both are over, also where one fails.
      const failed = (await Promise.allSettled([recorded, revealed])).find(({ status }) => status === 'rejected');
      if (failed) throw (failed as PromiseRejectedResult).reason;
    } finally {
      this.#recorded.delete(project_id);
    }
    const project = this.add(entry, { path, filename });
    await project.open({ created: { topology: newTopology(entry), settle: () => settle(registry, project, version) } });
    this.#environment.announce('project.created', project);
    return project;
  }

  /** Opens a project by its file. For local servers. */
  async loadFile(path: string): Promise<KnownProject> {
    const file = await loadablePath(path, this.#options.local);
    const { project: entry } = await readProject(file);
    const known = this.#projects.get(entry.project_id);
    const project =
      known ?? (await this.withName(entry.name, () => this.register(entry, { path: dirname(file), filename: basename(file) })));
    if (project.file !== file) throw fault('project_file_is_copy', { name: project.name, path: project.path });
    await project.open();
    return project;
  }

  /** A project outside of the projects folder is forgotten: its folder stays, and can be loaded again. @throws `project_delete_failed` */
  async delete(projectId: string): Promise<void> {
    const project = this.get(projectId);
    if (!(await isReallyBelow(this.#options.projectsPath, project.path))) {
      // Written before it is forgotten, with all its nodes stopped.
      await project.close();
      return this.#forget(project);
    }
    const failed = (reason: string) => fault('project_delete_failed', { name: project.name, reason });
    await project.delete(async () => {
      for (const compute of await forgetElsewhere(project, this.#options.computes)) {
        // A full disk keeps files there, and no project from being deleted.
        await this.#options.computes.temporary.leave(projectId, compute).catch(() => undefined);
        this.#options.notClosedOn(compute, projectId);
      }
      if (this.#damaged.has(projectId)) await this.#closeOnLocal(projectId);
      await this.#removals.remove(project).catch((error: Error) => {
        throw failed(error.message);
      });
      this.#drop(projectId);
    });
  }

  /** Waits until the files of deleted projects are removed. */
  close(): Promise<void> {
    return this.#removals.close();
  }

  /** Closes a project on the local compute that could not be opened: its nodes may run since an earlier start. */
  async #closeOnLocal(project_id: string): Promise<void> {
    const { local } = this.#options.computes;
    const closed = local.transport.send('POST /v2/compute/projects/{project_id}/close', { path: { project_id } });
    await closed.catch((error: unknown) => {
      if (!isFault(error, 'project_not_found')) this.#options.notClosedOn(local, project_id);
    });
  }

  /** @throws `path_forbidden`, `project_path_taken` */
  async #placeOf(body: ProjectCreate, projectId: string): Promise<NewPlace> {
    const { local, projectsPath } = this.#options;
    const filename = projectFileName(body.name);
    if (body.path) {
      const folder = await projectFolder(body.path, projectsPath, local);
      if (!body.project_id && (await isThere(folder))) throw fault('project_path_taken', { path: folder });
      return { folder, filename };
    }
    const folder = join(projectsPath, projectId);
    // No folder has the name of an id that was made just now.
    if (body.project_id && (await isThere(folder))) return { folder, filename };
    return { folder, filename, stagingPath: join(projectsPath, `${stagingPrefix}${projectId}`) };
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

interface Named {
  readonly name: string;
}

/** Names of the known projects: of 10,000 projects none is looked at to tell whether a name is free. Projects found on a disk may share one. */
export class ProjectNames<T extends Named> {
  readonly #names = new Map<T, string>();
  readonly #uses = new Map<string, number>();

  has(name: string): boolean {
    return this.#uses.has(name);
  }

  /** Notes the name that a project has now. */
  note(project: T): void {
    if (this.#names.get(project) === project.name) return;
    this.forget(project);
    this.#names.set(project, project.name);
    this.#uses.set(project.name, (this.#uses.get(project.name) ?? 0) + 1);
  }

  forget(project: T): void {
    const name = this.#names.get(project);
    if (name === undefined) return;
    this.#names.delete(project);
    const others = (this.#uses.get(name) ?? 0) - 1;
    if (others > 0) this.#uses.set(name, others);
    else this.#uses.delete(name);
  }
}
