/**
 * The nodes of an open project. Operations on one node run one after the other; those on different nodes run at the same time.
 * Every change: checked, made on the compute, made durable, then it takes effect and is announced; what fails on the way is reverted.
 */
import { isDeepStrictEqual } from 'node:util';
import { fault } from '../../../api/faults.ts';
import { EventStream } from '../../../lib/event-stream.ts';
import { KeyedMutex } from '../../../lib/mutex.ts';
import type { BulkNode, NodePlacement } from '../../../schema/bulk.ts';
import type { NodeCreate, NodeDuplicate, NodeUpdate } from '../../../schema/node.ts';
import type { RunFacts } from '../../../schema/node-runs.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import { canonical } from '../../model/canonical.ts';
import {
  type ComputeNodeObject,
  changedEntry,
  changedProperties,
  createBody,
  kindOf,
  type NodeLive,
  type NodeObject,
  updateBody,
} from '../../model/node.ts';
import { symbolOf } from '../../model/symbol.ts';
import type { NodeEntry } from '../../model/topology.ts';
import { notWanted, type WantedRun } from '../../model/wanted.ts';
import { commitPrepared } from '../host/prepared.ts';
import type { Commit, ProjectContext } from '../host/project-context.ts';
import { warnOfConsole } from './console-warning.ts';
import { type Lenience, unlessLacking, withImages } from './missing-images.ts';
import { checkAbsent, checkDuplicable, type Fill, makeNode, planCopy, planNode, planReturn, restoreKept } from './node-plan.ts';
import { NodeSet } from './node-set.ts';
import { mayPass } from './node-verbs.ts';
import { checkPortsStay, OpenNode } from './open-node.ts';
import { type PlannedNode, type PreparedNode, prepareNode, take } from './prepare-node.ts';
import { sendNodeFiles } from './send-node-files.ts';

/** Operations on links that the nodes of a project need. */
interface LinksOfNodes {
  /** Ports of the node that have a link. */
  readonly endsOn: (nodeId: string) => { adapter: number; port: number }[];
  /** Deletes the links on a node that goes; errors of computes are left aside. @throws `storage_failed` */
  readonly deleteOn: (nodeId: string) => Promise<void>;
  /** The node exists on its compute now: its links that do not are connected. */
  readonly connectOn: (nodeId: string) => Promise<void>;
}

/** Facts of a stored node beside its entry. */
interface StoredBeside {
  readonly wanted?: WantedRun | undefined;
  readonly isHalfDeleted?: boolean;
}

function placeOn({ id }: RegisteredCompute): Pick<NodeEntry, 'compute_id' | 'console'> {
  return { compute_id: id, console: null };
}

export class ProjectNodes extends NodeSet {
  readonly #context: ProjectContext;
  /** Locks per node: one operation at a time, also on the node's ports. */
  readonly locks = new KeyedMutex();
  /** Nodes of which clients are shown something else now. */
  readonly changes = new EventStream<OpenNode>();
  readonly #links: LinksOfNodes;
  /** Ids of nodes whose deletion began and did not end: their computes may keep their files as those of deleted nodes. */
  readonly #halfDeleted = new Set<string>();

  constructor(context: ProjectContext, links: LinksOfNodes) {
    super();
    this.#context = context;
    this.#links = links;
  }

  /** Makes a node; one that has this id already is returned as it is. `fill`: gives it files, before it is stored and announced. */
  async create(body: NodeCreate, fill?: Fill, lenience: Lenience = {}): Promise<NodeObject> {
    const compute = this.#context.computes.resolve(body);
    const nodeId = body.node_id ?? crypto.randomUUID();
    return this.locks.run(nodeId, async () => {
      const existing = this.find(nodeId);
      if (existing) return existing.object;
      kindOf(body.node_type);
      const name = this.names.allocate(body.name);
      const wanted = { ...body, compute_id: compute.id, node_id: nodeId };
      const plan = () => planNode(this.#context, compute, wanted, { name, fill });
      return this.#makeNamed(compute, name, plan, fill === undefined ? lenience : {});
    });
  }

  /** Nodes whose deletion has begun and is not recorded. */
  get deleting(): string[] {
    return [...this.#halfDeleted].filter((id) => this.find(id));
  }

  /** Makes a new node on its compute; its lock is held. `fill` as for `create`. @throws `node_id_taken` and why it cannot be made */
  async prepare(
    { ref: _ref, warm_template: _warm, ...body }: BulkNode & { node_id: string },
    fill?: Fill,
    lenience: Lenience = {},
  ): Promise<PreparedNode> {
    const compute = this.#context.computes.resolve(body);
    if (this.find(body.node_id)) throw fault('node_id_taken', { node_id: body.node_id });
    kindOf(body.node_type);
    const name = this.names.allocate(body.name);
    const plan = () => planNode(this.#context, compute, { ...body, compute_id: compute.id }, { name, fill });
    return this.#prepare(compute, name, plan, fill === undefined ? lenience : {});
  }

  /** Makes a copy of a node that does not run, files included and links not. Where the node lacks something, the copy lacks it, too. */
  duplicate(nodeId: string, place: NodeDuplicate): Promise<NodeObject> {
    return this.withNode(nodeId, async (source) => {
      checkDuplicable(source);
      const compute = source.requireCompute();
      if (!source.isPresent) await this.place(source).catch(unlessLacking);
      const name = this.names.allocate(source.entry.name);
      const node_id = crypto.randomUUID();
      const plan = () => planCopy(source, { node_id, place, name, folder: this.#context.folder });
      return this.locks.run(node_id, () => this.#makeNamed(compute, name, plan, { mayLack: !source.isPresent }));
    });
  }

  update(nodeId: string, body: NodeUpdate): Promise<NodeObject> {
    return this.withNode(nodeId, async (node) => {
      const before = node.entry;
      const name = body.name === undefined ? before.name : this.names.allocate(body.name, before.name);
      return this.renaming(node, name, async () => {
        const size = body.symbol === undefined ? before : await this.#context.symbols.sizeOfNode(symbolOf(body.symbol));
        await this.#change(node, changedEntry(before, body, name, size), changedProperties(before, body));
      });
    });
  }

  /** A node at another place; its lock is held. Undefined when nothing changes. @throws `node_not_found` */
  preparePlacement({ node_id, label, ...place }: NodePlacement): Commit | undefined {
    const node = this.get(node_id);
    const { entry } = node;
    const placed = canonical<NodeEntry>({ ...entry, ...place, ...(label && { label: { ...label, text: entry.name } }) });
    return isDeepStrictEqual(placed, entry) ? undefined : this.#updateCommit(node, placed, true);
  }

  /** Reapplies these stored values to a node. @throws `undo_conflict` when its name is another node's */
  reapply(nodeId: string, { properties = {}, ...fields }: Partial<NodeEntry>): Promise<void> {
    return this.withNode(nodeId, async (node) => {
      const before = node.entry;
      const { name } = fields;
      if (name !== undefined) this.reserve(name);
      await this.renaming(node, name ?? before.name, async () => {
        await this.#change(node, canonical({ ...before, ...fields }), changedProperties(before, { properties }));
      });
    });
  }

  /**
   * A deleted node comes back as it was, be it without its image. `isKept`: also when its compute cannot make it now.
   * @throws `node_id_taken`, `undo_conflict`, `compute_not_found`
   */
  restore(entry: NodeEntry, { isKept = false }: Lenience = {}): Promise<void> {
    return this.locks.run(entry.node_id, async () => {
      if (this.find(entry.node_id)) throw fault('node_id_taken', { node_id: entry.node_id });
      const compute = this.#context.computes.get(entry.compute_id);
      this.reserve(entry.name);
      const plan = () => planReturn(this.#context, compute, entry);
      const prepared = await this.#prepare(compute, entry.name, plan, { isKept, mayLack: true });
      const { node } = prepared;
      // The files are with those of deleted nodes until its compute can make it.
      if (!node.isPresent) await this.#markDeleting(node.id).catch((error) => prepared.revert().then(() => Promise.reject(error)));
      await commitPrepared(this.#context, [prepared]);
      if (!node.isPresent) this.changes.emit(node);
      warnOfConsole(this.#context, { ...entry, console: prepared.result().console }, entry.console);
    });
  }

  delete(nodeId: string): Promise<void> {
    return this.withNode(nodeId, async (node) => {
      if (node.entry.locked) throw fault('node_locked', { name: node.entry.name });
      await this.#markDeleting(nodeId);
      // A compute that is away would refuse the node when its links are gone.
      await node.compute?.transport.connect();
      await this.#links.deleteOn(nodeId);
      if (node.compute) await node.deleteOnCompute({ keepFiles: true });
      try {
        await this.#context.commit({ action: 'node.deleted', event: node.entry, was: node.entry, undoable: true }, () => {
          this.remove(node);
          this.#halfDeleted.delete(nodeId);
          return node.object;
        });
      } catch (error) {
        await this.place(node).catch((reason: Error) => this.#noteUnusable(node, reason, 'node.updated'));
        throw error;
      }
    });
  }

  async resetConsole(nodeId: string): Promise<void> {
    await this.withNode(nodeId, (node) => node.transport.send(`POST ${node.route}/console/reset`, node.request));
  }

  /** Takes a node up that stands in the project file. It stays when it cannot be made on its compute; listeners are sent the reason. */
  add(entry: NodeEntry, { wanted = notWanted, isHalfDeleted = false }: StoredBeside = {}): OpenNode {
    const node = new OpenNode(this.#context.projectId, this.computeOf(entry), entry);
    node.wanted = wanted;
    node.isPresent = false;
    if (isHalfDeleted) this.#halfDeleted.add(node.id);
    this.names.reserve(entry.name);
    this.put(node);
    return node;
  }

  /** Undefined when it is not registered here. */
  computeOf(entry: NodeEntry): RegisteredCompute | undefined {
    return this.#context.computes.find(entry.compute_id);
  }

  /** Makes it on its compute. Listeners are sent `action`, and why it cannot be used when that is so. */
  open(node: OpenNode, action = 'node.created'): Promise<void> {
    const place = async () => {
      if (this.find(node.id) !== node) return;
      kindOf(node.entry.node_type);
      await this.place(node, action);
    };
    return this.locks.run(node.id, () => place().catch((error: Error) => this.#noteUnusable(node, error, action)));
  }

  /** Notes why a node cannot be used; it is made later when the reason may pass. */
  #noteUnusable(node: OpenNode, error: Error, action: string): void {
    this.#context.notify('log.error', { message: `Node ${node.entry.name} is not usable: ${error.message}` });
    this.setProblem(node, { problem: error.message, isUnmade: mayPass(error) }, action);
  }

  /** Nothing of its compute runs any more. */
  ended(node: OpenNode): void {
    node.run = { ...node.run, ending: 'lost' };
    if (node.live.status !== 'stopped' && node.setLive({ ...node.live, status: 'stopped' })) this.#announce(node);
  }

  /** Shows why it cannot be used, or waits; undefined: that is over. */
  setProblem(node: OpenNode, why: Partial<Pick<OpenNode, 'isUnmade' | 'problem' | 'waitCause'>>, action = 'node.updated'): void {
    Object.assign(node, why);
    this.#announce(node, action);
  }

  /** Puts a node onto another compute, where `open` makes it. Nothing else is done with it from the begin of `prepare` on. */
  move(nodeId: string, compute: RegisteredCompute, prepare: (node: OpenNode) => Promise<void>): Promise<void> {
    return this.withNode(nodeId, async (node) => {
      node.isMoving = true;
      try {
        await prepare(node);
        await this.#commitUpdated(node, canonical<NodeEntry>({ ...node.entry, ...placeOn(compute) }));
        node.compute = compute;
        node.run = undefined;
        node.isPresent = false;
      } finally {
        node.isMoving = false;
      }
    });
  }

  /** The node as it is to be on another compute, made there; it still runs on its own. @throws why it cannot be made there */
  async makeElsewhere(node: OpenNode, compute: RegisteredCompute): Promise<OpenNode> {
    const arriving = new OpenNode(node.projectId, compute, canonical<NodeEntry>({ ...node.entry, ...placeOn(compute) }));
    take(arriving, await makeNode(this.#context, arriving, () => arriving.createOnCompute()));
    return arriving;
  }

  /** A node whose machine is on another compute now. */
  relocation(node: OpenNode, compute: RegisteredCompute, state: { entry: NodeEntry; live: NodeLive }): Commit {
    const { change, apply } = this.#updateCommit(node, state.entry, false);
    return {
      change,
      apply: () => {
        node.compute = compute;
        node.run = undefined;
        node.setLive(state.live);
        return apply();
      },
    };
  }

  /** State of a node that its compute reports: the status takes effect at once; other differences are read again under the node's lock. */
  report(answer: ComputeNodeObject, run?: RunFacts): void {
    const node = this.find(String(answer.node_id));
    if (!node) return;
    node.run = run ?? node.run;
    if (node.mergeLive(answer)) this.#announce(node);
    else if (run) this.changes.emit(node);
    if (node.merged(answer).entry === node.entry) return;
    const reconcile = async () => {
      if (this.find(node.id) === node && node.isPresent && node.merged(answer).entry !== node.entry)
        await this.refresh(node, () => node.read());
    };
    this.locks.run(node.id, reconcile).catch(() => undefined);
  }

  /** Marks a node before the record is written: a log that begins anew at any moment has it, too. */
  async #markDeleting(nodeId: string): Promise<void> {
    this.#halfDeleted.add(nodeId);
    await this.#context.commit({ action: 'node.deleting', event: { node_id: nodeId }, was: null }, () => undefined);
  }

  /** Makes a node on its compute; its name is reserved already. What fails on the way is reverted. */
  async #makeNamed(compute: RegisteredCompute, name: string, plan: PlannedNode['plan'], lenience?: Lenience): Promise<NodeObject> {
    const prepared = await this.#prepare(compute, name, plan, lenience);
    await commitPrepared(this.#context, [prepared]);
    return prepared.result();
  }

  #prepare(compute: RegisteredCompute, name: string, plan: PlannedNode['plan'], lenience?: Lenience): Promise<PreparedNode> {
    const home = { names: this.names, put: (node: OpenNode) => this.put(node) };
    return prepareNode(this.#context, home, { compute, name, plan, ...(lenience && { lenience }) });
  }

  /** Does something to a node while nothing else does. @throws `node_not_found` */
  withNode<T>(nodeId: string, fn: (node: OpenNode) => Promise<T>): Promise<T> {
    this.get(nodeId);
    return this.locks.run(nodeId, () => fn(this.get(nodeId)));
  }

  /** Creates the node on its compute, or adopts it there. The status shown is stale while `problem` is set. */
  async place(node: OpenNode, action = 'node.updated'): Promise<void> {
    const { console } = node.entry;
    const create = async () => {
      await this.#context.nodeInputs.restoreFiles(this.#context, node);
      await sendNodeFiles(this.#context.folder, node);
      const made = await node.createOnCompute();
      if (this.#halfDeleted.has(node.id)) await restoreKept(node);
      this.#halfDeleted.delete(node.id);
      return made;
    };
    await this.refresh(node, () => makeNode(this.#context, node, create), action);
    warnOfConsole(this.#context, node.entry, console);
    if (node.problem !== undefined) this.setProblem(node, { problem: undefined, isUnmade: false }, action);
    await this.#links.connectOn(node.id);
  }

  /** Merges the compute's answer. */
  async refresh(node: OpenNode, ask: () => Promise<ComputeNodeObject | undefined>, action = 'node.updated'): Promise<void> {
    const { entry, live } = await node.stateAfter(ask);
    const isOther = node.setLive(live);
    if (entry !== node.entry) await this.#commitUpdated(node, entry);
    else if (isOther) this.#announce(node, action);
  }

  async #change(node: OpenNode, wanted: NodeEntry, properties: Record<string, unknown>): Promise<void> {
    const before = node.entry;
    const completed = canonical<NodeEntry>({ ...wanted, properties: { ...wanted.properties, ...properties } });
    checkPortsStay(node, completed, this.#links.endsOn(node.id));
    const body = updateBody(before, wanted, properties);
    if (body && !node.isPresent) await checkAbsent(node, body);
    const sent = node.isPresent ? body : undefined;
    const after = sent ? await this.#updateOnCompute(node, wanted, sent) : completed;
    if (isDeepStrictEqual(after, before)) return;
    await this.#commitUpdated(node, after, { undoable: true }).catch(async (error: unknown) => {
      const { node_id: _id, ...old } = createBody(before);
      if (sent) await node.update(old).catch(() => undefined);
      throw error;
    });
  }

  #announce(node: OpenNode, action = 'node.updated'): void {
    this.changed();
    this.#context.notify(action, node.object);
    this.changes.emit(node);
  }

  async #updateOnCompute(node: OpenNode, wanted: NodeEntry, sent: Record<string, unknown>): Promise<NodeEntry> {
    const { entry, live } = await node.stateAfter(() => withImages(this.#context, node, () => node.update(sent), sent), sent);
    node.setLive(live);
    return canonical({ ...wanted, console: entry.console, console_type: entry.console_type, properties: entry.properties });
  }

  /** `undoable`: a client asked for it; otherwise it follows from an answer of the compute. */
  #commitUpdated(node: OpenNode, entry: NodeEntry, { undoable = false } = {}): Promise<void> {
    return this.#context.commitAll([this.#updateCommit(node, entry, undoable)]);
  }

  #updateCommit(node: OpenNode, entry: NodeEntry, undoable: boolean): Commit {
    const apply = () => {
      this.setEntry(node, entry);
      this.changed();
      this.changes.emit(node);
      return node.object;
    };
    return { change: { action: 'node.updated', event: entry, was: node.entry, undoable }, apply };
  }
}
