/**
 * Copies of the files of nodes on slices whose disks end with their host: brought up to date when a node stops, also as its project is closed,
 * and every `copy_seconds` while it runs. A node of a lost slice starts elsewhere from its copy.
 *
 * Theory of operation. The journal holds the time of each node's copy, and whether its files may have changed since. That is written when a
 * node starts, so that `kill -9` of the server loses nothing, not even for projects that are closed by then. It also holds the epoch of the
 * slice under which the files were there. A slice with another one may have lost them: the copy is not replaced until they were found there,
 * or given back. Few copies are under way at a time, no request waits for them, and a failed one is retried with growing pauses.
 */
import { mkdir, rename, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { Limit } from '../../lib/bounded.ts';
import { DiskFloor } from '../../lib/disk-floor.ts';
import { DurableMap } from '../../lib/durable-map.ts';
import { sizeOnDisk } from '../../lib/folder-size.ts';
import type { Log } from '../../lib/log.ts';
import { KeyedMutex } from '../../lib/mutex.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { waitAfter } from '../../lib/retry.ts';
import { flag, nullable, object, optional, text, whole } from '../../lib/shape.ts';
import { isUuid } from '../../schema/common.ts';
import { stagingPrefix } from '../../schema/folders.ts';
import type { NodeType } from '../../schema/node.ts';
import type { Settings } from '../../schema/settings.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { ProjectContext, UnmadeNode } from '../live/host/project-context.ts';
import { findKind } from '../model/node.ts';
import { copyTree } from '../projects/copy-tree.ts';
import type { KnownProject } from '../projects/project.ts';
import type { KnownProjects } from '../projects/projects.ts';
import { CopyFolder } from './copy-folder.ts';
import { type CopySource, updateCopy } from './update-copy.ts';

interface NodeCopiesOptions {
  readonly settings: Settings;
  readonly log: Log;
  readonly projects: KnownProjects;
  readonly findCompute: (id: string) => RegisteredCompute | undefined;
  /** Whether files on this compute end with its host. */
  readonly losesFiles: (computeId: string) => boolean;
}

export type NodeCopyEntries = DurableMap<CopyEntry>;

interface SeenNode {
  readonly node_id: string;
  readonly node_type: string;
  readonly compute_id: string;
  readonly status: string;
  readonly project_id: string;
}

/** Most copies under way, each from another compute: one that does not answer holds up its own alone. */
const atOnce = 4;
/** Pause after a failure; twice as long after each further one. */
const pauses = { firstMs: 5_000, longestMs: 600_000 };
const longestTickMs = 10_000;

export class NodeCopies {
  readonly #options: NodeCopiesOptions;
  readonly #entries: NodeCopyEntries;
  readonly #folder: string;
  /** Locks per node, for work in the folder of its copy. */
  readonly #locks = new KeyedMutex();
  /** Locks per compute. */
  readonly #sources = new KeyedMutex();
  readonly #turns = new Limit(atOnce);
  readonly #underWay = new Map<string, Promise<void>>();
  /** Nodes that have run, or stopped, while they were copied: what they wrote may not be in the copy. */
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, { readonly count: number; readonly notBefore: number }>();
  readonly #followed = new Map<string, () => void>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: NodeCopiesOptions, entries: NodeCopyEntries) {
    this.#options = options;
    this.#entries = entries;
    this.#folder = join(options.settings.dataDirectory, 'node-copies');
    this.#noteEpochs();
  }

  static openEntries(stateDirectory: string, warn: (message: string) => void): Promise<NodeCopyEntries> {
    return DurableMap.open<CopyEntry>(join(stateDirectory, 'node-copies.log'), warn, isCopyEntry);
  }

  /** All projects are known now. */
  begin(): void {
    this.#timer = setInterval(() => this.#look(), Math.min(longestTickMs, Math.max(250, this.#intervalMs / 5))).unref();
  }

  /** ISO 8601: the times of its copy, and of the files from which it was started after a loss. */
  describe(nodeId: string): Pick<CopyEntry, 'copied_at' | 'started_from'> {
    const { copied_at = null, started_from = null } = this.#entries.get(nodeId) ?? {};
    return { copied_at, started_from };
  }

  /** A project was made, opened, changed, closed or deleted. */
  follow(action: string, project: KnownProject): void {
    if (this.#isClosed) return;
    if (action === 'project.deleted') {
      this.#forgetProject(project.id);
      return;
    }
    if (!this.#followed.has(project.id)) {
      const listener = ({ action: what, event }: { action: string; event: unknown }) => {
        if (what === 'node.created' || what === 'node.updated') this.#seen(event as SeenNode);
        if (what === 'node.deleted') this.#drop((event as SeenNode).node_id);
      };
      this.#followed.set(project.id, project.notices.subscribe(listener));
    }
    if (action === 'project.updated') return;
    for (const { id: node_id, entry, live } of project.liveNow?.nodes.all() ?? []) {
      const { node_type, compute_id } = entry;
      this.#seen({ node_id, node_type, compute_id, status: live.status, project_id: project.id });
    }
  }

  /**
   * Puts the files of the copy into the project's folder, from which they are sent to the node's next compute. Present files stay.
   * @returns the time of the copy, ISO 8601; null without one. @throws DiskFloorError, and errors of the system
   */
  async place(project: Pick<ProjectContext, 'folder'>, { id, entry: { node_type } }: UnmadeNode): Promise<string | null> {
    const known = this.#entries.get(id);
    const kindFolder = findKind(node_type)?.folder;
    if (!known?.copied_at || kindFolder === undefined) return null;
    return this.#locks.run(id, async () => {
      const folder = this.#folderOf(known.project_id, id);
      const copy = await folder.read();
      if (!copy || copy.files.length === 0) {
        await this.found(id);
        return null;
      }
      const own = join(project.folder, 'project-files', kindFolder, id);
      if (!(await stat(own).catch(() => undefined))) {
        const staged = join(project.folder, `${stagingPrefix}copied-${id}`);
        await removeTree(staged);
        await this.#requireRoom(project.folder, await sizeOnDisk(folder.file('.')));
        await copyTree(folder.file('.'), staged);
        await mkdir(dirname(own), { recursive: true });
        await rename(staged, own);
      }
      const { copied_at } = copy;
      const epoch = this.#epochOf(known.compute_id);
      await this.#set(id, { ...known, epoch, is_lost: false, copied_at, started_from: copied_at });
      return copy.copied_at;
    });
  }

  /** Whether its compute may have lost its files, and has to be given those of the copy. */
  isLost(nodeId: string): boolean {
    const entry = this.#entries.get(nodeId);
    if (!entry || entry.copied_at === null) return false;
    return entry.is_lost || (entry.epoch !== undefined && entry.epoch !== this.#epochOf(entry.compute_id));
  }

  /** Notes that the node's files are at its compute after all. */
  async found(nodeId: string): Promise<void> {
    const entry = this.#entries.get(nodeId);
    if (entry) await this.#set(nodeId, { ...entry, epoch: this.#epochOf(entry.compute_id), is_lost: false });
  }

  /** Nothing more is copied. */
  stop(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const unsubscribe of this.#followed.values()) unsubscribe();
    this.#followed.clear();
  }

  /** Connections to computes are closed by now. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#underWay.values());
    await this.#entries.close();
  }

  /** Completes entries of an earlier version, which marked lost copies and had no epoch. From now on slices may be lost. */
  #noteEpochs(): void {
    for (const [id, entry] of [...this.#entries.entries()]) {
      const epoch = this.#epochOf(entry.compute_id);
      if (entry.epoch === undefined && epoch !== undefined) void this.#set(id, { ...entry, epoch });
    }
  }

  #epochOf(computeId: string): number | undefined {
    return this.#options.findCompute(computeId)?.epoch ?? undefined;
  }

  get #intervalMs(): number {
    return this.#options.settings.Cluster.copy_seconds * 1000;
  }

  #seen({ node_id: id, node_type, compute_id, status, project_id }: SeenNode): void {
    const kind = findKind(node_type as NodeType);
    if (!kind || kind.alwaysRunning || kind.folder === undefined) return;
    const entry = this.#entries.get(id);
    const isMoved = entry !== undefined && entry.compute_id !== compute_id;
    if (!this.#options.losesFiles(compute_id)) {
      if (isMoved) void this.#leave(id, { ...entry, compute_id });
      return;
    }
    const runs = status !== 'stopped';
    if (!entry || isMoved || (runs && !entry.is_due)) {
      const { copied_at = null, started_from = null } = entry ?? {};
      const epoch = !entry || isMoved ? this.#epochOf(compute_id) : entry.epoch;
      const is_lost = !isMoved && (entry?.is_lost ?? false);
      void this.#set(id, { project_id, node_type, compute_id, copied_at, epoch, is_due: true, is_lost, started_from });
    }
    if (this.#underWay.has(id)) this.#again.add(id);
    else if (!runs && this.#entries.get(id)?.is_due) this.#begin(id);
  }

  /** Ends the copies of a node whose files are safe on its present compute. */
  async #leave(id: string, entry: CopyEntry): Promise<void> {
    await this.#removeFolder(id, entry.project_id);
    if (entry.started_from === null) await this.#delete(id);
    else await this.#set(id, { ...entry, copied_at: null, is_due: false, is_lost: false });
  }

  #drop(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    void this.#delete(id).then(() => this.#removeFolder(id, entry.project_id));
  }

  #forgetProject(projectId: string): void {
    this.#followed.get(projectId)?.();
    this.#followed.delete(projectId);
    for (const [id, { project_id }] of [...this.#entries.entries()]) if (project_id === projectId) this.#drop(id);
  }

  #look(): void {
    for (const [id, { project_id, copied_at, is_due }] of this.#entries.entries()) {
      if (!is_due || this.isLost(id) || (this.#failures.get(id)?.notBefore ?? 0) > performance.now()) continue;
      const isRecent = copied_at !== null && Date.now() - Date.parse(copied_at) < this.#intervalMs;
      if (this.#runs(project_id, id) && (this.#intervalMs === 0 || isRecent)) continue;
      this.#begin(id);
    }
  }

  #runs(projectId: string, id: string): boolean {
    const live = this.#options.projects.find(projectId)?.liveNow;
    return (live?.nodes.find(id)?.live.status ?? 'stopped') !== 'stopped';
  }

  #begin(id: string): void {
    if (this.#isClosed || this.#underWay.has(id)) return;
    const computeId = this.#entries.get(id)?.compute_id ?? '';
    const copying = this.#sources.run(computeId, () => this.#turns.run(() => this.#copy(id)));
    this.#underWay.set(
      id,
      copying.finally(() => {
        this.#underWay.delete(id);
        const now = this.#entries.get(id);
        if (this.#again.delete(id) && now?.is_due && !this.#runs(now.project_id, id)) this.#begin(id);
      }),
    );
  }

  /** Never rejects. */
  async #copy(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    const compute = entry && this.#options.findCompute(entry.compute_id);
    if (!entry || this.isLost(id) || !compute?.transport.state.connected || this.#isClosed) return;
    const { project_id, compute_id } = entry;
    const epoch = this.#epochOf(compute_id);
    const project = this.#options.projects.find(project_id);
    // The folder of projects may not be mounted: the copy ends with its node, and not as that is not found.
    if (!project || project.liveNow?.nodes.find(id)?.isMoving) return;
    const ran = this.#runs(project_id, id);
    try {
      const done = await this.#locks.run(id, () => this.#update(id, entry, compute));
      this.#failures.delete(id);
      const now = this.#entries.get(id);
      // The node was deleted or moved meanwhile.
      if (!now || now.compute_id !== compute_id) return;
      const is_due = ran || this.#runs(project_id, id) || this.#again.has(id);
      await this.#set(id, { ...now, epoch, copied_at: done.copiedAt, is_due });
      this.#options.log.debug(`the files of node ${id} were copied: ${done.bytes} bytes were sent`);
    } catch (error) {
      if (!this.#isClosed) this.#failed(id, error as Error);
    }
  }

  async #update(id: string, entry: CopyEntry, compute: RegisteredCompute) {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const folder = this.#folderOf(entry.project_id, id);
    const source = sourceOf(compute, entry, id);
    const { epoch } = compute;
    const list = async () => {
      const files = await source.list();
      // The listed files may be files that were made anew after the slice was lost.
      if (compute.epoch !== epoch) throw new Error('its slice was lost meanwhile');
      return files;
    };
    return updateCopy({ ...source, list }, folder, (bytes) => this.#requireRoom(folder.path, bytes));
  }

  #failed(id: string, error: Error): void {
    const count = (this.#failures.get(id)?.count ?? 0) + 1;
    const pauseMs = waitAfter(pauses, count);
    this.#failures.set(id, { count, notBefore: performance.now() + pauseMs });
    if (count === 3) this.#options.log.warn({ err: error }, `the files of node ${id} cannot be copied`);
  }

  async #requireRoom(folder: string, bytes: number): Promise<void> {
    await mkdir(folder, { recursive: true });
    await new DiskFloor([folder], this.#options.settings.Server.min_free_bytes).check(bytes);
  }

  #folderOf(projectId: string, id: string): CopyFolder {
    if (!isUuid(projectId) || !isUuid(id)) throw new Error(`the node ${id} has no usable id`);
    return new CopyFolder(join(this.#folder, projectId, id));
  }

  #removeFolder(id: string, projectId: string): Promise<void> {
    const removed = this.#locks.run(id, async () => {
      await this.#folderOf(projectId, id).remove();
      // The last one of its project.
      await rmdir(join(this.#folder, projectId)).catch(() => undefined);
    });
    return removed.catch((error: Error) => this.#options.log.warn({ err: error }, `the copy of node ${id} could not be removed`));
  }

  /** Never rejects: what is not on disk is found out again, or copied once more. */
  #set(id: string, entry: CopyEntry): Promise<void> {
    return this.#entries.set(id, entry).catch((error: Error) => this.#options.log.warn({ err: error }, 'a copy was not noted'));
  }

  #delete(id: string): Promise<void> {
    this.#failures.delete(id);
    return this.#entries.delete(id).catch((error: Error) => this.#options.log.warn({ err: error }, 'a copy was not noted'));
  }
}

function sourceOf({ transport }: RegisteredCompute, { project_id, node_type }: CopyEntry, node_id: string): CopySource {
  const place = `/v2/compute/projects/${project_id}/node_copies/${node_type}/${node_id}`;
  const get = async (path: string) => {
    const { body } = await transport.raw('GET', `${place}/${path}`);
    return body instanceof Readable ? body : Readable.from([Buffer.from(body)]);
  };
  return {
    list: () =>
      transport.call('POST /v2/compute/projects/{project_id}/node_copies/{node_type}/{node_id}', {
        path: { project_id, node_type, node_id },
        timeoutMs: 0,
      }),
    hashes: (path, known) => get(`hashes/${known}/${path}`),
    blocks: (path, ranges) => get(`blocks/${ranges}/${path}`),
  };
}

/** Record of a copy of a node's files, which is known without a look at the copy. */
interface CopyEntry {
  readonly project_id: string;
  readonly node_type: string;
  /** Compute that the files are from. */
  readonly compute_id: string;
  /** ISO 8601; null: there is no copy yet. */
  readonly copied_at: string | null;
  /** Epoch of the slice's lease under which the files were there; absent: not known, as an earlier version wrote the entry. */
  readonly epoch?: number | undefined;
  /** The node's files may have changed since they were copied. */
  readonly is_due: boolean;
  /** The files' slice was lost, as a grown `epoch` also says; written by earlier versions. */
  readonly is_lost: boolean;
  /** Time of the copy from which the node began here after its last compute was lost; null: it did not. */
  readonly started_from: string | null;
}

const shape = object({
  project_id: text,
  node_type: text,
  compute_id: text,
  copied_at: nullable(text),
  epoch: optional(whole(0)),
  is_due: flag,
  is_lost: flag,
  started_from: nullable(text),
});

function isCopyEntry(value: unknown): value is CopyEntry {
  return shape.problem(value, 'the copy') === undefined;
}
