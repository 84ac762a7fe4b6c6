/**
 * A simulated compute: the routes that a controller needs, over machines that take time to start and stop. What it keeps of projects and nodes
 * survives its process; machines survive it too, and end with their host.
 */
import { fault } from '../../../src/api/faults.ts';
import { type Route, type RouteKey, route } from '../../../src/api/route.ts';
import type { ComputeEvent } from '../../../src/api/transport.ts';
import { EventStream } from '../../../src/lib/event-stream.ts';
import { KeyedMutex } from '../../../src/lib/mutex.ts';
import { ComputeNode, ComputeProject, FileEntry, UdpPort } from '../../../src/schema/compute-node.ts';
import { NodeFiles } from '../../../src/schema/node-copy.ts';
import { ComputeNodeRun, type RunEnding } from '../../../src/schema/node-runs.ts';
import { Type } from '../../../src/schema/type.ts';
import { Boot, Process } from '../engine/kernel.ts';
import { capabilities, type Fields, factsOf, type KnownNode, present } from './compute-node.ts';
import type { ComputeWorld } from './compute-world.ts';
import { HeldMachines } from './held-machines.ts';
import type { Machine } from './machines.ts';
import { SimulatedMoves } from './moves.ts';

type Params = Readonly<Record<string, string>>;

/** Text of a start by another program. */
export const startedByOther = 'started by another program';
const consoleBase = 5_000;
/** Validators are kept by their schema. */
const [projectList, runList, fileList] = [Type.Array(ComputeProject), Type.Array(ComputeNodeRun), Type.Array(FileEntry)];
const routes = '/v2/compute/projects/{project_id}';
const nodes = `${routes}/qemu/nodes` as const;
const one = `${nodes}/{node_id}` as const;

export class SimulatedCompute {
  readonly id: string;
  /** Name in the network. */
  readonly host: string;
  readonly #world: ComputeWorld;
  readonly #projects = new Map<string, Fields>();
  readonly #nodes = new Map<string, KnownNode>();
  #locks = new KeyedMutex();
  #boot: Boot;
  #udpPort = 20_000;
  /** Undefined while the compute does not run. */
  process: Process | undefined;
  events = new EventStream<ComputeEvent>();
  readonly held: HeldMachines;
  readonly moves: SimulatedMoves;

  constructor(id: string, world: ComputeWorld, host = id) {
    this.id = id;
    this.host = host;
    this.#world = world;
    this.#boot = new Boot(host);
    this.held = new HeldMachines(this, world);
    this.moves = new SimulatedMoves(this, world);
  }

  get boot(): number {
    return this.#boot.number;
  }

  newProcess(): Process {
    return new Process(this.id, this.#boot);
  }

  /** Starts the compute's process: it finds the machines that run, and notes how the rest ended. */
  begin(process: Process): void {
    this.process = process;
    this.events = new EventStream();
    this.#locks = new KeyedMutex();
    this.moves.forget();
    const ran = [...this.#nodes.values()].filter(({ run }) => run);
    for (const node of ran) {
      const machine = this.#world.machines.on(this.id, node.node_id);
      const isSuspended = machine?.isPaused === true && (node.status === 'suspended' || node.hasDeparted === true);
      node.status = machine ? (isSuspended ? 'suspended' : 'started') : 'stopped';
      // A machine that an earlier process has paused, for a move or as its lease was over, is resumed.
      if (machine && !isSuspended) this.held.setPaused(node.node_id, false);
      if (machine) continue;
      node.ending = node.run?.boot === this.boot ? 'failed' : 'lost';
      node.run = undefined;
      delete node.hasDeparted;
    }
    // The next process pauses machines again, should their lease be over.
    this.held.release();
    // Machines that a start left when it was cut off.
    for (const nodeId of this.#world.machines.nodeIds()) {
      if (this.#world.machines.on(this.id, nodeId) && !this.#nodes.get(nodeId)?.run) this.#world.machines.end(this.id, nodeId);
    }
  }

  /** Kills the compute's process; its machines run on. */
  kill(): void {
    if (this.process) this.process.isAlive = false;
    this.process = undefined;
  }

  /** Boots the host again: nothing runs, and the compute's process has to be started. */
  reboot(): void {
    this.kill();
    this.#boot = this.#boot.next(this.#world.kernel.now);
    this.held.isHeld = false;
    this.held.clear();
    this.#world.machines.endAll(this.id);
  }

  /** A machine ends by itself; a process that is there notices. */
  endMachine(nodeId: string, how: 'guest' | 'failed'): boolean {
    // A guest that is paused does nothing.
    if (how === 'guest' && this.#world.machines.on(this.id, nodeId)?.isPaused) return false;
    if (!this.#world.machines.end(this.id, nodeId)) return false;
    this.#world.happened(this, nodeId, how);
    const [process, node] = [this.process, this.#nodes.get(nodeId)];
    if (!process || !node) return true;
    const { run } = node;
    const noticed = async () => {
      if (node.run !== run || this.#world.machines.on(this.id, nodeId)) return;
      this.#stopped(node, how);
    };
    this.#world.kernel.after(5, () => void this.#locks.run(nodeId, noticed), process);
    return true;
  }

  /** The streams of a node's move were cut. */
  cutMove(nodeId: string): void {
    this.moves.cut(this.#nodes.get(nodeId));
  }

  /** Ids of the nodes that it keeps, of any project. */
  get nodeIds(): string[] {
    return [...this.#nodes.keys()];
  }

  /** Another program starts a node that is stopped. @returns whether it is here */
  startByOther(nodeId: string): boolean {
    const [process, node] = [this.process, this.#nodes.get(nodeId)];
    if (!process || !node || node.run) return false;
    const start = async () => {
      if (node.run || this.#nodes.get(nodeId) !== node) return;
      Object.assign(node, { generation: undefined, ending: undefined });
      await this.#boots(node, startedByOther).catch(() => undefined);
    };
    this.#world.kernel.begin(process, () => void this.#locks.run(nodeId, start));
    return true;
  }

  /** Pauses the machines, as the lease is over. */
  hold = (): void => this.held.hold(this.#nodes.values());

  /** Ends all machines with the lease, those that are starting last; nothing starts until the lease is renewed. */
  async endAll(): Promise<void> {
    this.held.isHeld = true;
    this.endMachines();
    await Promise.all(this.nodeIds.map((nodeId) => this.#locks.run(nodeId, () => undefined)));
    this.endMachines();
  }

  /** Ends all machines, as the guard of a slice does; a process that is not there finds them so when it starts. */
  endMachines(): void {
    this.held.clear();
    for (const node of this.#nodes.values()) {
      if (this.#world.machines.end(this.id, node.node_id)) this.#world.happened(this, node.node_id, 'ended with its lease');
      if (!node.run) continue;
      if (this.process) this.#stopped(node, 'lost');
      else node.run = { boot: 0 };
    }
  }

  routes(): Route[] {
    return [
      this.route('GET /v2/compute/capabilities', undefined, () => capabilities(this.#world.room)),
      this.route('GET /v2/compute/projects', projectList, () => [...this.#projects.values()]),
      this.route('POST /v2/compute/projects', ComputeProject, (_path, body) => this.#openProject(body)),
      this.route(`PUT ${routes}`, ComputeProject, (path) => this.#project(path)),
      this.route(`POST ${routes}/close`, undefined, (path) => this.#closeProject(path)),
      ...(['hold', 'release'] as const).map((verb) => this.route(`POST ${routes}/links/${verb}`, undefined, () => undefined)),
      this.route(`GET ${routes}/nodes`, runList, (path) => this.#list(path)),
      this.route(`POST ${routes}/ports/udp`, UdpPort, () => ({ udp_port: this.#udpPort++ })),
      this.route(`POST ${nodes}`, ComputeNode, (path, body) => this.#create(path, body)),
      this.route(`GET ${one}`, ComputeNode, (path) => present(this.knownNode(path))),
      this.route(`PUT ${one}`, ComputeNode, (path, body) => this.#update(path, body)),
      this.route(`DELETE ${one}`, undefined, (path) => this.#delete(path)),
      this.route(`POST ${one}/start`, ComputeNode, (path, body) => this.#start(path, body)),
      this.route(`POST ${one}/stop`, undefined, (path) => this.#stop(path)),
      this.route(`POST ${one}/suspend`, undefined, (path) => this.#suspend(path)),
      this.route(`POST ${one}/resume`, undefined, (path) => this.#resume(path)),
      this.route(`POST ${one}/reload`, undefined, (path) => this.#with(path, (node) => this.#unsuspend(node))),
      this.route(`POST ${one}/duplicate`, undefined, (path) => void this.knownNode(path)),
      ...this.moves.routes(),
      // Nodes of a simulated compute have no files.
      this.route(`GET ${routes}/files`, fileList, () => []),
      this.route(`POST ${routes}/node_copies/{node_type}/{node_id}`, NodeFiles, () => ({ files: [] })),
    ];
  }

  route(key: RouteKey, reply: Parameters<typeof route>[1]['reply'], handle: (path: Params, body: Fields) => unknown): Route {
    const spec = { right: 'open' as const, summary: key, ...(reply && { reply }) };
    return route(key, spec, async ({ path, body }) => {
      const { node_id } = path as Params;
      if (node_id !== undefined)
        this.#world.arrived(this, key.slice(key.lastIndexOf('/') + 1).replace('{node_id}', key.slice(0, 3)), node_id);
      // The compute's own work takes a moment, too.
      await this.pause(this.#world.kernel.chance.next() * 3);
      return handle(path as Params, (body ?? {}) as Fields);
    });
  }

  #openProject({ project_id, name, variables = null }: Fields): Promise<Fields> {
    const id = String(project_id);
    return this.#locks.run(id, () => {
      const project = this.#projects.get(id) ?? { project_id: id, name: name ?? null, variables };
      this.#projects.set(id, project);
      return project;
    });
  }

  #project({ project_id = '' }: Params): Fields {
    const project = this.#projects.get(project_id);
    if (!project) throw fault('project_not_found', { project_id });
    return project;
  }

  #nodesOf(path: Params): KnownNode[] {
    const { project_id } = this.#project(path);
    return [...this.#nodes.values()].filter((node) => node.project_id === project_id);
  }

  #closeProject(path: Params): Promise<void> {
    const id = String(path.project_id);
    return this.#locks.run(id, async () => {
      await Promise.all(this.#nodesOf(path).map(({ node_id }) => this.#locks.run(node_id, () => this.#forget(node_id))));
      this.#projects.delete(id);
    });
  }

  async #forget(nodeId: string): Promise<void> {
    const node = this.#nodes.get(nodeId);
    if (!node) return;
    if (node.run) await this.#halt(node, 'asked');
    this.#nodes.delete(nodeId);
  }

  #list(path: Params): Fields[] {
    return this.#nodesOf(path).map((node) => ({
      node_id: node.node_id,
      node_type: node.node_type,
      status: node.status,
      ...factsOf(node),
    }));
  }

  async #create(path: Params, body: Fields): Promise<Fields> {
    // A project that is being closed gets no node any more.
    await this.#locks.run(String(path.project_id), () => this.#project(path));
    const nodeId = String(body.node_id);
    return this.#locks.run(nodeId, () => {
      const known = this.#nodes.get(nodeId);
      if (known) return present(known);
      const { node_id: _id, ...fields } = body;
      const made: KnownNode = {
        ...{ node_id: nodeId, project_id: String(path.project_id), node_type: 'qemu' },
        fields: { console: consoleBase + this.#nodes.size, console_type: 'telnet', ...fields },
        ...{ status: 'stopped', generation: undefined, ending: undefined, endedAt: 0, run: undefined },
      };
      this.#nodes.set(nodeId, made);
      return present(made);
    });
  }

  knownNode({ project_id, node_id = '' }: Params): KnownNode {
    const node = this.#nodes.get(node_id);
    if (!node || node.project_id !== project_id) throw fault('node_not_found', { node_id });
    return node;
  }

  /** Runs `fn` while nothing else happens to the node. */
  #with<T>(path: Params, fn: (node: KnownNode) => Promise<T> | T): Promise<T> {
    this.knownNode(path);
    return this.exclusively(String(path.node_id), () => fn(this.knownNode(path)));
  }

  exclusively = <T>(nodeId: string, fn: () => Promise<T> | T): Promise<T> => this.#locks.run(nodeId, fn);

  #update(path: Params, body: Fields): Promise<Fields> {
    return this.#with(path, (node) => {
      node.fields = { ...node.fields, ...body };
      this.emit(node);
      return present(node);
    });
  }

  #delete(path: Params): Promise<void> {
    return this.#with(path, async (node) => {
      await this.#forget(node.node_id);
      this.events.emit({ action: 'node.deleted', event: present(node), project_id: node.project_id });
    });
  }

  #start(path: Params, { generation }: Fields): Promise<Fields> {
    return this.#with(path, async (node) => {
      const hasEnded = node.ending === 'guest' || node.ending === 'failed';
      if (hasEnded && generation !== undefined && generation === node.generation)
        this.#world.startedAgain(this, node.node_id, node.endedAt);
      if (generation !== undefined || !node.run) {
        node.generation = generation as number | undefined;
        node.ending = undefined;
      }
      const machine = this.#world.machines.on(this.id, node.node_id);
      if (node.run && machine) {
        machine.generation = node.generation;
        this.#unsuspend(node);
        return present(node);
      }
      await this.#boots(node);
      return present(node);
    });
  }

  async #boots(node: KnownNode, what = 'started'): Promise<void> {
    const { bootMs, refuses, isShortLived } = this.#world.behaviourOf(node.node_id);
    const requireLease = this.held.checkOf(node);
    requireLease();
    if (refuses) throw fault('node_failed', { name: String(node.fields.name), reason: 'refused on purpose' });
    await this.pause(bootMs / 2);
    this.beginMachine(node, { generation: node.generation, isPaused: false }, requireLease);
    node.run = { boot: this.boot };
    this.#world.happened(this, node.node_id, what);
    await this.pause(bootMs / 2);
    if (!this.#world.machines.on(this.id, node.node_id)) {
      this.#stopped(node, 'failed');
      throw fault('node_failed', { name: String(node.fields.name), reason: 'it ended at once' });
    }
    node.status = 'started';
    node.ending = undefined;
    this.emit(node);
    if (isShortLived) this.endMachine(node.node_id, 'guest');
  }

  beginMachine(node: KnownNode, machine: Omit<Machine, 'nodeId'>, requireLease = this.held.checkOf(node)): void {
    requireLease();
    delete node.hasDeparted;
    this.#world.machines.begin(this.id, { ...machine, nodeId: node.node_id, isPaused: true });
    this.held.setPaused(node.node_id, machine.isPaused);
  }

  #stop(path: Params): Promise<void> {
    return this.#with(path, async (node) => {
      if (node.run) await this.#halt(node, 'asked');
      else if (node.ending === 'lost') node.ending = 'asked';
    });
  }

  async #halt(node: KnownNode, ending: RunEnding): Promise<void> {
    await this.pause(2 + this.#world.kernel.chance.next() * 200);
    if (this.#world.machines.end(this.id, node.node_id)) this.#world.happened(this, node.node_id, 'stopped');
    this.#stopped(node, ending);
  }

  #suspend(path: Params): Promise<void> {
    return this.#with(path, (node) => {
      if (node.status === 'started') this.#setPaused(node, true);
    });
  }

  #resume(path: Params): Promise<void> {
    return this.#with(path, (node) => {
      if (!node.run) throw fault('node_not_started', { name: String(node.fields.name) });
      this.#unsuspend(node);
    });
  }

  #unsuspend(node: KnownNode): void {
    if (node.status === 'suspended') this.#setPaused(node, false);
  }

  #setPaused(node: KnownNode, isPaused: boolean): void {
    this.held.setPaused(node.node_id, isPaused);
    if (!isPaused) delete node.hasDeparted;
    node.status = isPaused ? 'suspended' : 'started';
    this.#world.happened(this, node.node_id, node.status);
    this.emit(node);
  }

  #stopped(node: KnownNode, ending: RunEnding): void {
    node.run = undefined;
    node.status = 'stopped';
    node.ending = ending;
    node.endedAt = this.#world.kernel.now;
    this.moves.ended(node.node_id);
    delete node.hasDeparted;
    this.emit(node);
  }

  emit(node: KnownNode): void {
    this.events.emit({ action: 'node.updated', event: present(node), project_id: node.project_id, run: factsOf(node) });
  }

  pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.#world.kernel.after(delayMs, resolve));
  }
}
