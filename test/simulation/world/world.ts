/** The simulated world of one play: the controller and what it reaches, what clients were answered, and what must never be seen. */
import { crc32 } from 'node:zlib';
import { isFault } from '../../../src/api/faults.ts';
import { asRequester } from '../../../src/api/requester.ts';
import type { Route, RouteKey } from '../../../src/api/route.ts';
import { validateBody } from '../../../src/api/validate.ts';
import { Controller } from '../../../src/controller/controller.ts';
import type { Decision, Observed } from '../../../src/controller/reconcile/decide.ts';
import { computeRoutes } from '../../../src/controller/routes/v2/computes.ts';
import { nodeRoutes } from '../../../src/controller/routes/v2/nodes.ts';
import { projectRoutes } from '../../../src/controller/routes/v2/projects.ts';
import { sliceRoutes } from '../../../src/controller/routes/v2/slices.ts';
import { Disk } from '../engine/disk.ts';
import { Boot, Kernel, Process } from '../engine/kernel.ts';
import type { Simulation } from '../engine/simulation.ts';
import type { Schedule } from '../schedule.ts';
import type { EndClaim, NodeFacts, ProjectFacts } from './beliefs.ts';
import { SimulatedCompute, startedByOther } from './compute.ts';
import type { ComputeWorld } from './compute-world.ts';
import { type Behaviour, Machines } from './machines.ts';
import { type ControllerAnswer, Network } from './network.ts';
import { longestDelayMs, PastTroubles, rowOf } from './rows.ts';
import { log, settings } from './settings.ts';
import { SimulatedSlice, type SliceWorld } from './slice.ts';

export interface TraceLine {
  readonly at: number;
  readonly node: string;
  readonly wanted: string;
  readonly observed: string;
  readonly what: string;
}

interface Ask {
  readonly body?: object;
  /** Claims of the request, when it is answered with success. */
  readonly claims?: readonly (() => EndClaim)[];
  readonly done?: (value: Record<string, unknown>) => void;
}

interface OpenRequest {
  readonly what: string;
  readonly at: number;
  readonly end: EndClaim[];
}

/** No request of a client waits longer. */
const longestRequestMs = 45 * 60_000;
const mostActionsPerMinute = 12;
const minuteMs = 60_000;
const normal: Behaviour = { bootMs: 40, refuses: false, isShortLived: false };

export class World implements ComputeWorld, SliceWorld, Simulation {
  readonly kernel: Kernel;
  readonly disk: Disk;
  readonly internet: Network;
  readonly machines = new Machines((what) => this.violated(what));
  readonly local: SimulatedCompute;
  /** Computes on other hosts, which are registered by hand. */
  readonly remotes: SimulatedCompute[] = [];
  /** Slices, whose computes are among the remotes. */
  readonly slices: SimulatedSlice[] = [];
  readonly log = log;
  readonly room: number | undefined;
  #boot = new Boot('controller');
  readonly nodes = new Map<string, NodeFacts>();
  readonly projects = new Map<string, ProjectFacts>();
  readonly behaviours = new Map<string, Behaviour>();
  readonly trace: TraceLine[] = [];
  hash = 0;
  /** The first thing that must not be. */
  violation: string | undefined;
  controller: Controller | undefined;
  process: Process;
  actions = 0;
  /** All trouble is over and the nodes are as they are wanted: a further action is a defect. */
  isSettled = false;
  readonly troubles = new PastTroubles();
  #routes = new Map<string, Route>();
  readonly #open = new Set<OpenRequest>();
  /** Number of things that had happened at the last check. */
  #seen = 0;

  constructor({ seed, remotes, slices = 0, room }: Omit<Schedule, 'nodes' | 'steps'>) {
    this.kernel = new Kernel(seed);
    this.room = room;
    this.disk = new Disk(this.kernel);
    this.internet = new Network(this.kernel);
    this.process = new Process('controller', this.#boot);
    this.local = new SimulatedCompute('local', this);
    for (let number = 1; number <= remotes; number++) this.startCompute(this.#addRemote(`c${number}`, `c${number}.lan`));
    for (let number = 1; number <= slices; number++) {
      const compute = this.#addRemote(`00000000-0000-4000-8000-00000000000${number}`, `s${number}.lan`);
      this.slices.push(new SimulatedSlice(compute, this));
    }
  }

  /** Starts a slice that joins with its token. */
  startSlice(compute: SimulatedCompute, token: string): void {
    const process = compute.newProcess();
    compute.begin(process);
    this.#sliceOf(compute)?.begin(process, token);
  }

  /** SIGTERM for a slice; nothing happens to another compute. `ended`: its process has ended. */
  endSlice(compute: SimulatedCompute, ended: () => void): void {
    this.#sliceOf(compute)?.stop(() => {
      this.cutMoves(compute.host);
      compute.kill();
      this.internet.closed(compute);
      ended();
    });
  }

  #sliceOf(compute: SimulatedCompute): SimulatedSlice | undefined {
    return this.slices.find((slice) => slice.compute === compute);
  }

  toController(host: string, path: 'join' | 'lease', body: object, signal: AbortSignal): Promise<ControllerAnswer> {
    const id = this.remotes.find((compute) => compute.host === host)?.id ?? '';
    const key = path === 'join' ? 'POST /v2/slices/join' : 'POST /v2/slices/{compute_id}/lease';
    return this.internet.toController(host, () => this.answer(key, path === 'join' ? {} : { compute_id: id }, body), signal);
  }

  /** All of a machine was sent: it arrives at the other compute of its move, unless the move was given up there. */
  sent(nodeId: string): void {
    const arrive = () => {
      for (const { moves, process } of this.#computes()) if (process) moves.arrived(nodeId);
    };
    this.kernel.after(5 * this.kernel.chance.next(), arrive, this.kernel.world);
  }

  /** Streams of moves end: those of a host, or all as the controller has ended. The other compute of a move notices it, too. */
  cutMoves(host?: string): void {
    const from = this.#computes().filter((compute) => host === undefined || compute.host === host);
    const ids = from.flatMap(({ moves }) => moves.nodeIds);
    for (const compute of this.#computes())
      if (compute.process) for (const id of ids) this.kernel.after(1, () => compute.cutMove(id), compute.process);
  }

  #computes(): SimulatedCompute[] {
    return [this.local, ...this.remotes];
  }

  #addRemote(id: string, host: string): SimulatedCompute {
    const compute = new SimulatedCompute(id, this, host);
    this.remotes.push(compute);
    this.internet.add(host, compute);
    return compute;
  }

  startCompute(compute: SimulatedCompute): void {
    const process = compute.newProcess();
    compute.begin(process);
    this.#sliceOf(compute)?.begin(process);
  }

  behaviourOf(nodeId: string): Behaviour {
    return this.behaviours.get(nodeId) ?? normal;
  }

  arrived(compute: SimulatedCompute, verb: string, nodeId: string): void {
    this.note(nodeId, `${compute.host} ← ${verb}`);
    if (verb !== 'start' && verb !== 'stop') return;
    this.actions += 1;
    const node = this.nodes.get(nodeId);
    if (!node) return;
    node.actions.push(this.kernel.now);
    const project = this.projects.get(node.projectId);
    if (
      verb === 'start' &&
      project &&
      !project.isOpen.allows(true) &&
      !this.troubles.delayedRequests(this.kernel.now, { also: 'cut_off' })
    )
      this.violated(`${node.name} is started although its project is closed`);
    const { now } = this.kernel;
    const count = (times: number[], ms: number) => times.filter((at) => at > now - ms).length;
    const actions = count(node.actions, minuteMs);
    // Requests to a process that is stopped are carried out together when it continues.
    const asked = count(node.asked, this.troubles.delayedRequests(now) ? longestDelayMs : minuteMs);
    if (actions > mostActionsPerMinute + asked) this.violated(`a storm: ${actions} actions on ${node.name} within a minute`);
  }

  happened(compute: SimulatedCompute, nodeId: string, what: string): void {
    this.note(nodeId, `${compute.host}: ${what}`);
    const node = this.nodes.get(nodeId);
    if (!node) return;
    if (what === 'guest' || what === 'failed') node.run.mayBe('stopped');
    if (what === startedByOther) node.run.mayBe('running');
  }

  startedAgain(compute: SimulatedCompute, nodeId: string, endedAt: number): void {
    const node = this.nodes.get(nodeId);
    const isAsked = !node || node.asked.some((at) => at > endedAt - 5_000) || this.#open.size > 0;
    if (!isAsked && !this.troubles.delayedRequests(endedAt) && this.kernel.now > endedAt + 20_000)
      this.violated(`${node.name} is started again on ${compute.host}, where it ended by itself`);
  }

  decided(_wanted: object, observed: Observed, decision: Decision): void {
    const row = rowOf(observed, decision);
    if (this.isSettled && row !== 'nothing') this.violated(`decide answers "${row}" after all is as it is wanted`);
    this.troubles.count(row, this.kernel.now);
  }

  note(nodeId: string, what: string): void {
    const node = this.nodes.get(nodeId);
    const known = node ? this.#wantedOf(node) : '';
    const observed = this.machines
      .places(nodeId)
      .map((place) => `${place.slice(-4)}${this.machines.on(place, nodeId)?.isPaused ? ' paused' : ''}`);
    const line = {
      at: this.kernel.now,
      node: node?.name ?? nodeId.slice(0, 8),
      wanted: known,
      observed: observed.join(' ') || '–',
      what,
    };
    this.trace.push(line);
    this.hash = crc32(`${line.at} ${line.node} ${line.wanted} ${line.observed} ${what}`, this.hash);
  }

  #wantedOf({ id, projectId }: NodeFacts): string {
    const wanted = this.controller?.projects.find(projectId)?.liveNow?.nodes.find(id)?.wanted;
    return wanted ? `${wanted.run} ${wanted.generation % 100_000_000} ${wanted.by}` : '?';
  }

  violated(what: string): void {
    this.violation ??= `${what} (at ${(this.kernel.now / 1000).toFixed(3)} s)`;
  }

  // The controller

  startController(): void {
    if (this.controller || this.process.isAlive) this.process.isAlive = false;
    const process = new Process('controller', this.#boot);
    this.process = process;
    this.local.begin(process);
    const compute = { routes: () => this.local.routes(), events: this.local.events };
    this.note('', 'controller starts');
    this.kernel.begin(process, () => {
      Controller.open({ settings, log, version: '2.2.60', compute, end: () => undefined })
        .then(async (controller) => {
          await controller.listening('http://127.0.0.1:3080');
          this.controller = controller;
          const routes = [
            ...projectRoutes(controller),
            ...nodeRoutes(controller),
            ...computeRoutes(controller),
            ...sliceRoutes(controller),
          ];
          this.#routes = new Map(routes.map((route) => [route.key, route]));
          this.note('', 'controller answers');
        })
        .catch((error: Error) => this.violated(`the controller does not start: ${error.stack}`));
    });
  }

  /** `kill -9`, or with `isPowerCut` the end of its host. */
  killController(isPowerCut: boolean): void {
    this.note('', isPowerCut ? 'power cut' : 'kill -9');
    const { process } = this;
    this.cutMoves();
    this.local.kill();
    process.isAlive = false;
    this.controller = undefined;
    this.disk.killed(process);
    for (const request of this.#open) for (const end of request.end) end('unknown');
    this.#open.clear();
    if (!isPowerCut) return;
    this.disk.losePower();
    this.local.reboot();
    this.#boot = this.#boot.next(this.kernel.now);
  }

  /** SIGTERM, and a start when it has ended. */
  restartController(): void {
    const { controller, process } = this;
    if (!controller) return;
    this.note('', 'SIGTERM');
    this.controller = undefined;
    const stopped = async () => {
      await controller.keep(false);
      await controller.close();
    };
    this.kernel.begin(process, () => {
      stopped().then(
        () => this.kernel.after(1, () => process.isAlive && this.#endedController(), this.kernel.world),
        (error: Error) => this.violated(`the controller does not end: ${error.stack}`),
      );
    });
  }

  #endedController(): void {
    this.killController(false);
    this.startController();
  }

  // Clients

  /** Sends a request to the controller, when there is one. */
  ask(key: RouteKey, path: Record<string, string>, { body = {}, claims = [], done }: Ask = {}): void {
    const route = this.#routes.get(key);
    if (!this.controller || !route) return;
    const about = path.node_id ?? '';
    const request: OpenRequest = { what: key, at: this.kernel.now, end: claims.map((claim) => claim()) };
    this.#open.add(request);
    this.note(about, `client: ${key.replace(/.*\/v2\/projects\/\{project_id\}/, '').replace('{node_id}/', '')}`);
    const { process } = this;
    const call = async () => {
      await validateBody(route, body);
      return route.handle({ path, body, query: {}, signal: new AbortController().signal });
    };
    const ended = (outcome: Parameters<EndClaim>[0], how: string) => {
      if (!this.#open.delete(request)) return;
      for (const end of request.end) end(outcome);
      // A machine that another program has started on a compute that is away is wanted when it is found.
      for (const { id, run } of this.nodes.values()) if (this.machines.isOfOther(id)) run.mayBe('running');
      this.note(about, `client is answered: ${how}`);
    };
    this.kernel.begin(process, () => {
      asRequester({ by: 'client' }, call).then(
        (value) => {
          ended('done', 'done');
          done?.((value ?? {}) as Record<string, unknown>);
        },
        (error: Error) => {
          const isRefused = key.endsWith('/{node_id}/start') && isFault(error, 'node_failed');
          ended(isRefused ? 'refused' : 'unknown', isFault(error) ? error.code : error.message);
          if (!isFault(error) || error.status === 500) this.violated(`${key} was answered with a server error: ${error.stack}`);
        },
      );
    });
  }

  /** A request of another program. Undefined: there is no controller. */
  answer(key: RouteKey, path: Record<string, string>, body: object): Promise<ControllerAnswer> | undefined {
    const route = this.#routes.get(key);
    const { process, controller } = this;
    if (!controller || !route || !process.isAlive) return undefined;
    const { promise, resolve } = Promise.withResolvers<ControllerAnswer>();
    this.kernel.begin(process, () => {
      const call = async () => {
        await validateBody(route, body);
        return route.handle({ path, body, query: {}, signal: new AbortController().signal });
      };
      call().then(
        (value) => resolve({ status: 200, value: value as Record<string, unknown> }),
        (error: Error) => {
          if (!isFault(error) || error.status === 500) this.violated(`${key} was answered with a server error: ${error.stack}`);
          resolve({ status: isFault(error) ? error.status : 500, value: { message: error.message } });
        },
      );
    });
    return promise;
  }

  get openRequests(): number {
    return this.#open.size;
  }

  // Checks after every event

  check(): void {
    const { controller } = this;
    // Wanted states change with the disk, and the beliefs of clients with the trace.
    const seen = this.disk.operations + this.trace.length;
    if (this.violation || !controller || seen === this.#seen) return;
    this.#seen = seen;
    for (const request of this.#open)
      if (this.kernel.now - request.at > longestRequestMs)
        this.violated(`${request.what} was not answered within ${longestRequestMs / 60_000} minutes`);
    for (const { id, projectId, name, run, isThere } of this.nodes.values()) {
      const live = controller.projects.find(projectId)?.liveNow;
      if (!live) continue;
      const node = live.nodes.find(id);
      if (!isThere.allows(node !== undefined)) this.violated(node ? `${name} was deleted, and is there` : `${name} is gone`);
      if (node && !run.allows(node.wanted.run))
        this.violated(
          `${name} is wanted ${node.wanted.run} (${node.wanted.by}), and clients were answered that it is ${run.possible.join(' or ')}`,
        );
    }
  }
}
