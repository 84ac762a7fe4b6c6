/**
 * The server's side of the fabric. It remembers which links should be; when the fabric is lost it finds or starts another one and
 * says them all again. Requests made meanwhile wait, and those that were under way are made again: all of them may be repeated.
 *
 * A client that has only just connected does not know what the fabric carries for a server that went before: until the first `sync`
 * a new connection sends `apply`, never `sync`.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fault } from '../api/faults.ts';
import { EventStream } from '../lib/event-stream.ts';
import { Retry } from '../lib/retry.ts';
import { ConnectionLost } from './connection/connection.ts';
import { type FabricPlace, type FoundFabric, findFabric, quitFabric, quitPresent } from './connection/find-fabric.ts';
import { linkBatch, pcBatch, stateBatch } from './connection/request-batch.ts';
import type { ProbeAnswer } from './pcs/pc-options.ts';
import type { PcProbe } from './pcs/pc-shapes.ts';
import type {
  AddressEntry,
  DirectionPlace,
  FabricCapabilities,
  FabricLinkStats,
  FabricLoad,
  FilterState,
  LinkFailure,
  LinkSpec,
  PcReport,
  PcSpec,
  Reply,
  Request,
  SwitchStats,
  TrafficFigures,
  TrafficSpec,
} from './protocol.ts';

export type { FabricPlace } from './connection/find-fabric.ts';
export { probeCapabilities } from './connection/probe-capabilities.ts';

export interface FabricRestored {
  readonly pid: number;
  /** The process was started anew, and had no links. */
  readonly isNew: boolean;
  /** Number of PCs that run again in it, with their addresses. */
  readonly pcs: number;
  readonly failures: LinkFailure[];
}

/** Time limit of a request, a restart of the fabric included. */
const requestLimitMs = 10_000;
/** Waits between attempts to find the fabric again; a fabric that ends at once every time must not keep the machine busy. */
const searchTimes = { firstMs: 50, longestMs: 2000 };
/** A connection that lasted this long is sought again without a wait. */
const steadyMs = 5000;

export interface ProbeLimits {
  /** Time limit of the answer, from now. */
  readonly limitMs: number;
  /** Ends the probe. */
  readonly signal: AbortSignal;
}

export class FabricClient {
  readonly #place: FabricPlace;
  readonly #mayRunPcs: () => boolean;
  readonly #links = new Map<string, LinkSpec>();
  /** PCs by id, with their present settings. */
  readonly #pcs = new Map<string, PcSpec>();
  readonly #pcReports = new EventStream<PcReport>();
  readonly #lost = new EventStream<string>();
  readonly #restored = new EventStream<FabricRestored>();
  /** The fabric in use; undefined while it is sought. */
  #found: FoundFabric | undefined;
  /** Settles when it has been found again, or given up because the client was closed. */
  #sought: Promise<void> = Promise.resolve();
  #pid: number;
  /** Holder of the link namespace. */
  #holder: number | undefined;
  /** The links we know are all there should be. */
  #complete: boolean;
  #closed = false;
  /** PCs and links are made in any order: a link may name a PC that is made later. */
  readonly #batches = {
    pcs: pcBatch((pcs) => this.#send({ op: 'apply_pcs', pcs })),
    links: linkBatch((links) => this.#send({ op: 'apply', links })),
    states: stateBatch((ids) => this.#send({ op: 'pc_states', ids })),
  };

  private constructor(place: FabricPlace, found: FoundFabric, mayRunPcs: () => boolean) {
    this.#place = place;
    this.#mayRunPcs = mayRunPcs;
    this.#pid = found.pid;
    this.#complete = found.isNew;
    this.#use(found);
  }

  /**
   * `mayRunPcs`: false while the lease of a slice is over; then no PC is made, and a fabric that was lost does not get its PCs again.
   * @throws fabric_unavailable when none answers and none can be started.
   */
  static async connectOrSpawn(place: FabricPlace, mayRunPcs: () => boolean = () => true): Promise<FabricClient> {
    return new FabricClient(place, await findFabric(place), mayRunPcs);
  }

  /** Last known process id of the fabric. */
  get pid(): number {
    return this.#pid;
  }

  /** These links should be as given. Answers those that are not, with the reason: they stay asked for until they are removed. */
  apply(links: LinkSpec[]): Promise<LinkFailure[]> {
    for (const link of links) this.#links.set(link.id, link);
    return this.#batches.links.add(links);
  }

  async remove(ids: string[]): Promise<void> {
    for (const id of ids) this.#links.delete(id);
    await this.#ask({ op: 'remove', ids });
  }

  /** Exactly these links should be; answers as `apply` does. */
  sync(links: LinkSpec[]): Promise<LinkFailure[]> {
    this.#links.clear();
    for (const link of links) this.#links.set(link.id, link);
    this.#complete = true;
    return this.#ask({ op: 'sync', links });
  }

  /** Counters of the links named, as far as they exist, or of all links. */
  stats(ids?: string[]): Promise<FabricLinkStats[]> {
    return this.#ask({ op: 'stats', ...(ids && { ids }) });
  }

  /** Load of the fabric's process. */
  load(): Promise<FabricLoad> {
    return this.#ask({ op: 'load' });
  }

  capabilities(): Promise<FabricCapabilities> {
    return this.#ask({ op: 'capabilities' });
  }

  /** Ports can be in the namespace that this process holds. */
  async useNamespace(holder: number): Promise<void> {
    this.#holder = holder;
    await this.#ask({ op: 'use_namespace', holder });
  }

  /** Counters of the switches named, as far as they exist, or of all switches. */
  switchStats(ids?: string[]): Promise<SwitchStats[]> {
    return this.#ask({ op: 'switch_stats', ...(ids && { ids }) });
  }

  /** Addresses that a switch has learned. */
  addresses(id: string): Promise<AddressEntry[]> {
    return this.#ask({ op: 'addresses', switch: id });
  }

  async forgetAddresses(id: string): Promise<void> {
    await this.#ask({ op: 'forget_addresses', switch: id });
  }

  async learnAddresses(id: string, addresses: AddressEntry[]): Promise<void> {
    await this.#ask({ op: 'learn_addresses', switch: id, addresses });
  }

  /** Time stands still for these links and PCs until they are released, at most for `leaseMs` after the last such request. */
  async hold(ids: string[], leaseMs: number, pcs: string[] = []): Promise<void> {
    await this.#ask({ op: 'hold', ids, pcs, leaseMs });
  }

  async release(ids: string[], pcs: string[] = []): Promise<void> {
    await this.#ask({ op: 'release', ids, pcs });
  }

  /** Makes a PC unless it exists; answers how it is. Its settings and its end are reported from then on. */
  async applyPc(pc: PcSpec): Promise<PcReport> {
    if (!this.#mayRunPcs()) return endedByLease(pc);
    this.#pcs.set(pc.id, pc);
    try {
      const [report] = await this.#batches.pcs.add([pc]);
      if (!report) throw fault('fabric_unavailable', { reason: 'it did not make a PC' });
      this.#notePc(report);
      return report;
    } catch (error) {
      void this.removePc(pc.id).catch(() => undefined);
      throw error;
    }
  }

  async removePc(id: string): Promise<void> {
    this.#pcs.delete(id);
    await this.#ask({ op: 'remove_pcs', ids: [id] });
  }

  /** Removes all PCs that were not applied by this client. */
  async retainPcs(): Promise<void> {
    await this.#ask({ op: 'retain_pcs', ids: [...this.#pcs.keys()] });
  }

  /** Everything of a PC, with which another one continues; null: it does not run. */
  async pcState(id: string): Promise<unknown> {
    const [state] = await this.#batches.states.add([id]);
    return state ?? null;
  }

  /** `limitMs`: for the answer, from now. The signal ends the probe. Null: the PC does not run. */
  async probePc(pc: string, probe: PcProbe, { limitMs, signal }: ProbeLimits): Promise<ProbeAnswer | null> {
    const key = randomUUID();
    const end = () => void this.#ask({ op: 'end_probe', pc, key }).catch(() => undefined);
    signal.addEventListener('abort', end, { once: true });
    try {
      signal.throwIfAborted();
      return await this.#ask({ op: 'probe_pc', pc, probe, key }, limitMs);
    } finally {
      signal.removeEventListener('abort', end);
    }
  }

  /** Called when a PC has other settings, or has ended by itself. Returns how to stop listening. */
  onPc(listener: (report: PcReport) => void): () => void {
    return this.#pcReports.subscribe(listener);
  }

  /** Where consoles of PCs are reached (`consoleLine`). */
  get socketPath(): string {
    return this.#place.socketPath;
  }

  /** Ids of those of these links that exist and have an end that is not connected yet. */
  unconnected(ids: string[]): Promise<string[]> {
    return this.#ask({ op: 'unconnected', ids });
  }

  /** The frames that wait in held links, as a file. Answers how many. */
  saveFrames(path: string, directions: DirectionPlace[]): Promise<number> {
    return this.#ask({ op: 'save_frames', path, directions });
  }

  /** Adds those of such a file to held links. Answers how many. */
  loadFrames(path: string, directions: DirectionPlace[]): Promise<number> {
    return this.#ask({ op: 'load_frames', path, directions });
  }

  /** Where the filters of each direction are in their random sequences. */
  filterStates(directions: DirectionPlace[]): Promise<FilterState[][]> {
    return this.#ask({ op: 'filter_states', directions });
  }

  /** Continues the random sequences of filters of the same types. `states`: of `filterStates`, in the order of `directions`. */
  async continueFilters(directions: DirectionPlace[], states: FilterState[][]): Promise<void> {
    await this.#ask({ op: 'continue_filters', directions, states });
  }

  /** Null: there are `mostTrafficFlows` that have not ended. */
  startTraffic(flow: TrafficSpec): Promise<TrafficFigures | null> {
    return this.#ask({ op: 'traffic_start', flow });
  }

  /** Null: there is no such flow. */
  readTraffic(id: string): Promise<TrafficFigures | null> {
    return this.#ask({ op: 'traffic_read', traffic: id });
  }

  async removeTraffic(id: string): Promise<void> {
    await this.#ask({ op: 'traffic_remove', traffic: id });
  }

  /** Called with the reason when the fabric was lost; another one is sought at once. Returns how to stop listening. */
  onLost(listener: (reason: string) => void): () => void {
    return this.#lost.subscribe(listener);
  }

  /** Called when a fabric carries our links again. */
  onRestored(listener: (restored: FabricRestored) => void): () => void {
    return this.#restored.subscribe(listener);
  }

  /** Disconnects; the fabric keeps running. */
  close(): void {
    this.#closed = true;
    this.#found?.connection.close();
  }

  /** Ends the fabric's process; settles when it has gone. */
  async quit(): Promise<void> {
    this.#closed = true;
    await this.#sought;
    if (this.#found) await quitFabric(this.#found.connection, this.#found.pid);
    await quitPresent(this.#place);
  }

  /** The next time it is made, it continues with its settings. */
  #notePc(report: PcReport): void {
    const pc = this.#pcs.get(report.id);
    if (!pc) return;
    const { script: _script, state: _state, ...spec } = pc;
    this.#pcs.set(report.id, { ...spec, settings: report.settings });
  }

  #watchPcs({ connection }: FoundFabric): void {
    const report = (pc: PcReport) => {
      this.#notePc(pc);
      this.#pcReports.emit(pc);
    };
    connection.onPc = report;
    const isKnown = ({ id }: PcReport) => this.#pcs.has(id);
    connection.request({ op: 'watch_pcs' }, requestLimitMs).then(
      (pcs) => pcs.filter(isKnown).forEach(report),
      () => undefined,
    );
  }

  /** Makes a request behind those that wait to be joined. */
  #ask<R extends Request>(request: R, limitMs = requestLimitMs): Promise<Reply<R>> {
    for (const batch of Object.values(this.#batches)) batch.flush();
    return this.#send(request, limitMs);
  }

  async #send<R extends Request>(request: R, limitMs = requestLimitMs): Promise<Reply<R>> {
    const limit = performance.now() + limitMs;
    for (;;) {
      // No waiting while it is there: requests leave in the order in which they are made.
      const found = this.#found ?? (await this.#foundAgain(limit - performance.now()));
      if (!found || this.#closed) throw fault('fabric_unavailable', { reason: this.#closed ? 'it was let go' : 'it was lost' });
      try {
        return await found.connection.request(request, Math.max(1, limit - performance.now()));
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error;
        await found.connection.ended;
      }
    }
  }

  async #foundAgain(limitMs: number): Promise<FoundFabric | undefined> {
    const limit = new AbortController();
    await Promise.race([this.#sought, sleep(Math.max(0, limitMs), undefined, { signal: limit.signal }).catch(() => undefined)]);
    limit.abort();
    return this.#found;
  }

  #use(found: FoundFabric): void {
    const since = performance.now();
    this.#found = found;
    this.#pid = found.pid;
    this.#watchPcs(found);
    void found.connection.ended.then(() => {
      this.#found = undefined;
      if (this.#closed) return;
      this.#sought = this.#seek({ isSteady: performance.now() - since > steadyMs });
      this.#lost.emit(`the connection to the fabric (process ${found.pid}) was lost`);
    });
  }

  async #seek({ isSteady }: { isSteady: boolean }): Promise<void> {
    const retry = new Retry(searchTimes);
    if (!isSteady) await retry.pause();
    for (; !this.#closed; await retry.pause()) {
      try {
        const found = await findFabric(this.#place);
        await this.#restore(found);
        return;
      } catch {
        // Requests that wait say so when their time is over; the next attempt follows.
      }
    }
  }

  /** The lease is over, and the fabric that had them is lost. Answers those that remain: none. */
  #endPcs(): PcSpec[] {
    const ended = [...this.#pcs.values()];
    this.#pcs.clear();
    for (const pc of ended) this.#pcReports.emit(endedByLease(pc));
    return [];
  }

  async #restore(found: FoundFabric): Promise<void> {
    const { connection, pid, isNew } = found;
    const links = [...this.#links.values()];
    const op = this.#complete ? 'sync' : 'apply';
    const pcs = this.#mayRunPcs() ? [...this.#pcs.values()] : this.#endPcs();
    try {
      const holder = this.#holder;
      // Machines of a holder that cannot be used are reached as soon as the server has made another holder known.
      if (holder !== undefined) await connection.request({ op: 'use_namespace', holder }, requestLimitMs).catch(() => undefined);
      if (!this.#closed && pcs.length > 0) await connection.request({ op: 'apply_pcs', pcs }, requestLimitMs);
      const failures = this.#closed ? [] : await connection.request({ op, links }, requestLimitMs);
      this.#use(found);
      setImmediate(() => this.#restored.emit({ pid, isNew, failures, pcs: pcs.length }));
    } catch (error) {
      connection.close();
      throw error;
    }
    if (this.#closed) connection.close();
  }
}

function endedByLease({ id, name, settings = { name, mtu: 1500, dns: [] } }: PcSpec): PcReport {
  return { id, settings, end: { kind: 'failed', message: 'the lease of its slice is over' } };
}
