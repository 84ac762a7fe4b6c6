/** Plays a schedule: sets up a lab, lets everything in it happen, ends what is wrong, and looks at what has become of the lab. */

import { MemoryFolder } from './engine/disk.ts';
import { play } from './engine/simulation.ts';
import { describe, type Schedule, type Step, type Verb } from './schedule.ts';
import { Belief, claimOf, type EndClaim, maybeOf, type NodeFacts, type ProjectFacts } from './world/beliefs.ts';
import type { SimulatedCompute } from './world/compute.ts';
import { endTrouble, isTrouble, makeTrouble } from './world/troubles.ts';
import { type TraceLine, World } from './world/world.ts';

export interface Played {
  /** State that must not be, and was seen. */
  readonly violation: string | undefined;
  readonly hash: number;
  readonly events: number;
  readonly trace: readonly TraceLine[];
  /** Number of times that a decision followed a kind of trouble. The key is `DECISION\tTROUBLE`. */
  readonly decisions: ReadonlyMap<string, number>;
}

/** Rejection that was not caught while a schedule was played. */
let unhandled: unknown;
process.on('unhandledRejection', (error) => {
  unhandled ??= error;
});

const project = '/v2/projects/{project_id}';
/** Longest time that a number of events takes. */
const mostEventsMs = 2_000;
/** Longest time after the end of all trouble: three leases of 20 s, and ten minutes. */
const calmMs = 60_000 + 600_000;
/** Time between looks at whether all is as it is wanted. A compute that is silent is noticed after a minute. */
const calmStepMs = calmMs / 5;

/** Must be called by a task of Node's own loop: what is due afterwards is done within. */
export function playSchedule(schedule: Schedule): Played {
  unhandled = undefined;
  const world = new World(schedule);
  play(world);
  try {
    const stage = new Stage(world, schedule);
    stage.play();
  } catch (error) {
    world.violated(`it failed: ${(error as Error).stack}`);
  } finally {
    play(undefined);
  }
  const thrown = unhandled === undefined ? undefined : `an error that was not handled: ${(unhandled as Error).stack}`;
  const { hash, trace, troubles } = world;
  return { violation: world.violation ?? thrown, hash, trace, decisions: troubles.counts, events: world.kernel.events };
}

class Stage {
  readonly #world: World;
  readonly #schedule: Schedule;
  readonly #projectId = '00000000-0000-4000-a000-000000000001';
  #created = 0;
  /** States that unfinished requests for all nodes ask for. */
  readonly #wholes = new Set<'running' | 'stopped'>();

  constructor(world: World, schedule: Schedule) {
    this.#world = world;
    this.#schedule = schedule;
  }

  play(): void {
    const { kernel } = this.#world;
    // Everything that is checked changes in the controller's process only.
    kernel.afterEach = (process) => process === this.#world.process && this.#world.check();
    this.#setUp();
    for (const step of this.#schedule.steps) {
      if (step.events === undefined) this.#run(step.wait);
      else this.#runEvents(step.events);
      if (this.#world.violation) return;
      this.#world.note('', describe(step));
      this.#step(step);
    }
    this.#run(this.#schedule.steps.length * 20);
    if (!this.#world.violation) this.#calm();
  }

  #run(ms: number): void {
    const { kernel } = this.#world;
    kernel.run(kernel.now + ms, () => this.#world.violation !== undefined);
  }

  #runEvents(count: number): void {
    const { kernel } = this.#world;
    const end = kernel.events + count;
    kernel.run(kernel.now + mostEventsMs, () => kernel.events >= end || this.#world.violation !== undefined);
  }

  #until(isSo: () => boolean, what: string): void {
    const { kernel } = this.#world;
    kernel.run(kernel.now + 3_600_000, () => isSo() || this.#world.violation !== undefined);
    if (!isSo()) this.#world.violated(`it takes more than an hour: ${what}`);
  }

  #setUp(): void {
    const world = this.#world;
    world.disk.put('/sim', new MemoryFolder());
    world.startController();
    this.#until(() => world.controller !== undefined, 'the first start');
    for (const compute of world.remotes) {
      const { id, host } = compute;
      if (world.slices.some((slice) => slice.compute === compute)) {
        const started = ({ token }: Record<string, unknown>) => world.startSlice(compute, String(token));
        world.ask('POST /v2/slices/invitations', {}, { body: { compute_id: id, name: host.slice(0, 2) }, done: started });
        continue;
      }
      this.#register(compute);
    }
    this.#until(
      () => world.remotes.every(({ id }) => world.controller?.computes.find(id)?.transport.state.connected),
      'the first connections',
    );
    this.#until(() => world.openRequests === 0, 'the registration of computes');
    const facts: ProjectFacts = { id: this.#projectId, isOpen: new Belief(true), hasAutoStart: new Belief(false) };
    world.projects.set(facts.id, facts);
    world.ask('POST /v2/projects', {}, { body: { project_id: facts.id, name: 'lab' } });
    this.#until(() => world.openRequests === 0, 'the creation of the project');
    for (let count = 0; count < this.#schedule.nodes; count++) this.#create(count);
    this.#until(() => world.openRequests === 0, 'the creation of nodes');
  }

  /** Registers a compute of another host; one that is registered stays as it is. */
  #register({ id, host }: SimulatedCompute): void {
    const body = { compute_id: id, host, port: 80, protocol: 'http', name: host.slice(0, 2) };
    this.#world.ask('POST /v2/computes', {}, { body });
  }

  get #registeredByHand(): SimulatedCompute[] {
    const { remotes, slices } = this.#world;
    return remotes.filter((compute) => !slices.some((slice) => slice.compute === compute));
  }

  /** A client has a compute forgotten, which closes the projects that use it, and registers it again later. */
  #unregister(of: number, lasts: number, claims: readonly (() => EndClaim)[]): void {
    const { kernel } = this.#world;
    const computes = this.#registeredByHand;
    const compute = computes[of % computes.length];
    if (!compute) return;
    this.#world.ask('DELETE /v2/computes/{compute_id}', { compute_id: compute.id }, { claims });
    kernel.after(lasts, () => this.#register(compute), kernel.world);
  }

  #create(of: number): void {
    const world = this.#world;
    const computes = [world.local, ...world.remotes];
    const compute = computes[of % computes.length] ?? world.local;
    this.#created += 1;
    const id = `00000000-0000-4000-b000-${String(this.#created).padStart(12, '0')}`;
    const name = `R${this.#created}`;
    const node: NodeFacts = {
      id,
      projectId: this.#projectId,
      name,
      run: new Belief('stopped'),
      isThere: new Belief(false),
      actions: [],
      asked: [],
    };
    world.nodes.set(id, node);
    for (const value of this.#wholes) node.run.mayBe(value);
    if (world.projects.get(this.#projectId)?.hasAutoStart.allows(true)) node.run.mayBe('running');
    const body = { node_id: id, name, node_type: 'qemu', compute_id: compute.id };
    world.ask(`POST ${project}/nodes`, { project_id: this.#projectId }, { body, claims: [claimOf(node.isThere, true)] });
  }

  #node(of: number): NodeFacts | undefined {
    const nodes = [...this.#world.nodes.values()].filter(({ isThere }) => isThere.allows(true));
    return nodes[of % nodes.length];
  }

  #step({ what, of, lasts }: Step): void {
    const world = this.#world;
    const node = this.#node(of);
    if (!isTrouble(what)) this.#ask(what, { of, lasts }, node);
    else makeTrouble(what, { world, node, compute: world.remotes[of % world.remotes.length], lasts });
  }

  #ask(what: Verb, { of, lasts }: Pick<Step, 'of' | 'lasts'>, node: NodeFacts | undefined): void {
    const world = this.#world;
    const facts = world.projects.get(this.#projectId);
    if (!facts) return;
    const path = { project_id: facts.id };
    const all = [...world.nodes.values()];
    const touch = (nodes: readonly NodeFacts[]) => {
      for (const each of nodes) each.asked.push(world.kernel.now);
    };
    /** Nodes that are being made meanwhile may be among them. */
    const runAll = (value: 'running' | 'stopped') => {
      touch(all);
      const whole = () => {
        this.#wholes.add(value);
        return () => {
          this.#wholes.delete(value);
        };
      };
      const claims = all.map((each) => (each.isThere.allows(false) ? maybeOf(each.run, value) : claimOf(each.run, value)));
      return [whole, ...claims];
    };
    if (what === 'start_all' || what === 'stop_all') {
      const verb = what === 'start_all' ? 'start' : 'stop';
      world.ask(`POST ${project}/nodes/${verb}`, path, { claims: runAll(verb === 'start' ? 'running' : 'stopped') });
    } else if (what === 'close') {
      world.ask(`POST ${project}/close`, path, { claims: [claimOf(facts.isOpen, false), ...runAll('stopped')] });
    } else if (what === 'open') {
      touch(all);
      const started = () => {
        if (facts.hasAutoStart.allows(true)) for (const each of all) each.run.mayBe('running');
      };
      started();
      world.ask(`POST ${project}/open`, path, { claims: [claimOf(facts.isOpen, true)], done: started });
    } else if (what === 'unregister') {
      touch(all);
      const claims = all.map(({ run }) => maybeOf(run, 'stopped'));
      this.#unregister(of, lasts, [maybeOf(facts.isOpen, false), ...claims]);
    } else if (what === 'auto_start') {
      const value = of % 2 === 0;
      world.ask(`PUT ${project}`, path, { body: { auto_start: value }, claims: [claimOf(facts.hasAutoStart, value)] });
    } else if (what === 'drain') {
      const slice = world.slices[of % world.slices.length];
      if (!slice) return;
      touch(all);
      for (const each of all) each.moved = world.kernel.now;
      world.ask('POST /v2/slices/{compute_id}/drain', { compute_id: slice.compute.id }, { body: { drain: of % 4 < 2 } });
    } else if (what === 'create') {
      if (world.controller && world.nodes.size < 8) this.#create(of);
    } else if (node) this.#askNode(what, node, { ...path, node_id: node.id });
  }

  #askNode(what: Verb, node: NodeFacts, path: { project_id: string; node_id: string }): void {
    const world = this.#world;
    node.asked.push(world.kernel.now);
    const one = `${project}/nodes/{node_id}` as const;
    if (what === 'start') world.ask(`POST ${one}/start`, path, { claims: [claimOf(node.run, 'running')] });
    else if (what === 'stop') world.ask(`POST ${one}/stop`, path, { claims: [claimOf(node.run, 'stopped')] });
    else if (what === 'suspend' || what === 'reload') {
      node.mayBeSuspended ||= what === 'suspend';
      world.ask(`POST ${one}/${what}`, path);
    } else if (what === 'rename') world.ask(`PUT ${one}`, path, { body: { name: `${node.name}-${Math.floor(world.kernel.now)}` } });
    else if (what === 'migrate') {
      node.moved = world.kernel.now;
      this.#migrate(path);
    } else if (what === 'delete') world.ask(`DELETE ${one}`, path, { claims: [claimOf(node.isThere, false)] });
  }

  #migrate(path: { project_id: string; node_id: string }): void {
    const world = this.#world;
    const ids = ['local', ...world.remotes.map(({ id }) => id)];
    const compute_id = ids[Math.floor(world.kernel.now) % ids.length] ?? 'local';
    world.ask(`POST ${project}/nodes/{node_id}/migrate`, path, { body: { compute_id } });
  }

  /** All trouble ends; what is wanted must run, and then nothing must happen any more. */
  #calm(): void {
    const world = this.#world;
    const { kernel } = world;
    world.note('', 'all trouble ends');
    this.#run(endTrouble(world) - kernel.now);
    this.#until(() => world.openRequests === 0 && world.controller !== undefined, 'until every request is answered');
    for (const compute of this.#registeredByHand) this.#register(compute);
    // Where all is full, nodes wait for as long as their slice is drained.
    const path = (compute: SimulatedCompute) => ({ compute_id: compute.id });
    if (world.room !== undefined)
      for (const { compute } of world.slices)
        world.ask('POST /v2/slices/{compute_id}/drain', path(compute), { body: { drain: false } });
    let problem: string | undefined;
    for (const end = kernel.now + calmMs; kernel.now < end && !world.violation; ) {
      this.#run(calmStepMs);
      problem = this.#problemAtEnd();
      if (problem === undefined) break;
    }
    if (problem !== undefined) world.violated(problem);
    if (world.violation) return;
    const { actions } = world;
    world.isSettled = true;
    this.#run(600_000);
    if (world.actions !== actions) world.violated('something is still done after all is as it is wanted');
    kernel.afterEach = () => undefined;
  }

  /** Why the lab is not as it is wanted. Undefined: it is. */
  #problemAtEnd(): string | undefined {
    const world = this.#world;
    const { controller } = world;
    if (!controller) return 'there is no controller';
    for (const { id, projectId, name, mayBeSuspended } of world.nodes.values()) {
      const live = controller.projects.find(projectId)?.liveNow;
      const node = live?.nodes.find(id);
      const places = world.machines.places(id);
      const at = node?.entry.compute_id;
      if (node?.wanted.run === 'running' && places[0] !== at)
        return `${name} is wanted, and does not run${node.shownProblem ? `: ${node.shownProblem}` : ''}`;
      if (node?.wanted.run !== 'running' && places.length > 0)
        return `${name} runs on ${places}, and is ${node ? 'not wanted' : live ? 'deleted' : 'of a closed project'}`;
      const isPaused = at !== undefined && world.machines.on(at, id)?.isPaused === true;
      if (isPaused && !mayBeSuspended) return `${name} is paused on ${at}, which no client has asked for`;
      if (node?.isUnmade) return `${name} cannot be used: ${node.problem}`;
      if (node?.waitCause) return `${name} waits: ${node.waitCause.reason}`;
      if (node && (node.live.status !== 'stopped') !== places.length > 0) return `${name} is shown as ${node.live.status}`;
    }
    for (const compute of [world.local, ...world.remotes])
      for (const id of compute.nodeIds) {
        const node = world.nodes.get(id);
        const at = controller.projects.find(node?.projectId ?? '')?.liveNow?.nodes.find(id)?.entry.compute_id;
        if (at !== compute.id)
          return `${node?.name ?? id} is left on ${compute.host}, and is ${at ? 'on another compute' : 'of no open project'}`;
      }
    for (const { id, isOpen } of world.projects.values()) {
      const known = controller.projects.find(id);
      if (!known || !isOpen.allows(known.isOpen))
        return `the project is ${known?.isOpen ? 'open' : 'closed'}, and clients were answered otherwise`;
    }
    return undefined;
  }
}
