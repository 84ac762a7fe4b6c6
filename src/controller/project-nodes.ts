/**
 * The nodes of an open project. Whatever concerns one node happens one after the other; different nodes go at the same time.
 * Every change: checked, made on the compute, made durable, then it takes effect and is told; what fails on the way is taken back.
 */
import { isDeepStrictEqual } from 'node:util';
import { fault, isFault } from '../api/faults.ts';
import { KeyedMutex } from '../lib/mutex.ts';
import type { NodeCreate, NodeDuplicate, NodeUpdate } from '../schema/node.ts';
import { canonical } from './canonical.ts';
import type { Compute } from './compute.ts';
import { Names } from './names.ts';
import {
  type ComputeNode,
  changedEntry,
  changedProperties,
  createBody,
  findKind,
  kindOf,
  type NodeObject,
  updateBody,
} from './node.ts';
import { checkDuplicable, type NodePlan, planCopy, planNode } from './node-plan.ts';
import { checkPortsStay, OpenNode } from './open-node.ts';
import type { LinksOfNodes, ProjectHost } from './project-host.ts';
import { deletingAction } from './project-state.ts';
import { symbolOf } from './symbols.ts';
import type { NodeEntry } from './topology.ts';

export type NodeAction = 'start' | 'stop' | 'suspend' | 'reload';

export class ProjectNodes {
  readonly #host: ProjectHost;
  readonly #nodes = new Map<string, OpenNode>();
  readonly #names = new Names();
  /** One thing at a time for each node; shared with whoever works on its ports. */
  readonly locks = new KeyedMutex();
  #links: LinksOfNodes | undefined;
  #list: readonly NodeObject[] | undefined;

  constructor(host: ProjectHost) {
    this.#host = host;
  }

  connect(links: LinksOfNodes): void {
    this.#links = links;
  }

  get size(): number {
    return this.#nodes.size;
  }

  list(): readonly NodeObject[] {
    this.#list ??= Object.freeze([...this.#nodes.values()].map((node) => node.object));
    return this.#list;
  }

  all(): Iterable<OpenNode> {
    return this.#nodes.values();
  }

  ids(): string[] {
    return [...this.#nodes.keys()];
  }

  find(nodeId: string): OpenNode | undefined {
    return this.#nodes.get(nodeId);
  }

  /** @throws `node_not_found` */
  get(nodeId: string): OpenNode {
    const node = this.#nodes.get(nodeId);
    if (!node) throw fault('node_not_found', { node_id: nodeId });
    return node;
  }

  entries(): NodeEntry[] {
    return Array.from(this.#nodes.values(), (node) => node.entry);
  }

  /** Whether a node with a process of its own runs. */
  get isRunning(): boolean {
    for (const { entry, live } of this.#nodes.values()) {
      if (live.status !== 'stopped' && !findKind(entry.node_type)?.alwaysRunning) return true;
    }
    return false;
  }

  /** Makes a node; one that has this id already is returned as it is. */
  async create(body: NodeCreate): Promise<NodeObject> {
    const compute = this.#host.computes.get(body.compute_id);
    const nodeId = body.node_id ?? crypto.randomUUID();
    return this.locks.run(nodeId, async () => {
      const existing = this.#nodes.get(nodeId);
      if (existing) return existing.object;
      kindOf(body.node_type);
      return this.#make(compute, body.name, (name) => planNode(this.#host, compute, { ...body, node_id: nodeId }, name));
    });
  }

  /** Makes a copy of a node that does not run, files included and links not. */
  duplicate(nodeId: string, place: NodeDuplicate): Promise<NodeObject> {
    return this.#withNode(nodeId, async (source) => {
      checkDuplicable(source);
      if (!source.isPresent) await this.#place(source);
      return this.#make(source.requireCompute(), source.entry.name, (name) => planCopy(source, place, name));
    });
  }

  update(nodeId: string, body: NodeUpdate): Promise<NodeObject> {
    return this.#withNode(nodeId, async (node) => {
      const name = body.name === undefined ? node.entry.name : this.#names.allocate(body.name, node.entry.name);
      const before = node.entry;
      try {
        const size = body.symbol === undefined ? before : await this.#host.symbols.sizeOfNode(symbolOf(body.symbol));
        const wanted = changedEntry(before, body, name, size);
        const properties = changedProperties(before, body);
        const completed = canonical<NodeEntry>({ ...wanted, properties: { ...wanted.properties, ...properties } });
        checkPortsStay(node, completed, this.#links?.endsOn(nodeId) ?? []);
        const told = node.isPresent ? updateBody(before, wanted, properties) : undefined;
        const after = told ? await this.#updateOnCompute(node, wanted, told) : completed;
        if (!isDeepStrictEqual(after, before)) {
          await this.#commitUpdated(node, after).catch(async (error: unknown) => {
            const { node_id: _id, ...old } = createBody(before);
            if (told) await node.update(old).catch(() => undefined);
            throw error;
          });
        }
      } catch (error) {
        if (name !== before.name) this.#names.release(name);
        throw error;
      }
      if (name !== before.name) this.#names.release(before.name);
      return node.object;
    });
  }

  delete(nodeId: string): Promise<void> {
    return this.#withNode(nodeId, async (node) => {
      if (node.entry.locked) throw fault('node_locked', { name: node.entry.name });
      await this.#host.commit({ action: deletingAction, event: { node_id: nodeId }, was: null }, () => undefined);
      await this.#links?.deleteOn(nodeId);
      if (node.compute) {
        await node.deleteOnCompute().catch((error: unknown) => {
          if (!isNotThere(error)) throw error;
        });
      }
      const event = node.object;
      try {
        await this.#host.commit({ action: 'node.deleted', event, was: node.entry }, () => {
          this.#nodes.delete(nodeId);
          this.#names.release(node.entry.name);
          this.#list = undefined;
          return event;
        });
      } catch (error) {
        await this.#place(node).catch(() => undefined);
        throw error;
      }
    });
  }

  /** Starts, stops, … a node and returns it as it is then. */
  act(nodeId: string, action: NodeAction, body: unknown = {}): Promise<NodeObject> {
    return this.#withNode(nodeId, async (node) => {
      if (action === 'reload' && !kindOf(node.entry.node_type).can.reload) {
        throw fault('compute_route_missing', { request: `POST …/nodes/${nodeId}/reload` });
      }
      if (!node.isPresent && action === 'stop') return node.object;
      if (!node.isPresent) await this.#place(node);
      let answer: ComputeNode | undefined;
      try {
        answer = await node.act(action, body);
      } catch (error) {
        if (action !== 'stop') throw error;
        this.#host.notify('log.error', { message: `Node ${node.entry.name} could not be stopped: ${(error as Error).message}` });
      }
      await this.#refresh(node, answer);
      return node.object;
    });
  }

  /** Has the compute do what changes nothing that the project holds. @throws `compute_route_missing` for kinds that cannot */
  async relay(nodeId: string, verb: 'console/reset' | 'resize_disk', body: unknown = {}): Promise<void> {
    await this.#withNode(nodeId, (node) => node.act(verb, body));
  }

  /** Takes a node up that stands in the project file. It stays when it cannot be made on its compute; listeners are told why. */
  add(entry: NodeEntry): OpenNode {
    const node = new OpenNode(this.#host.projectId, this.#host.computes.find(entry.compute_id), entry);
    node.isPresent = false;
    this.#nodes.set(node.id, node);
    this.#names.reserve(entry.name);
    this.#list = undefined;
    return node;
  }

  restore(node: OpenNode): Promise<void> {
    return this.locks.run(node.id, async () => {
      try {
        kindOf(node.entry.node_type);
        await this.#place(node);
      } catch (error) {
        this.#host.notify('log.error', { message: `Node ${node.entry.name} is not usable: ${(error as Error).message}` });
      }
    });
  }

  /** What a compute says of a node: status at once; other differences are asked for again when nothing else is done with the node. */
  report(answer: ComputeNode): void {
    const node = this.#nodes.get(String(answer.node_id));
    if (!node) return;
    if (node.mergeLive(answer)) this.#told(node);
    if (node.merged(answer).entry === node.entry) return;
    const reconcile = async () => {
      if (this.#nodes.get(node.id) === node && node.isPresent && node.merged(answer).entry !== node.entry)
        await this.#refresh(node);
    };
    this.locks.run(node.id, reconcile).catch(() => undefined);
  }

  /** Makes a node on its compute under a name of its own; what fails on the way is taken back. */
  async #make(compute: Compute, base: string, plan: (name: string) => NodePlan | Promise<NodePlan>): Promise<NodeObject> {
    const name = this.#names.allocate(base);
    let node: OpenNode | undefined;
    try {
      const planned = await plan(name);
      node = planned.node;
      node.isPresent = false;
      await this.#host.ensureOn(compute);
      this.#take(node, await planned.create());
      await this.#commitCreated(node);
      return node.object;
    } catch (error) {
      this.#names.release(name);
      if (node?.isPresent) await node.deleteOnCompute().catch(() => undefined);
      throw error;
    }
  }

  #withNode<T>(nodeId: string, fn: (node: OpenNode) => Promise<T>): Promise<T> {
    this.get(nodeId);
    return this.locks.run(nodeId, () => fn(this.get(nodeId)));
  }

  /** Makes a node of the file on its compute, or finds it there. */
  async #place(node: OpenNode): Promise<void> {
    await this.#host.ensureOn(node.requireCompute());
    await this.#refresh(node, await node.createOnCompute(createBody(node.entry)));
    await this.#links?.rewire(node.id);
  }

  /** Merges what the compute says; it is asked when it has not said anything. */
  async #refresh(node: OpenNode, answer?: ComputeNode): Promise<void> {
    const { entry, live } = node.merged(answer ?? (await node.read()));
    const isOther = node.setLive(live);
    if (entry !== node.entry) await this.#commitUpdated(node, entry);
    else if (isOther) this.#told(node);
  }

  #told(node: OpenNode): void {
    this.#list = undefined;
    this.#host.notify('node.updated', node.object);
    this.#links?.nodeChanged(node);
  }

  #take(node: OpenNode, answer: ComputeNode): void {
    const { entry, live } = node.merged(answer);
    node.setEntry(entry);
    node.setLive(live);
  }

  async #updateOnCompute(node: OpenNode, wanted: NodeEntry, told: Record<string, unknown>): Promise<NodeEntry> {
    const answer = await node.update(told);
    const { entry, live } = node.merged(answer);
    node.setLive(live);
    return canonical({ ...wanted, console: entry.console, console_type: entry.console_type, properties: entry.properties });
  }

  #commitCreated(node: OpenNode): Promise<void> {
    return this.#host.commit({ action: 'node.created', event: node.entry, was: null }, () => {
      this.#nodes.set(node.id, node);
      this.#list = undefined;
      return node.object;
    });
  }

  #commitUpdated(node: OpenNode, entry: NodeEntry): Promise<void> {
    return this.#host.commit({ action: 'node.updated', event: entry, was: node.entry }, () => {
      node.setEntry(entry);
      this.#list = undefined;
      this.#links?.nodeChanged(node);
      return node.object;
    });
  }
}

function isNotThere(error: unknown): boolean {
  return isFault(error) && error.status === 404;
}
