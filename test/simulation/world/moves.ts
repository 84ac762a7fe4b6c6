/**
 * Machines on their way from one simulated compute to another. Their memory takes no time, but it goes through the controller: a move whose
 * streams are cut before all was sent is given up at both computes, as is one that nothing continues. One that was sent stays paused where it
 * was until the controller says where it runs.
 */
import { fault } from '../../../src/api/faults.ts';
import type { Route, RouteKey, route } from '../../../src/api/route.ts';
import { ComputeNode } from '../../../src/schema/compute-node.ts';
import { MoveOffer, MoveSent } from '../../../src/schema/move.ts';
import type { Kernel } from '../engine/kernel.ts';
import { type Fields, type KnownNode, present } from './compute-node.ts';
import type { HeldMachines } from './held-machines.ts';
import { arrivedByMove, type Machine, type Machines } from './machines.ts';

type Params = Readonly<Record<string, string>>;

/** The compute to which the moves belong. */
export interface MovingHost {
  readonly id: string;
  readonly boot: number;
  readonly held: HeldMachines;
  knownNode(path: Params): KnownNode;
  exclusively<T>(nodeId: string, fn: () => Promise<T> | T): Promise<T>;
  pause(delayMs: number): Promise<void>;
  beginMachine(node: KnownNode, machine: Pick<Machine, 'generation' | 'isPaused'>): void;
  emit(node: KnownNode): void;
  route(key: RouteKey, reply: Parameters<typeof route>[1]['reply'], handle: (path: Params, body: Fields) => unknown): Route;
}

export interface MovesWorld {
  readonly kernel: Kernel;
  readonly machines: Machines;
  /** All of a machine was sent: its successor gets it, unless the move was given up. */
  sent(nodeId: string): void;
}

interface Leaving {
  hasSent: boolean;
}

interface Arriving {
  readonly end: PromiseWithResolvers<boolean>;
  /** Undefined until it has ended: whether all of the machine has arrived. */
  isComplete?: boolean;
}

const idleMs = 60_000;
const project = '/v2/compute/projects/{project_id}';
const departure = `${project}/departures/{node_id}` as const;
const arrival = `${project}/arrivals/{node_id}` as const;

export class SimulatedMoves {
  readonly #host: MovingHost;
  readonly #world: MovesWorld;
  readonly #leaving = new Map<string, Leaving>();
  readonly #arriving = new Map<string, Arriving>();

  constructor(host: MovingHost, world: MovesWorld) {
    this.#host = host;
    this.#world = world;
  }

  /** Ids of the nodes that are being sent, or come. */
  get nodeIds(): string[] {
    return [...this.#leaving.keys(), ...this.#arriving.keys()];
  }

  /** The process of the compute has ended. */
  forget(): void {
    this.#leaving.clear();
    this.#arriving.clear();
  }

  /** The machine of a node has ended. */
  ended(nodeId: string): void {
    this.#leaving.delete(nodeId);
  }

  /** The streams of a node's move were cut. */
  cut(node: KnownNode | undefined): void {
    if (!node) return;
    const leaving = this.#leaving.get(node.node_id);
    if (leaving && !leaving.hasSent) this.#stay(node);
    this.#end(node.node_id, false);
  }

  /** All of a machine has come. */
  arrived(nodeId: string): void {
    this.#end(nodeId, true);
  }

  routes(): Route[] {
    const make: MovingHost['route'] = (...given) => this.#host.route(...given);
    return [
      make(`POST ${departure}`, MoveOffer, (path) => this.#depart(path)),
      make(`DELETE ${departure}`, undefined, (path) => this.#stay(this.#host.knownNode(path))),
      make(`POST ${departure}/mirror`, undefined, (path) => this.#step(path)),
      make(`POST ${departure}/pause`, undefined, (path) => this.#pauseMachine(path)),
      make(`POST ${departure}/finish`, MoveSent, (path) => this.#finish(path)),
      make(`POST ${arrival}`, undefined, (path) => this.#arrive(path)),
      make(`DELETE ${arrival}`, undefined, (path) => this.#abort(path)),
      make(`POST ${arrival}/wait`, ComputeNode, (path) => this.#wait(path)),
    ];
  }

  #depart(path: Params): Fields {
    const node = this.#host.knownNode(path);
    if (node.status !== 'started' || !this.#hasMachine(node)) throw fault('node_not_started', { name: nameOf(node) });
    this.#stay(node);
    const leaving: Leaving = { hasSent: false };
    this.#leaving.set(node.node_id, leaving);
    this.#later(() => this.#leaving.get(node.node_id) === leaving && !leaving.hasSent && this.#stay(node));
    const names = { program: '', release: '', cpu: '', machine: 'q35', ramId: '', uuid: '' };
    const machine = { ...names, accelerator: 'tcg', ramBytes: 0, arguments: [], suspended: false };
    return { machine, drives: [], images: [] };
  }

  /** The machine continues here, if it was to leave. */
  #stay(node: KnownNode): void {
    const isPaused = this.#leaving.delete(node.node_id) || node.hasDeparted === true;
    if (!isPaused) return;
    delete node.hasDeparted;
    this.#host.held.setPaused(node.node_id, false);
    if (node.status !== 'suspended') return;
    node.status = 'started';
    this.#host.emit(node);
  }

  async #step(path: Params): Promise<KnownNode> {
    const node = this.#host.knownNode(path);
    const leaving = this.#leaving.get(node.node_id);
    if (leaving) await this.#host.pause(10);
    if (!leaving || this.#leaving.get(node.node_id) !== leaving) throw refused(node);
    return node;
  }

  async #pauseMachine(path: Params): Promise<void> {
    const { node_id } = await this.#step(path);
    this.#host.held.setPaused(node_id, true);
  }

  async #finish(path: Params): Promise<Fields> {
    const node = await this.#step(path);
    this.#leaving.set(node.node_id, { hasSent: true });
    node.hasDeparted = true;
    this.#world.sent(node.node_id);
    return { paused_ms: 10 };
  }

  /** Resolves when the machine can be sent; nothing else is done with the node until it has come, or was given up. */
  async #arrive(path: Params): Promise<void> {
    const node = this.#host.knownNode(path);
    this.#end(node.node_id, false);
    const arriving: Arriving = { end: Promise.withResolvers() };
    this.#arriving.set(node.node_id, arriving);
    const { promise: begun, resolve, reject } = Promise.withResolvers<void>();
    const arrive = async () => {
      if (this.#arriving.get(node.node_id) !== arriving) throw refused(node);
      if (node.run) throw fault('node_running', { name: nameOf(node), what: 'receive it from another compute' });
      this.#host.beginMachine(node, { generation: arrivedByMove, isPaused: true });
      resolve();
      const isComplete = await arriving.end.promise;
      if (!isComplete || !this.#hasMachine(node)) return void this.#world.machines.end(this.#host.id, node.node_id);
      node.run = { boot: this.#host.boot };
      node.status = 'suspended';
      node.ending = undefined;
      this.#host.emit(node);
    };
    this.#host.exclusively(node.node_id, arrive).catch(reject);
    await begun.catch((error: unknown) => {
      this.#end(node.node_id, false);
      throw error;
    });
    this.#later(() => this.#arriving.get(node.node_id) === arriving && this.#end(node.node_id, false));
  }

  async #wait(path: Params): Promise<Fields> {
    const node = this.#host.knownNode(path);
    const arriving = this.#arriving.get(node.node_id);
    if (!arriving || !(await arriving.end.promise)) throw refused(node);
    if (this.#arriving.get(node.node_id) === arriving) this.#arriving.delete(node.node_id);
    return this.#host.exclusively(node.node_id, () => {
      if (!node.run) throw refused(node);
      return present(node);
    });
  }

  async #abort(path: Params): Promise<void> {
    const node = this.#host.knownNode(path);
    const arriving = this.#arriving.get(node.node_id);
    if (!arriving) return;
    this.#end(node.node_id, false);
    this.#arriving.delete(node.node_id);
    if (arriving.isComplete) return;
    await this.#host.exclusively(node.node_id, () => undefined);
  }

  #hasMachine({ node_id }: KnownNode): boolean {
    return this.#world.machines.on(this.#host.id, node_id) !== undefined;
  }

  /** Gives a move up that nothing has continued, unless the process has ended. */
  #later(giveUp: () => unknown): void {
    this.#world.kernel.after(idleMs, () => void giveUp());
  }

  #end(nodeId: string, isComplete: boolean): void {
    const arriving = this.#arriving.get(nodeId);
    if (!arriving || arriving.isComplete !== undefined) return;
    arriving.isComplete = isComplete;
    if (!isComplete) this.#arriving.delete(nodeId);
    arriving.end.resolve(isComplete);
  }
}

function nameOf({ fields }: KnownNode): string {
  return String(fields.name);
}

function refused(node: KnownNode): Error {
  return fault('move_refused', { name: nameOf(node), reason: 'its compute knows nothing of a move: it was given up' });
}
