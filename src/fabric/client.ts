/**
 * The server's side of the fabric. It finds or starts the fabric's process with the first request, and tries again with the next one when
 * that fails. It remembers which links should be; when the fabric is lost it finds or starts another one and says them all again. Requests
 * made meanwhile wait, and those that were under way are made again: all of them may be repeated.
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
import { endedByLease, KnownPcs } from './pcs/known-pcs.ts';
import type { ProbeAnswer } from './pcs/pc-options.ts';
import type { PcProbe } from './pcs/pc-shapes.ts';
import type {
  AddressEntry,
  DirectionPlace,
  FabricCapabilities,
  FabricLinkStats,
  FabricLoad,
  FilterState,
  FrameTraceSpec,
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

interface FabricRestored {
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
  readonly #pcs = new KnownPcs();
  readonly #lost = new EventStream<string>();
  readonly #restored = new EventStream<FabricRestored>();
  /** The first search for the fabric. Undefined: none has been begun, or the last one has failed. */
  #first: Promise<void> | undefined;
  /** The fabric in use; undefined while it is sought. */
  #found: FoundFabric | undefined;
  /** Settles when it has been found again, or given up because the client was closed. */
  #sought: Promise<void> = Promise.resolve();
  #pid = 0;
  #namespaceHolder: number | undefined;
  /** The links we know are all there should be. */
  #complete = false;
  #closed = false;
  /** `start` answers null where there are `mostTrafficFlows` that have not ended, `read` where there is no such flow. */
  readonly traffic = {
    start: (flow: TrafficSpec): Promise<TrafficFigures | null> => this.#ask({ op: 'traffic_start', flow }),
    read: (id: string): Promise<TrafficFigures | null> => this.#ask({ op: 'traffic_read', traffic: id }),
    remove: async (id: string): Promise<void> => void (await this.#ask({ op: 'traffic_remove', traffic: id })),
  };
  /** `start` answers false where there are too many traces, `read` null and `end` false where there is no such trace. */
  readonly traces = {
    start: (trace: FrameTraceSpec) => this.#ask({ op: 'trace_start', trace }),
    read: (trace: string) => this.#ask({ op: 'trace_read', trace }),
    end: (trace: string) => this.#ask({ op: 'trace_end', trace }),
  };
  /** PCs and links are made in any order: a link may name a PC that is made later. */
  readonly #batches = {
    pcs: pcBatch((pcs) => this.#send({ op: 'apply_pcs', pcs })),
    links: linkBatch((links) => this.#send({ op: 'apply', links })),
    states: stateBatch((ids) => this.#send({ op: 'pc_states', ids })),
  };

  /** `mayRunPcs`: false while the lease of a slice is over; then no PC is made, and a fabric that was lost does not get its PCs again. */
  constructor(place: FabricPlace, mayRunPcs: () => boolean = () => true) {
    this.#place = place;
    this.#mayRunPcs = mayRunPcs;
  }

  /** Finds or starts the fabric for the first time. @throws fabric_unavailable when none answers and none can be started */
  connect(): Promise<void> {
    if (this.#closed && !this.#first) return Promise.reject(fault('fabric_unavailable', { reason: 'it was let go' }));
    this.#first ??= findFabric(this.#place).then(
      (found) => {
        this.#complete = found.isNew;
        this.#use(found);
      },
      (error) => {
        this.#first = undefined;
        throw error;
      },
    );
    return this.#first;
  }

  /** Last known process id of the fabric; 0 before the first. */
  get pid(): number {
    return this.#pid;
  }

  /** These links should be as given. Answers those that are not, with the reason: they stay asked for until they are removed. */
  async apply(links: LinkSpec[]): Promise<LinkFailure[]> {
    await this.connect();
    for (const link of links) this.#links.set(link.id, link);
    return this.#batches.links.add(links);
  }

  async remove(ids: string[]): Promise<void> {
    await this.connect();
    for (const id of ids) this.#links.delete(id);
    await this.#askNow({ op: 'remove', ids });
  }

  /** Exactly these links should be; answers as `apply` does. */
  async sync(links: LinkSpec[]): Promise<LinkFailure[]> {
    await this.connect();
    this.#links.clear();
    for (const link of links) this.#links.set(link.id, link);
    this.#complete = true;
    return this.#askNow({ op: 'sync', links });
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
    await this.connect();
    this.#namespaceHolder = holder;
    await this.#askNow({ op: 'use_namespace', holder });
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
    await this.connect();
    if (!this.#mayRunPcs()) return endedByLease(pc);
    this.#pcs.add(pc);
    try {
      const [report] = await this.#batches.pcs.add([pc]);
      if (!report) throw fault('fabric_unavailable', { reason: 'it did not make a PC' });
      this.#pcs.note(report);
      return report;
    } catch (error) {
      void this.removePc(pc.id).catch(() => undefined);
      throw error;
    }
  }

  async removePc(id: string): Promise<void> {
    await this.connect();
    this.#pcs.remove(id);
    await this.#askNow({ op: 'remove_pcs', ids: [id] });
  }

  /** Removes all PCs that were not applied by this client. */
  async retainPcs(): Promise<void> {
    await this.connect();
    await this.#askNow({ op: 'retain_pcs', ids: this.#pcs.ids });
  }

  /** Everything of a PC, with which another one continues; null: it does not run. */
  async pcState(id: string): Promise<unknown> {
    await this.connect();
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

  /** Calls back when the PC has other settings, or has ended by itself; one listener for each PC. Returns how to stop listening. */
  onPc(id: string, listener: (report: PcReport) => void): () => void {
    return this.#pcs.onReport(id, listener);
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

  /** Called with the reason when the fabric was lost; another one is sought at once. Returns how to stop listening. */
  onLost(listener: (reason: string) => void): () => void {
    return this.#lost.subscribe(listener);
  }

  /** Called when a fabric carries our links again. */
  onRestored(listener: (restored: FabricRestored) => void): () => void {
    return this.#restored.subscribe(listener);
  }

  /** Disconnects, once it is connected; the fabric keeps running. */
  async close(): Promise<void> {
    await this.#first?.catch(() => undefined);
    this.#closed = true;
    this.#found?.connection.close();
  }

  /** Ends the fabric's process, unless this client has never found one; settles when it has gone. */
  async quit(): Promise<void> {
    await this.#first?.catch(() => undefined);
    this.#closed = true;
    if (this.#pid === 0) return;
    await this.#sought;
    if (this.#found) await quitFabric(this.#found.connection, this.#found.pid);
    await quitPresent(this.#place);
  }

  #watchPcs({ connection }: FoundFabric): void {
    const report = (pc: PcReport) => this.#pcs.report(pc);
    connection.onPc = report;
    const isKnown = ({ id }: PcReport) => this.#pcs.has(id);
    connection.request({ op: 'watch_pcs' }, requestLimitMs).then(
      (pcs) => pcs.filter(isKnown).forEach(report),
      () => undefined,
    );
  }

  async #ask<R extends Request>(request: R, limitMs = requestLimitMs): Promise<Reply<R>> {
    await this.connect();
    return this.#askNow(request, limitMs);
  }

  /** Makes a request behind those that wait to be joined. */
  #askNow<R extends Request>(request: R, limitMs = requestLimitMs): Promise<Reply<R>> {
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

  async #restore(found: FoundFabric): Promise<void> {
    const { connection, pid, isNew } = found;
    const links = [...this.#links.values()];
    const op = this.#complete ? 'sync' : 'apply';
    if (!this.#mayRunPcs()) this.#pcs.endAll();
    const pcs = this.#pcs.all;
    try {
      const holder = this.#namespaceHolder;
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
