/** All links of the process. What is asked of it is said in `protocol.ts`; requests come one after the other. */
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { mostTrafficFlows } from '../../schema/traffic.ts';
import { CaptureFileLocks } from '../captures/link-captures.ts';
import { BlockPool } from '../delays/delay-line.ts';
import { DelaySchedule } from '../delays/delay-schedule.ts';
import { KernelPaths } from '../kernel-paths/kernel-paths.ts';
import { FrameTraces } from '../links/frame-traces.ts';
import { type HostCounts, noCounts } from '../links/host-counts.ts';
import { FabricLink, type LinkTools } from '../links/link.ts';
import { Pacing } from '../links/pacing.ts';
import { type Programs, translatePrograms } from '../links/programs.ts';
import { RateMeters, sampleEveryMs } from '../links/rate-meter.ts';
import { Pcs } from '../pcs/pcs.ts';
import { InterfacePlace, type InterfacePlaces, type PlaceName } from '../ports/interface-place.ts';
import type { Native } from '../ports/native.ts';
import { InterfaceMemory } from '../ports/port-interface.ts';
import type {
  FabricCapabilities,
  FabricLinkStats,
  FabricLoad,
  LinkFailure,
  LinkSpec,
  TrafficFigures,
  TrafficSpec,
} from '../protocol.ts';
import { linkSpec } from '../requests.ts';
import { FlushTurns } from '../switches/flush-turns.ts';
import { Switches } from '../switches/switches.ts';
import { TrafficFlow } from '../traffic/traffic-flow.ts';
import { checkShape } from './check-shape.ts';
import { LinkDirections } from './link-directions.ts';
import { Load } from './load.ts';

/** Links that are checked, changed, or reported before frames get their turn. */
const linksPerTurn = 32;

/** Longest wait for frames that are being written: the receiver of a frame that has not left by then does not read. */
const drainMs = 50;
const pollMs = 1;

const places = ['host', 'links'] as const satisfies readonly PlaceName[];

interface LinkChange {
  readonly spec: LinkSpec;
  readonly programs: Programs;
}

export class Fabric {
  readonly switches = new Switches();
  readonly traffic = new TrafficFlows(this.switches);
  readonly #links = new Map<string, FabricLink>();
  readonly traces = new FrameTraces((id) => this.#links.get(id));
  readonly directions = new LinkDirections((id) => this.#links.get(id));
  readonly #places: InterfacePlaces = { host: new InterfacePlace('host'), links: new InterfacePlace('links') };
  readonly #kernelPaths: Readonly<Record<PlaceName, KernelPaths>>;
  readonly #native: Native;
  readonly #tools: LinkTools;
  readonly #holds = new Holds((id) => this.#links.get(id));
  readonly #pcHolds = new Holds((id) => this.pcs.find(id));
  readonly pcs: Pcs;
  readonly #load = new Load();
  readonly #sampling = setInterval(() => this.#tools.meters.sample(performance.now()), sampleEveryMs).unref();

  constructor(native: Native, runDirectory: string) {
    this.#native = native;
    const pathsIn = (place: InterfacePlace) => new KernelPaths(native, runDirectory, { place });
    this.#kernelPaths = { host: pathsIn(this.#places.host), links: pathsIn(this.#places.links) };
    const schedule = new DelaySchedule(native);
    this.pcs = new Pcs((id) => this.#pcHolds.has(id), schedule);
    this.#tools = {
      schedule,
      pacing: new Pacing(() => schedule.nextMs),
      blocks: new BlockPool(),
      captureFiles: new CaptureFileLocks(),
      switches: this.switches,
      pcs: this.pcs,
      mirrorTurns: new FlushTurns(),
      meters: new RateMeters(performance.now()),
      taps: new InterfaceMemory(native, this.#places),
      kernelPaths: this.#kernelPaths,
      traces: this.traces,
    };
  }

  async apply(specs: readonly unknown[]): Promise<LinkFailure[]> {
    const failures: LinkFailure[] = [];
    const changes: LinkChange[] = [];
    for (const [index, spec] of specs.entries()) {
      if (index % linksPerTurn === linksPerTurn - 1) await turn();
      changes.push(...this.#check(spec, failures));
    }
    for (const { spec } of changes) this.#links.get(spec.id)?.unplugChanged(spec);
    for (let first = 0; first < changes.length; first += linksPerTurn) {
      const group = changes.slice(first, first + linksPerTurn);
      await Promise.all(group.map((change) => this.#change(change, failures)));
      await turn();
    }
    await this.#tools.captureFiles.settled();
    return failures;
  }

  /** Settles when what was captured of them is on disk. */
  async remove(ids: readonly string[]): Promise<void> {
    const closing = ids.map((id) => {
      const closed = this.#links.get(id)?.close();
      this.#links.delete(id);
      return closed;
    });
    await Promise.all([...closing, this.#tools.captureFiles.settled()]);
  }

  async sync(specs: readonly unknown[]): Promise<LinkFailure[]> {
    const wanted = new Set(specs.map(idOf));
    await this.remove([...this.#links.keys()].filter((id) => !wanted.has(id)));
    const failures = await this.apply(specs);
    await Promise.all(places.map((place) => this.#kernelPaths[place].forget()));
    return failures;
  }

  async stats(ids?: readonly string[]): Promise<FabricLinkStats[]> {
    const wanted = ids ?? [...this.#links.keys()];
    const [host, ofLinks] = await Promise.all(places.map((place) => this.#hostCounts(place, wanted)));
    const counts = { host: host ?? noCounts, links: ofLinks ?? noCounts };
    const stats: FabricLinkStats[] = [];
    for (const [index, id] of wanted.entries()) {
      if (index % linksPerTurn === linksPerTurn - 1) await turn();
      const link = this.#links.get(id);
      if (link) stats.push(link.stats(counts));
    }
    return stats;
  }

  /** Time stands still for these links and PCs, also for those that are made meanwhile. Settles when what was being sent has left. */
  async hold(ids: readonly string[], leaseMs: number, pcs: readonly string[] = []): Promise<void> {
    await Promise.all([this.#holds.hold(ids, leaseMs), this.#pcHolds.hold(pcs, leaseMs)]);
    const limitMs = performance.now() + drainMs;
    const isWriting = () => ids.some((id) => this.#links.get(id)?.isWriting);
    while (isWriting() && performance.now() < limitMs) await delay(pollMs);
  }

  release(ids: readonly string[], pcs: readonly string[] = []): void {
    this.#holds.release(ids);
    this.#pcHolds.release(pcs);
  }

  /** Ids of those links that exist and have an end that is not connected yet: frames that leave for it are lost. */
  unconnected(ids: readonly string[]): string[] {
    return ids.filter((id) => this.#links.get(id)?.isConnected === false);
  }

  load(): FabricLoad {
    return this.#load.read(this.#links.size);
  }

  async capabilities(): Promise<FabricCapabilities> {
    const [host = null, links = null] = await Promise.all(places.map((place) => this.#kernelPaths[place].obstacle()));
    return { taps: process.geteuid?.() === 0, kernelObstacle: host, linkObstacle: links };
  }

  /** The process with this id holds the link namespace from now on. TAP interfaces that are open stay so. */
  useNamespace(holder: number): null {
    const { links } = this.#places;
    if (links.holder === holder) return null;
    links.use(holder, this.#native);
    this.#kernelPaths.links.placeChanged();
    return null;
  }

  async close(): Promise<void> {
    clearInterval(this.#sampling);
    this.traffic.close();
    this.pcs.close();
    await this.remove([...this.#links.keys()]);
    this.#tools.schedule.stop();
    await Promise.all(places.map((place) => this.#kernelPaths[place].close()));
  }

  /** Counters in this namespace that these links need. */
  async #hostCounts(place: PlaceName, ids: readonly string[]): Promise<HostCounts> {
    const links = ids.flatMap((id) => this.#links.get(id) ?? []);
    const [kernel, sent] = await Promise.all([
      links.some((link) => link.countedIn(place).byKernel) ? this.#kernelPaths[place].counters.read() : noCounts.kernel,
      links.some((link) => link.countedIn(place).atTaps) ? this.#places[place].readSent() : noCounts.sent,
    ]);
    return { kernel, sent };
  }

  #check(given: unknown, failures: LinkFailure[]): LinkChange[] {
    try {
      const spec = checkShape(linkSpec, given, 'link');
      return [{ spec, programs: translatePrograms(spec) }];
    } catch (error) {
      failures.push({ id: idOf(given), error: messageOf(error) });
      return [];
    }
  }

  #make(id: string): FabricLink {
    const link = new FabricLink(id, this.#tools);
    this.#links.set(id, link);
    if (this.#holds.has(id)) void link.hold(performance.now());
    return link;
  }

  async #change({ spec, programs }: LinkChange, failures: LinkFailure[]): Promise<void> {
    try {
      const link = this.#links.get(spec.id) ?? this.#make(spec.id);
      await link.update(spec, programs);
      if (link.problem !== undefined) failures.push({ id: spec.id, error: link.problem });
    } catch (error) {
      failures.push({ id: spec.id, error: messageOf(error) });
    }
  }
}

function idOf(spec: unknown): string {
  const id = (spec as { id?: unknown } | null)?.id;
  return typeof id === 'string' ? id : '';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface Holdable {
  hold(nowMs: number): Promise<void> | void;
  unhold(nowMs: number): void;
}

/**
 * Leases of links or PCs for which time stands still. The fabric outlives the server, so each hold is a lease: a server that dies releases
 * all of them by its silence. Links and PCs that are made during their hold begin held.
 */
class Holds {
  readonly #find: (id: string) => Holdable | undefined;
  /** Ends of the leases by id, ms of `performance.now()`. */
  readonly #leases = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(find: (id: string) => Holdable | undefined) {
    this.#find = find;
  }

  has(id: string): boolean {
    return this.#leases.has(id);
  }

  /** Begins or prolongs them. Settles when no frame of theirs passes the fabric by. */
  async hold(ids: readonly string[], leaseMs: number): Promise<void> {
    const nowMs = performance.now();
    const held = ids.map((id) => {
      this.#leases.set(id, nowMs + leaseMs);
      return this.#find(id)?.hold(nowMs);
    });
    this.#wait(nowMs);
    await Promise.all(held);
  }

  release(ids: readonly string[]): void {
    const nowMs = performance.now();
    for (const id of ids) if (this.#leases.delete(id)) this.#find(id)?.unhold(nowMs);
  }

  #expire(): void {
    const nowMs = performance.now();
    this.release([...this.#leases].flatMap(([id, endMs]) => (endMs <= nowMs ? [id] : [])));
    this.#wait(nowMs);
  }

  #wait(nowMs: number): void {
    clearTimeout(this.#timer);
    let nextMs = Number.POSITIVE_INFINITY;
    for (const endMs of this.#leases.values()) nextMs = Math.min(nextMs, endMs);
    if (this.#leases.size > 0) this.#timer = setTimeout(() => this.#expire(), Math.max(1, nextMs - nowMs)).unref();
  }
}

/** The flows of the process, by their ids. A flow stays until it is removed, for its figures; the oldest ones that ended make room. */
export class TrafficFlows {
  readonly #switches: Switches;
  readonly #flows = new Map<string, TrafficFlow>();
  #last = 0;

  constructor(switches: Switches) {
    this.#switches = switches;
  }

  /** A flow that exists keeps running: the request may have been repeated. Null: there are `mostTrafficFlows` that have not ended. */
  start(spec: TrafficSpec): TrafficFigures | null {
    const present = this.#flows.get(spec.id);
    if (present) return present.figures();
    if (this.#flows.size >= mostTrafficFlows && !this.#dropEnded()) return null;
    this.#last += 1;
    const flow = new TrafficFlow(this.#switches, spec, this.#last);
    this.#flows.set(spec.id, flow);
    return flow.figures();
  }

  /** Null: there is none, perhaps because the fabric was restarted. */
  read(id: string): TrafficFigures | null {
    return this.#flows.get(id)?.figures() ?? null;
  }

  remove(id: string): void {
    this.#flows.get(id)?.close();
    this.#flows.delete(id);
  }

  close(): void {
    for (const id of [...this.#flows.keys()]) this.remove(id);
  }

  #dropEnded(): boolean {
    const ended = [...this.#flows].find(([, flow]) => flow.isOver);
    if (ended) this.remove(ended[0]);
    return ended !== undefined;
  }
}
