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
import { Boot, type Kernel, Process } from '../engine/kernel.ts';
import type { Machines } from './machines.ts';

type Fields = Record<string, unknown>;
type Params = Readonly<Record<string, string>>;

interface KnownNode {
  readonly node_id: string;
  readonly project_id: string;
  readonly node_type: 'qemu';
  fields: Fields;
  status: 'stopped' | 'started' | 'suspended';
  generation: number | undefined;
  ending: RunEnding | undefined;
  /** When its last run ended. */
  endedAt: number;
  /** It runs, or ran when the compute ended: the boot of the host at its start. */
  run: { readonly boot: number } | undefined;
}

/** How the machines of a node behave. */
export interface Behaviour {
  readonly bootMs: number;
  readonly refuses: boolean;
  /** The guest switches it off as soon as it has booted. */
  readonly isShortLived: boolean;
}

export interface ComputeWorld {
  readonly kernel: Kernel;
  readonly machines: Machines;
  behaviourOf(nodeId: string): Behaviour;
  /** A request arrived here. */
  arrived(compute: SimulatedCompute, verb: string, nodeId: string): void;
  /** It is started by the generation by which it ran when it ended by itself. */
  startedAgain(compute: SimulatedCompute, nodeId: string, endedAt: number): void;
  /** Something happened to a machine. */
  happened(compute: SimulatedCompute, nodeId: string, what: string): void;
}

const consoleBase = 5_000;
const routes = '/v2/compute/projects/{project_id}';
const nodes = `${routes}/qemu/nodes` as const;
const one = `${nodes}/{node_id}` as const;

export class SimulatedCompute {
  readonly id: string;
  /** The name by which the network reaches it. */
  readonly host: string;
  readonly #world: ComputeWorld;
  readonly #projects = new Map<string, Fields>();
  readonly #nodes = new Map<string, KnownNode>();
  #locks = new KeyedMutex();
  /** The boot of its host. */
  #boot: Boot;
  #udpPort = 20_000;
  /** Undefined while it does not run. */
  process: Process | undefined;
  events = new EventStream<ComputeEvent>();
  /** It says by which start nodes run, and how runs end. */
  tellsRuns = true;

  constructor(id: string, world: ComputeWorld, host = id) {
    this.id = id;
    this.host = host;
    this.#world = world;
    this.#boot = new Boot(host);
  }

  get boot(): number {
    return this.#boot.number;
  }

  /** A process on its host. */
  newProcess(): Process {
    return new Process(this.id, this.#boot);
  }

  /** Its process starts: it finds what runs, and notes how the rest ended. */
  begin(process: Process): void {
    this.process = process;
    this.events = new EventStream();
    this.#locks = new KeyedMutex();
    const ran = [...this.#nodes.values()].filter(({ run }) => run);
    for (const node of ran) {
      const machine = this.#world.machines.on(this.id, node.node_id);
      node.status = machine ? (machine.isPaused ? 'suspended' : 'started') : 'stopped';
      if (machine) continue;
      node.ending = node.run?.boot === this.boot ? 'failed' : 'lost';
      node.run = undefined;
    }
    // What a start that was cut off has left.
    for (const nodeId of this.#world.machines.nodeIds()) {
      if (this.#world.machines.on(this.id, nodeId) && !this.#nodes.get(nodeId)?.run) this.#world.machines.end(this.id, nodeId);
    }
  }

  /** Its process was killed; its machines run on. */
  kill(): void {
    if (this.process) this.process.isAlive = false;
    this.process = undefined;
  }

  /** Its host was booted again: nothing runs, and its process has to be started. */
  reboot(): void {
    this.kill();
    this.#boot = this.#boot.next(this.#world.kernel.now);
    this.#world.machines.endAll(this.id);
  }

  /** A machine ends by itself; a process that is there notices. */
  endMachine(nodeId: string, how: 'guest' | 'failed'): boolean {
    if (!this.#world.machines.end(this.id, nodeId)) return false;
    this.#world.happened(this, nodeId, how);
    const { process } = this;
    const node = this.#nodes.get(nodeId);
    if (!process || !node) return true;
    const { run } = node;
    const noticed = async () => {
      if (node.run !== run || this.#world.machines.on(this.id, nodeId)) return;
      this.#stopped(node, how);
    };
    this.#world.kernel.after(5, () => void this.#locks.run(nodeId, noticed), process);
    return true;
  }

  routes(): Route[] {
    return [
      this.#route('GET /v2/compute/capabilities', undefined, () => this.#capabilities()),
      this.#route('GET /v2/compute/projects', Type.Array(ComputeProject), () => [...this.#projects.values()]),
      this.#route('POST /v2/compute/projects', ComputeProject, (_path, body) => this.#openProject(body)),
      this.#route(`PUT ${routes}`, ComputeProject, (path) => this.#project(path)),
      this.#route(`POST ${routes}/close`, undefined, (path) => this.#closeProject(path)),
      this.#route(`POST ${routes}/links/hold`, undefined, () => undefined),
      this.#route(`POST ${routes}/links/release`, undefined, () => undefined),
      this.#route(`GET ${routes}/nodes`, Type.Array(ComputeNodeRun), (path) => this.#list(path)),
      this.#route(`POST ${routes}/ports/udp`, UdpPort, () => ({ udp_port: this.#udpPort++ })),
      this.#route(`POST ${nodes}`, ComputeNode, (path, body) => this.#create(path, body)),
      this.#route(`GET ${one}`, ComputeNode, (path) => present(this.#node(path))),
      this.#route(`PUT ${one}`, ComputeNode, (path, body) => this.#update(path, body)),
      this.#route(`DELETE ${one}`, undefined, (path) => this.#delete(path)),
      this.#route(`POST ${one}/start`, ComputeNode, (path, body) => this.#start(path, body)),
      this.#route(`POST ${one}/stop`, undefined, (path) => this.#stop(path)),
      this.#route(`POST ${one}/suspend`, undefined, (path) => this.#suspend(path)),
      this.#route(`POST ${one}/resume`, undefined, (path) => this.#resume(path)),
      this.#route(`POST ${one}/reload`, undefined, (path) => this.#reload(path)),
      this.#route(`POST ${one}/duplicate`, undefined, (path) => void this.#node(path)),
      // Its nodes have no files.
      this.#route(`GET ${routes}/files`, Type.Array(FileEntry), () => []),
      this.#route(`POST ${routes}/node_copies/{node_type}/{node_id}`, NodeFiles, () => ({ files: [] })),
    ];
  }

  #route(key: RouteKey, reply: Parameters<typeof route>[1]['reply'], handle: (path: Params, body: Fields) => unknown): Route {
    const spec = { summary: key, ...(reply && { reply }) };
    return route(key, spec, async ({ path, body }) => {
      const { node_id } = path as Params;
      if (node_id !== undefined)
        this.#world.arrived(this, key.slice(key.lastIndexOf('/') + 1).replace('{node_id}', key.slice(0, 3)), node_id);
      // Its own work takes a moment, too.
      await this.#pause(this.#world.kernel.chance.next() * 3);
      return handle(path as Params, (body ?? {}) as Fields);
    });
  }

  #capabilities(): Fields {
    return {
      version: '2.2.60',
      node_types: ['qemu'],
      platform: 'linux',
      link_features: [],
      ...(this.tellsRuns && { node_runs: true }),
    };
  }

  #openProject({ project_id, name, variables = null }: Fields): Fields {
    const id = String(project_id);
    const project = this.#projects.get(id) ?? { project_id: id, name: name ?? null, variables };
    this.#projects.set(id, project);
    return project;
  }

  #project({ project_id = '' }: Params): Fields {
    const project = this.#projects.get(project_id);
    if (!project) throw fault('project_not_found', { project_id });
    return project;
  }

  async #closeProject(path: Params): Promise<void> {
    this.#project(path);
    const own = [...this.#nodes.values()].filter(({ project_id }) => project_id === path.project_id);
    await Promise.all(own.map(({ node_id }) => this.#locks.run(node_id, () => this.#forget(node_id))));
    this.#projects.delete(String(path.project_id));
  }

  async #forget(nodeId: string): Promise<void> {
    const node = this.#nodes.get(nodeId);
    if (!node) return;
    if (node.run) await this.#halt(node, 'asked');
    this.#nodes.delete(nodeId);
  }

  #list(path: Params): Fields[] {
    this.#project(path);
    const own = [...this.#nodes.values()].filter(({ project_id }) => project_id === path.project_id);
    return own.map((node) => ({ node_id: node.node_id, node_type: node.node_type, status: node.status, ...factsOf(node) }));
  }

  #create(path: Params, body: Fields): Promise<Fields> {
    this.#project(path);
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

  #node({ project_id, node_id = '' }: Params): KnownNode {
    const node = this.#nodes.get(node_id);
    if (!node || node.project_id !== project_id) throw fault('node_not_found', { node_id });
    return node;
  }

  /** While nothing else happens to the node. */
  #with<T>(path: Params, fn: (node: KnownNode) => Promise<T> | T): Promise<T> {
    this.#node(path);
    return this.#locks.run(String(path.node_id), () => fn(this.#node(path)));
  }

  #update(path: Params, body: Fields): Promise<Fields> {
    return this.#with(path, (node) => {
      node.fields = { ...node.fields, ...body };
      this.#emit(node);
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
        if (node.status === 'suspended') this.#setPaused(node, false);
        return present(node);
      }
      await this.#boots(node);
      return present(node);
    });
  }

  async #boots(node: KnownNode): Promise<void> {
    const { bootMs, refuses, isShortLived } = this.#world.behaviourOf(node.node_id);
    if (refuses) throw fault('node_failed', { name: String(node.fields.name), reason: 'refused on purpose' });
    await this.#pause(bootMs / 2);
    this.#world.machines.begin(this.id, { nodeId: node.node_id, generation: node.generation, isPaused: false });
    node.run = { boot: this.boot };
    this.#world.happened(this, node.node_id, 'started');
    await this.#pause(bootMs / 2);
    if (!this.#world.machines.on(this.id, node.node_id)) {
      this.#stopped(node, 'failed');
      throw fault('node_failed', { name: String(node.fields.name), reason: 'it ended at once' });
    }
    node.status = 'started';
    node.ending = undefined;
    this.#emit(node);
    if (isShortLived) this.endMachine(node.node_id, 'guest');
  }

  #stop(path: Params): Promise<void> {
    return this.#with(path, async (node) => {
      if (node.run) await this.#halt(node, 'asked');
      else if (node.ending === 'lost') node.ending = 'asked';
    });
  }

  async #halt(node: KnownNode, ending: RunEnding): Promise<void> {
    await this.#pause(2 + this.#world.kernel.chance.next() * 200);
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
      if (node.status === 'suspended') this.#setPaused(node, false);
    });
  }

  #reload(path: Params): Promise<void> {
    return this.#with(path, (node) => {
      if (node.status === 'suspended') this.#setPaused(node, false);
    });
  }

  #setPaused(node: KnownNode, isPaused: boolean): void {
    const machine = this.#world.machines.on(this.id, node.node_id);
    if (machine) machine.isPaused = isPaused;
    this.#world.machines.check(node.node_id);
    node.status = isPaused ? 'suspended' : 'started';
    this.#world.happened(this, node.node_id, node.status);
    this.#emit(node);
  }

  #stopped(node: KnownNode, ending: RunEnding): void {
    node.run = undefined;
    node.status = 'stopped';
    node.ending = ending;
    node.endedAt = this.#world.kernel.now;
    this.#emit(node);
  }

  #emit(node: KnownNode): void {
    const run = this.tellsRuns && { run: factsOf(node) };
    this.events.emit({ action: 'node.updated', event: present(node), project_id: node.project_id, ...run });
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.#world.kernel.after(delayMs, resolve));
  }
}

function present({ node_id, project_id, status, fields }: KnownNode): Fields {
  return { command_line: 'qemu', node_directory: `/x/${node_id}`, ...fields, node_id, project_id, status };
}

function factsOf({ generation, status, ending }: KnownNode): { generation?: number; ending?: RunEnding } {
  return { ...(generation !== undefined && { generation }), ...(status === 'stopped' && ending && { ending }) };
}
