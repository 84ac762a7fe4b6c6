/**
 * A project while it is open: its nodes, links and drawings, and the log that makes their changes durable. Changes pass the gate;
 * who must have the project stand still (closing, copying) holds it.
 */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import type { EventStream } from '../../lib/event-stream.ts';
import { Gate } from '../../lib/gate.ts';
import type { Log } from '../../lib/log.ts';
import { Mutex } from '../../lib/mutex.ts';
import { mapInTurns } from '../../lib/turns.ts';
import type { Symbols } from '../catalog/symbols.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { toProjectEntry } from '../log/actions/project-rules.ts';
import { type Captured, type NewProject, type OpenedLog, ProjectLog } from '../log/project-log.ts';
import { type ProjectState, topologyOf } from '../log/project-state.ts';
import type { LogRecord, ProjectChange } from '../log/records.ts';
import type { ComputeEntry, LinkEntry, ProjectEntry, Topology } from '../model/topology.ts';
import { isUndoable } from '../model/view-settings.ts';
import type { WantedRun } from '../model/wanted.ts';
import { makingConcurrency } from './bulk.ts';
import type { CaptureStore } from './captures/capture-store.ts';
import { ProjectCaptures } from './captures/project-captures.ts';
import { ComputeAnnouncements, computeSettings } from './compute-announcements.ts';
import { removeUnusedPictures } from './drawings/pictures.ts';
import { ProjectDrawings } from './drawings/project-drawings.ts';
import { noticesOf } from './history/missed-notices.ts';
import { ProjectUndo } from './history/project-undo.ts';
import { ProjectChanges } from './host/project-changes.ts';
import type { NodeInputs, Notice, ProjectContext } from './host/project-context.ts';
import { ProjectNotices } from './host/project-notices.ts';
import { deleteLinksOn } from './links/delete-links.ts';
import { LinkMoves } from './links/link-moves.ts';
import { LinkOperations } from './links/link-operations.ts';
import { LinkRecovery } from './links/link-recovery.ts';
import { LinkSet } from './links/link-set.ts';
import { LinkStatsReader } from './links/link-stats.ts';
import { LinkWiring } from './links/link-wiring.ts';
import { PeerStates } from './links/peer-states.ts';
import { NodeRuns } from './nodes/node-runs.ts';
import { takeOwnSymbolSizes } from './nodes/own-symbol-sizes.ts';
import { ProjectNodes } from './nodes/project-nodes.ts';
import { upgradeFiles } from './upgrade-files.ts';

interface LiveProjectOptions {
  readonly folder: string;
  readonly filename: string;
  readonly computes: Computes;
  readonly captures: CaptureStore;
  readonly nodeInputs: NodeInputs;
  readonly symbols: Symbols;
  readonly version: string;
  readonly log: Log;
  readonly notices: EventStream<Notice>;
  /** Called before the project's nodes are made on their computes. Never rejects. */
  readonly opening: (live: LiveProject) => Promise<void>;
  /** Called when a compute has not answered that it closes the project. */
  readonly notClosedOn: (compute: RegisteredCompute, projectId: string) => void;
  /** The project's own fields were changed. */
  readonly onEntry: (entry: ProjectEntry) => void;
}

/** Notices up to and with that of change `seq`, or why they are not known. */
export type Missed = { readonly seq: number; readonly notices: readonly Notice[] } | 'too_old' | 'unknown' | 'closed';

export class LiveProject {
  readonly projectId: string;
  readonly folder: string;
  readonly computes: Computes;
  readonly nodes: ProjectNodes;
  readonly runs: NodeRuns;
  readonly links: LinkSet;
  readonly linkOperations: LinkOperations;
  readonly linkMoves: LinkMoves;
  readonly linkRecovery: LinkRecovery;
  readonly linkStats: LinkStatsReader;
  readonly captures: ProjectCaptures;
  readonly drawings: ProjectDrawings;
  readonly gate = new Gate();
  readonly undo: ProjectUndo;
  readonly changes: ProjectChanges;
  readonly #incarnation: number;
  readonly #log: ProjectLog;
  readonly #onEntry: LiveProjectOptions['onEntry'];
  /** Changes of the project's own fields, one at a time. */
  readonly #updates = new Mutex();
  readonly #peerStates: PeerStates;
  readonly #serverLog: Log;
  readonly #notices: ProjectNotices;
  /** Computes that the file names; those not registered here are kept in it. */
  readonly #namedComputes: readonly ComputeEntry[];
  /** Ids of all computes that had a node of this project: they may keep folders of deleted nodes. */
  readonly #pastComputes: Set<string>;
  readonly #announcements: ComputeAnnouncements;
  #entry: ProjectEntry;
  /** A clean end: where links' frames went is of no use to the next opening. */
  #forgetPorts = false;

  private constructor({ start, state }: OpenedLog, options: LiveProjectOptions) {
    const log = start(() => this.#capture());
    const { folder, nodeInputs, symbols, computes } = options;
    const { incarnation } = state;
    this.#incarnation = incarnation;
    this.projectId = state.project.project_id;
    this.folder = folder;
    this.computes = computes;
    this.#log = log;
    this.#onEntry = options.onEntry;
    this.#serverLog = options.log;
    this.#entry = state.project;
    this.#namedComputes = state.computes;
    this.#pastComputes = state.pastComputes;
    const notices = new ProjectNotices(options.notices, () => log.seq);
    const changes = new ProjectChanges(folder, log, (change, event, seq) => notices.announce(change, event, seq));
    // Otherwise it is read when it is needed.
    const announced = (compute: RegisteredCompute) => this.runs.list(compute).catch(() => undefined);
    const recorded = new Set(state.pastComputes);
    const announcements = new ComputeAnnouncements({ ...options, entry: () => this.#entry, incarnation, announced, recorded });
    const context: ProjectContext = {
      ...{ projectId: this.projectId, folder, nodeInputs, symbols, computes },
      commit: (change, apply) => changes.commitAll([{ change, apply }]),
      commitAll: (commits) => changes.commitAll(commits),
      notify: (action, event) => notices.notify(action, event),
      announceTo: (compute, { isForgotten } = { isForgotten: false }) => {
        if (isForgotten) this.forgetOn(compute);
        return this.announceTo(compute);
      },
    };
    const links = new LinkSet();
    const wired = {
      replicates: () => this.#entry.replicate_link_state,
      findNode: (nodeId: string) => this.nodes.find(nodeId),
      relay: computes.relay,
    };
    const wiring = new LinkWiring(this.projectId, wired);
    const linkRecovery = new LinkRecovery(context, links, wiring);
    const linkParts = { links, wiring, recovery: linkRecovery };
    const linksOfNodes = {
      endsOn: (nodeId: string) => links.endsOn(nodeId),
      deleteOn: (nodeId: string) => deleteLinksOn(context, linkParts, nodeId),
      connectOn: (nodeId: string) => linkRecovery.connectOn(nodeId),
    };
    const nodes = new ProjectNodes(context, linksOfNodes);
    this.runs = new NodeRuns(context, nodes);
    this.#notices = notices;
    this.changes = changes;
    this.#announcements = announcements;
    this.links = links;
    this.linkRecovery = linkRecovery;
    this.nodes = nodes;
    this.linkMoves = new LinkMoves(linkParts);
    this.linkOperations = new LinkOperations(context, linkParts, nodes);
    this.#peerStates = new PeerStates(linkParts, nodes, () => this.#entry.replicate_link_state);
    this.linkStats = new LinkStatsReader(context, links);
    this.captures = new ProjectCaptures(context, links, nodes, options.captures.of(this.projectId));
    this.drawings = new ProjectDrawings(context);
    this.undo = new ProjectUndo(this);
  }

  /** Reads the project and makes what it holds on the computes. `created`: see `ProjectLog.open`. @throws when file or log cannot be read */
  static async open(options: LiveProjectOptions, created?: NewProject): Promise<LiveProject> {
    const file = join(options.folder, options.filename);
    const onSnapshotFailed = (error: unknown) =>
      options.log.warn({ err: error, file }, `${file} could not be written; its log has all`);
    const opened = await ProjectLog.open(file, { version: options.version, onSnapshotFailed }, created);
    const { state, cutBytes } = opened;
    if (cutBytes > 0)
      options.log.warn({ file }, `the last record of ${file}.log was incomplete and was cut off (${cutBytes} bytes)`);
    const live = new LiveProject(opened, options);
    try {
      // Other programs may still want to read the file as it was.
      if (state.upgradedFrom !== undefined) {
        await copyFile(file, `${file}.backup${state.upgradedFrom}`);
        const { upgradedFrom } = state;
        const lost = await upgradeFiles(options.folder, { file, upgradedFrom, topology: topologyOf(state) });
        if (lost !== undefined) {
          options.log.warn({ file }, lost);
          live.notify('log.warning', { message: `${live.entry.name}: ${lost}` });
        }
      }
      await takeOwnSymbolSizes(state.nodes, options.symbols);
      await live.#restore(state, options);
    } catch (error) {
      await live.#log.close();
      throw error;
    }
    // Where frames of links go now must be known after a crash, or links of running nodes would be interrupted.
    if (!isDeepStrictEqual(live.links.udpPorts(), Object.fromEntries(state.udpPorts)))
      await live.writeSnapshot().catch(onSnapshotFailed);
    else if (state.upgradedFrom !== undefined || live.#log.isAhead) live.writeSnapshot().catch(onSnapshotFailed);
    return live;
  }

  get entry(): ProjectEntry {
    return this.#entry;
  }

  /** Number of the last change. */
  get seq(): number {
    return this.#log.seq;
  }

  /** Returns the current content of the project file. */
  topology(): Topology {
    const used = new Map(this.#namedComputes.map((entry) => [entry.compute_id, entry]));
    for (const { entry } of this.pastComputes()) if (entry) used.set(entry.compute_id, entry);
    return {
      project: this.#entry,
      nodes: this.nodes.entries(),
      links: this.links.entries(),
      drawings: this.drawings.entries(),
      computes: [...used.values()],
    };
  }

  /** Computes that have nodes of this project. */
  usedComputes(): RegisteredCompute[] {
    return [...new Set(this.nodes.entries().map((entry) => entry.compute_id))].flatMap((id) => this.computes.find(id) ?? []);
  }

  /** Computes that have or had nodes of this project: those that may have files of it. */
  pastComputes(): RegisteredCompute[] {
    return [...this.#pastComputes].flatMap((id) => this.computes.find(id) ?? []);
  }

  /** Sends listeners what is not a change of the project. */
  notify(action: string, event: object): void {
    this.#notices.notify(action, event);
  }

  /** Returns the changes after `since`, for a listener that has received everything up to it. */
  async missed(since: number): Promise<Missed> {
    // A change whose notices are being sent counts as over, or the listener would receive them twice.
    this.#notices.flush();
    const { seq } = this;
    if (since > seq) return 'unknown';
    const records = await this.#log.recordsAfter(since);
    if (!records) return 'too_old';
    const notices = await noticesOf(records, this);
    const findNode = (id: string) => this.nodes.find(id)?.object;
    const findLink = (id: string) => this.links.find(id)?.object;
    return { seq, notices: [...notices, ...this.#notices.unlogged.after(since, findNode, findLink)] };
  }

  /** The changes that are remembered, the oldest first. */
  records(): Promise<readonly LogRecord[]> {
    return this.#log.records();
  }

  /** @throws `project_closed`, and what the compute answers */
  announceTo(compute: RegisteredCompute): Promise<void> {
    this.#pastComputes.add(compute.id);
    return this.#announcements.announceTo(compute);
  }

  /** A compute may have lost its state. */
  forgetOn(compute: RegisteredCompute): void {
    this.#announcements.forget(compute);
    this.linkRecovery.forgetOn(compute);
  }

  /** Changes the project's own fields, if they are others; listeners of the controller are notified by `onEntry`. */
  update(fields: object): Promise<void> {
    return this.#updates.run(async () => {
      const was = this.#entry;
      const entry = toProjectEntry(was, fields);
      if (isDeepStrictEqual(entry, was)) return;
      const change: ProjectChange = { action: 'project.updated', event: entry, was, undoable: isUndoable(was, entry) };
      const apply = () => {
        this.#entry = entry;
        this.#onEntry(entry);
        return undefined;
      };
      await this.changes.commitAll([{ change, apply }]);
      await forEachBounded(this.usedComputes(), concurrency, async (compute) => {
        const body = computeSettings(entry, compute);
        if (isDeepStrictEqual(body, computeSettings(was, compute))) return;
        await compute.transport.send('PUT /v2/compute/projects/{project_id}', { path: { project_id: this.projectId }, body });
      });
      if (entry.replicate_link_state !== was.replicate_link_state) this.#peerStates.sendAll();
    });
  }

  /** Keeps a copy of the project's log as an earlier version wrote it. False: this version wrote it. @throws `storage_failed` */
  keepEarlierLog(): Promise<boolean> {
    return this.#log.keepEarlier();
  }

  /** Brings the project file up to date. @throws `storage_failed` */
  writeSnapshot(): Promise<void> {
    return this.#log.writeSnapshot();
  }

  /** Stops what runs and lets go of the computes; files are complete afterwards. Errors of computes are left aside. */
  async shutDown({ stopped = new Set<string>() as ReadonlySet<string>, isForGood = false } = {}): Promise<void> {
    this.#announcements.end();
    await this.captures.close();
    await forEachBounded([...this.nodes.all()], concurrency, (node) =>
      node.live.status === 'stopped' || stopped.has(node.id) || !node.isPresent ? Promise.resolve() : this.runs.halt(node.id),
    );
    await this.#announcements.close();
    for (const { link_id } of this.links.entries()) this.computes.relay.forget(link_id);
    this.#forgetPorts = true;
    if (isForGood) return this.#closeLog();
    await this.#removeUnusedPictures().catch(() => undefined);
    await this.release();
  }

  /** Lets go of the files and leaves everything running: the server ends. */
  async release(): Promise<void> {
    await this.#log
      .writeSnapshot()
      .catch((error: unknown) => this.#serverLog.warn({ err: error }, 'a project file could not be written'));
    await this.#closeLog();
  }

  async #closeLog(): Promise<void> {
    this.#notices.flush();
    await this.#log.close();
  }

  /** A picture stays while undo can restore its drawing. */
  async #removeUnusedPictures(): Promise<void> {
    const used = new Set([...this.drawings.entries().map(({ svg }) => svg), this.#entry.supplier?.logo ?? '']);
    for (const { action, event, was } of await this.records()) {
      if (!action.startsWith('drawing.')) continue;
      for (const drawing of [event, was]) if (drawing && 'svg' in drawing) used.add(String(drawing.svg));
    }
    await removeUnusedPictures(this.folder, used);
  }

  /** Listeners are sent all nodes, links and drawings. */
  async #restore(state: ProjectState, { opening }: Pick<LiveProjectOptions, 'opening'>): Promise<void> {
    const nodes = await mapInTurns(state.nodes.values(), (entry) =>
      this.nodes.add(entry, { wanted: state.wanted.get(entry.node_id), isHalfDeleted: state.deleting.has(entry.node_id) }),
    );
    await opening(this);
    await forEachBounded(nodes, makingConcurrency, (node) => this.nodes.open(node));
    const links = await mapInTurns(state.links.values(), (entry) => this.#addLink(entry) && entry);
    await forEachBounded(links, makingConcurrency, async (entry) => {
      if (!entry) return;
      const { link_id } = entry;
      await this.linkRecovery.restore(link_id, state.udpPorts.get(link_id));
      this.notify('link.created', this.links.get(link_id));
    });
    await this.captures.restore(this.usedComputes());
    await forEachBounded(state.drawings.values(), concurrency, async (entry) => {
      await this.drawings.add(entry);
      this.notify('drawing.created', this.drawings.get(entry.drawing_id));
    });
  }

  #addLink(entry: LinkEntry): boolean {
    const isAdded = this.linkOperations.add(entry);
    if (!isAdded)
      this.notify('log.warning', {
        message: `The link ${entry.link_id} was left out: a node of it does not exist, or a port has another link`,
      });
    return isAdded;
  }

  #capture(): Captured {
    const wanted: Record<string, WantedRun> = {};
    for (const { id, wanted: each } of this.nodes.all()) if (each.generation > 0 || each.move) wanted[id] = each;
    const udpPorts = this.#forgetPorts ? {} : this.links.udpPorts();
    const deleting = this.nodes.deleting;
    return { topology: this.topology(), udpPorts, wanted, deleting, incarnation: this.#incarnation };
  }
}
