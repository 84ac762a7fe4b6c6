/** The simulated world of one play: the controller and what it reaches, what clients were answered, and what must never be seen. */
import { crc32 } from 'node:zlib';
import { pino } from 'pino';
import { isFault } from '../../../src/api/faults.ts';
import { asRequester } from '../../../src/api/requester.ts';
import type { Route, RouteKey } from '../../../src/api/route.ts';
import { validateBody } from '../../../src/api/validate.ts';
import { Controller } from '../../../src/controller/controller.ts';
import { computeRoutes } from '../../../src/controller/routes/computes.ts';
import { nodeRoutes } from '../../../src/controller/routes/nodes.ts';
import { projectRoutes } from '../../../src/controller/routes/projects.ts';
import { defaultSettings, type Settings } from '../../../src/schema/settings.ts';
import { Disk } from '../engine/disk.ts';
import { Boot, Kernel, Process } from '../engine/kernel.ts';
import type { Simulation } from '../engine/simulation.ts';
import type { Belief } from './beliefs.ts';
import { type Behaviour, type ComputeWorld, SimulatedCompute } from './compute.ts';
import { Machines } from './machines.ts';
import { type ControllerAnswer, Network } from './network.ts';

export interface TraceLine {
  readonly at: number;
  readonly node: string;
  readonly wanted: string;
  readonly observed: string;
  readonly what: string;
}

/** What is known of a node outside of the controller. */
export interface NodeFacts {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly run: Belief<'running' | 'stopped'>;
  readonly isThere: Belief<boolean>;
  /** When the controller started or stopped it. */
  readonly actions: number[];
  /** When clients asked for something that may start or stop it. */
  readonly asked: number[];
}

export interface ProjectFacts {
  readonly id: string;
  readonly isOpen: Belief<boolean>;
  hasAutoStart: Belief<boolean>;
}

/** Ends a claim: its request was done, refused before anything was done, or neither is known. */
type EndClaim = (outcome: 'done' | 'refused' | 'unknown') => void;

interface Ask {
  readonly body?: object;
  /** What it claims, when it is answered with success. */
  readonly claims?: readonly (() => EndClaim)[];
  readonly done?: (value: Record<string, unknown>) => void;
}

interface OpenRequest {
  readonly what: string;
  readonly at: number;
  readonly end: EndClaim[];
}

const dataDirectory = '/sim/data';
/** No request of a client waits longer. */
const longestRequestMs = 45 * 60_000;
const mostActionsPerMinute = 12;
const normal: Behaviour = { bootMs: 40, refuses: false, isShortLived: false };

export class World implements ComputeWorld, Simulation {
  readonly kernel: Kernel;
  readonly disk: Disk;
  readonly internet: Network;
  readonly machines = new Machines((what) => this.violated(what));
  readonly local: SimulatedCompute;
  /** Computes on other hosts, which are registered by hand. */
  readonly remotes: SimulatedCompute[] = [];
  readonly log = log;
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
  readonly #troubles = new Map<string, number>();
  /** How often a decision followed a kind of trouble within a minute. The key is `DECISION\tTROUBLE`. */
  readonly decisions = new Map<string, number>();
  #routes = new Map<string, Route>();
  readonly #open = new Set<OpenRequest>();

  constructor(seed: number, remotes: number) {
    this.kernel = new Kernel(seed);
    this.disk = new Disk(this.kernel);
    this.internet = new Network(this.kernel);
    this.process = new Process('controller', this.#boot);
    this.local = new SimulatedCompute('local', this);
    for (let number = 1; number <= remotes; number++) this.startCompute(this.#addRemote(`c${number}`, `c${number}.lan`));
  }

  #addRemote(id: string, host: string): SimulatedCompute {
    const compute = new SimulatedCompute(id, this, host);
    this.remotes.push(compute);
    this.internet.add(host, compute);
    return compute;
  }

  startCompute(compute: SimulatedCompute): void {
    const process = compute.newProcess();
    compute.process = process;
    compute.begin(process);
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
    const since = this.kernel.now - 60_000;
    const count = (times: number[]) => times.filter((at) => at > since).length;
    if (count(node.actions) > mostActionsPerMinute + count(node.asked))
      this.violated(`a storm: ${count(node.actions)} actions on ${node.name} within a minute`);
  }

  happened(compute: SimulatedCompute, nodeId: string, what: string): void {
    this.note(nodeId, `${compute.host}: ${what}`);
    const node = this.nodes.get(nodeId);
    if (!node) return;
    if (what === 'guest' || what === 'failed') node.run.mayBe('stopped');
    const project = this.projects.get(node.projectId);
    if (what === 'started' && project && !project.isOpen.allows(true))
      this.violated(`${node.name} was started although its project is closed`);
  }

  startedAgain(compute: SimulatedCompute, nodeId: string, endedAt: number): void {
    const node = this.nodes.get(nodeId);
    const isAsked = !node || node.asked.some((at) => at > endedAt - 5_000) || this.#open.size > 0;
    // What was sent before it ended may arrive later.
    const isLate = (['cut', 'freeze', 'compute_freeze'] as const).some(
      (trouble) => (this.#troubles.get(trouble) ?? -1e9) > endedAt - 200_000,
    );
    if (!isAsked && !isLate && this.kernel.now > endedAt + 20_000)
      this.violated(`${node.name} is started again on ${compute.host}, where it ended by itself`);
  }

  decided(_wanted: object, observed: object, decision: object): void {
    const { reach } = observed as { reach: string };
    const { do: does, by, until } = decision as { do: string; by?: string; until?: number };
    const kind = does === 'wait' ? `wait ${until === undefined ? reach : 'failed'}` : does === 'want' ? `want ${by}` : does;
    if (this.isSettled && does !== 'nothing') this.violated(`decide answers "${kind}" after all is as it is wanted`);
    for (const [trouble, at] of this.#troubles) {
      if (at < this.kernel.now - 60_000) continue;
      const key = `${kind}\t${trouble}`;
      this.decisions.set(key, (this.decisions.get(key) ?? 0) + 1);
    }
  }

  /** Something goes wrong now. */
  troubled(trouble: string): void {
    this.#troubles.set(trouble, this.kernel.now);
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
          const routes = [...projectRoutes(controller), ...nodeRoutes(controller), ...computeRoutes(controller)];
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

  // What is checked after every event

  check(): void {
    const { controller } = this;
    if (this.violation || !controller) return;
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

export function claimOf<V>(belief: Belief<V>, value: V): () => EndClaim {
  return () => {
    const claim = belief.begin(value);
    return (outcome) => (outcome === 'refused' ? belief.refuse(claim) : belief.end(claim, outcome === 'done'));
  };
}

/** It may become so by the request, or not. */
export function maybeOf<V>(belief: Belief<V>, value: V): () => EndClaim {
  return () => {
    const claim = belief.begin(value);
    return () => belief.end(claim, false);
  };
}

const log = pino({ level: process.env.PATCHBAY_SIMULATE_LOG ?? 'silent' });
const { Server, Cluster, ...more } = defaultSettings();
const settings = {
  ...more,
  Server: {
    ...{
      ...Server,
      host: '127.0.0.1',
      enable_builtin_templates: false,
      clear_credentials: true,
      install_builtin_appliances: false,
      min_free_bytes: 0,
    },
    ...{
      configs_path: `${dataDirectory}/configs`,
      symbols_path: `${dataDirectory}/symbols`,
      appliances_path: `${dataDirectory}/appliances`,
    },
    ...{ images_path: `${dataDirectory}/images`, projects_path: `${dataDirectory}/projects` },
  },
  Cluster,
  ...{ dataDirectory, runtimeDirectory: '/sim/run' },
} as Settings;
