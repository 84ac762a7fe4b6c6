/**
 * Slices that engines place: ordered, adopted when the controller starts again, placed again after they were lost, released.
 *
 * Theory of operation. An order is stored with its invitation before the engine is asked, so nothing that an engine started is unknown here
 * but what was released meanwhile, and that is released again. What is stored is wanted: a report, a list, the end of a lease or of a
 * placement only says which slice to look at, and `decideSlice` compares what is stored of it with what its engine reported.
 */
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { EventStream } from '../../lib/event-stream.ts';
import type { Log } from '../../lib/log.ts';
import { Retry } from '../../lib/retry.ts';
import { readOwnJson } from '../../lib/set-aside.ts';
import { isUuid } from '../../schema/common.ts';
import type { SliceOrderRequest } from '../../schema/slice.ts';
import { type Engine, EngineError, type EngineLimits, type SliceNeeds, type SliceReport } from '../engines/engine.ts';
import { decideSlice } from './decide-slice.ts';
import type { SliceEntry, StoredOrder } from './slice-entry.ts';
import type { Slices } from './slices.ts';

interface EngineSlicesOptions {
  readonly stateDirectory: string;
  readonly slices: Slices;
  /** Engines by name. */
  readonly engines: ReadonlyMap<string, Engine>;
  readonly log: Log;
}

/** A token for a slice that may wait for room. Seconds. */
const tokenSeconds = 604_800;
const retryTimes = { firstMs: 1_000, longestMs: 60_000 };
/** An engine ends a slice within its grace. */
const releaseTimes = { firstMs: 2_000, longestMs: 60_000 };

export class EngineSlices {
  readonly #options: EngineSlicesOptions;
  readonly #owner: string;
  readonly #storeOwner: () => Promise<void>;
  readonly #reports = new Map<string, SliceReport>();
  /** Ids that are being placed. */
  readonly #placing = new Map<string, Promise<void>>();
  readonly #problems = new Map<string, string>();
  /** Ids of deleted slices that their engines still have to end. */
  readonly #releasing = new Set<string>();
  /** Placement attempts by slice id, with the epoch of the slice then: a slice that has joined since has another epoch. */
  readonly #attempts = new Map<string, { readonly epoch: number; readonly retry: Retry }>();
  /** Limits by engine name. */
  readonly #limits = new Map<string, EngineLimits>();
  /** Ids of slices that begin to be drained by their engine, or are not any more. */
  readonly drains = new EventStream<string>();
  readonly #stop = new AbortController();
  #joinUrl = '';
  #watching: Promise<unknown> = Promise.resolve();

  private constructor(options: EngineSlicesOptions, owner: string, storeOwner: () => Promise<void>) {
    this.#options = options;
    this.#owner = owner;
    this.#storeOwner = storeOwner;
  }

  static async open(options: EngineSlicesOptions): Promise<EngineSlices> {
    const path = join(options.stateDirectory, 'cluster-owner.json');
    const take = (value: unknown) => {
      if (typeof value !== 'string' || !isUuid(value)) throw new Error('it is no id');
      return value;
    };
    const known = options.engines.size > 0 ? await readOwnJson(path, take, (message) => options.log.error(message)) : '';
    const owner = known ?? crypto.randomUUID();
    let isStored = known !== undefined;
    const storeOwner = async () => {
      if (!isStored) await writeFileAtomic(path, JSON.stringify(owner), 0o600);
      isStored = true;
    };
    // A server on a full disk starts all the same, and places nothing until its id is stored.
    await storeOwner().catch((error: Error) => options.log.error(`${path} cannot be written: ${error.message}`));
    const engineSlices = new EngineSlices(options, owner, storeOwner);
    await engineSlices.#dropUnknownEngines();
    return engineSlices;
  }

  /** Deleted slices of an engine that is not configured any more: they end by themselves. */
  async #dropUnknownEngines(): Promise<void> {
    const { slices, engines, log } = this.#options;
    for (const [id, { order }] of slices.deleted()) {
      if (!order || !engines.has(order.engine)) await slices.forget(id).catch((error: Error) => log.error(error.message));
    }
  }

  /** `joinUrl`: where slices reach this controller. From now on engines are watched. */
  begin(joinUrl: string): void {
    this.#joinUrl = joinUrl;
    const { signal } = this.#stop;
    for (const engine of this.#options.engines.values()) void this.#askLimits(engine);
    const watches = Array.from(this.#options.engines.values(), (engine) =>
      engine.watch(this.#owner, this.#listener(engine), signal),
    );
    this.#watching = Promise.all(watches);
  }

  /** Asks the engine for its limits until it answers. Never rejects. */
  async #askLimits(engine: Engine): Promise<void> {
    const retry = new Retry(retryTimes);
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const limits = await engine.limits().catch(() => undefined);
      if (limits) {
        this.#limits.set(engine.name, limits);
        return;
      }
      await retry.pause(signal);
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#watching;
    await Promise.all(this.#placing.values());
  }

  /** The last word of its engine, or why it could not be asked. */
  reportOf(id: string): SliceReport | undefined {
    const problem = this.#problems.get(id);
    const report = this.#reports.get(id);
    if (problem === undefined) return report;
    return { id, state: 'pending', host: null, endsAt: null, ...report, reason: problem };
  }

  /** Resolves when the order is stored; the slice joins when it runs. @throws engine_missing, engine_refused */
  async order(request: SliceOrderRequest): Promise<string> {
    await this.#storeOwner().catch((error: Error) => {
      throw fault('storage_failed', { reason: error.message }, { cause: error });
    });
    const id = crypto.randomUUID();
    this.#attempts.set(id, { epoch: 0, retry: new Retry(retryTimes) });
    const { promise: ordered, resolve } = Promise.withResolvers<void>();
    // A list of its engine that lacks it yet does not end it.
    this.#placing.set(id, ordered);
    const isAccepted = await this.#order(id, request).finally(() => {
      this.#placing.delete(id);
      resolve();
    });
    if (isAccepted) this.#onPlaced(id);
    else this.#place(id);
    return id;
  }

  /** False: its engine cannot be asked now. */
  async #order(id: string, { engine: name, project_id = null, name: title, ...wanted }: SliceOrderRequest): Promise<boolean> {
    const engine = this.#engine(name);
    const needs: SliceNeeds = { cpus: 1, memory: 512, disk: 1024, kvm: false, images: [], ...wanted };
    const order: StoredOrder = { engine: engine.name, projectId: project_id ?? '', needs };
    const invitation = await this.#options.slices.invite(
      { compute_id: id, expires_in: tokenSeconds, ...(title !== undefined && { name: title }) },
      order,
    );
    try {
      await engine.place({ ...this.#orderOf(id, invitation.name, needs), token: invitation.token });
    } catch (error) {
      if (error instanceof EngineError && !error.isFinal) {
        this.#problems.set(id, error.message);
        return false;
      }
      await this.#options.slices.forget(id);
      await engine.release(id, { keepDisks: false }).catch(() => undefined);
      if (!(error instanceof EngineError)) throw error;
      throw fault('engine_refused', { engine: engine.name, reason: error.message }, { cause: error });
    }
    return true;
  }

  /** Looks at a slice of which nothing runs any more: it is placed again. */
  onFenced(id: string): void {
    const entry = this.#options.slices.find(id);
    const engine = entry && this.engineOf(entry);
    if (engine) this.#look(engine, id, this.#reports.get(id));
  }

  /** The slice's data folder ends with it, as far as its engine has said. */
  losesDisks({ order }: SliceEntry): boolean {
    return order !== null && this.#limits.get(order.engine)?.disks === 'none';
  }

  /** The engine is about to take the slice's place. */
  isDraining(id: string): boolean {
    return this.#reports.get(id)?.state === 'draining';
  }

  /** Time that a slice has when it is asked to end; undefined: no engine placed it, or that has not said. */
  graceMs(id: string): number | undefined {
    const { order } = this.#options.slices.find(id) ?? {};
    const limits = order && this.#limits.get(order.engine);
    const leftMs = (this.#reports.get(id)?.endsAt?.getTime() ?? Number.POSITIVE_INFINITY) - Date.now();
    return limits ? Math.max(0, Math.min(limits.grace * 1000, leftMs)) : undefined;
  }

  /**
   * Has a slice on a drained host end, so that it is placed again: one that has nodes only when another host has room for it.
   * @returns false: it stays for now
   */
  async vacate(id: string, { isEmpty }: { readonly isEmpty: boolean }): Promise<boolean> {
    const entry = this.#options.slices.find(id);
    const engine = entry && this.engineOf(entry);
    if (!engine || entry.state !== 'joined') return true;
    try {
      if (!isEmpty && !(await hasRoom(engine, entry))) return false;
      if (this.isDraining(id) && this.#options.slices.find(id)?.epoch === entry.epoch)
        await engine.release(id, { keepDisks: true });
      return true;
    } catch (error) {
      this.#options.log.warn({ err: error }, `slice ${id} could not be placed elsewhere`);
      return false;
    }
  }

  engineOf({ order }: SliceEntry): Engine | undefined {
    return order ? this.#options.engines.get(order.engine) : undefined;
  }

  /** Releases a slice that was marked as deleted; it is forgotten when its engine has ended it. Never rejects. */
  async delete(id: string, engine: Engine): Promise<void> {
    this.#reports.delete(id);
    this.#problems.delete(id);
    this.#attempts.delete(id);
    await this.#releaseDeleted(engine, id);
  }

  /** The first attempt; others follow until its engine has ended it. Never rejects. */
  async #releaseDeleted(engine: Engine, id: string): Promise<void> {
    const isFirst = !this.#releasing.has(id);
    this.#releasing.add(id);
    await engine.release(id, { keepDisks: false }).catch((error: Error) => {
      this.#options.log.warn({ err: error }, `slice ${id} is not released yet`);
    });
    if (isFirst) void this.#releaseAgain(engine, id);
  }

  async #releaseAgain(engine: Engine, id: string): Promise<void> {
    const { signal } = this.#stop;
    for (const retry = new Retry(releaseTimes); !signal.aborted; ) {
      await retry.pause(signal);
      if (signal.aborted || this.#options.slices.findStored(id)?.state !== 'deleted') break;
      await engine.release(id, { keepDisks: false }).catch(() => undefined);
    }
    this.#releasing.delete(id);
  }

  #engine(name: string | undefined): Engine {
    const [first] = this.#options.engines.values();
    const engine = name === undefined ? first : this.#options.engines.get(name);
    if (!engine)
      throw fault('engine_missing', { engine: name ?? '', known: [...this.#options.engines.keys()].join(', ') || 'none' });
    return engine;
  }

  #orderOf(id: string, title: string, needs: SliceNeeds) {
    return { id, owner: this.#owner, title: title.slice(0, 64), needs, joinUrl: this.#joinUrl };
  }

  #listener(engine: Engine) {
    return {
      onList: (reports: readonly SliceReport[]) => {
        const listed = new Set(reports.map(({ id }) => id));
        for (const report of reports) this.#take(engine, report);
        for (const [id, { order, state }] of [...this.#options.slices.all(), ...this.#options.slices.deleted()]) {
          if (order?.engine !== engine.name || listed.has(id)) continue;
          if (state === 'joined') this.#reports.delete(id);
          this.#look(engine, id, 'unlisted');
        }
      },
      onChange: (report: SliceReport) => this.#take(engine, report),
      onProblem: (problem: string | null) => {
        if (problem !== null) this.#options.log.warn(`The engine ${engine.name} cannot be reached: ${problem}`);
      },
    };
  }

  #take(engine: Engine, report: SliceReport): void {
    const { id } = report;
    const wasDraining = this.isDraining(id);
    if (this.#options.slices.find(id)?.order?.engine === engine.name) this.#reports.set(id, report);
    if (this.isDraining(id) !== wasDraining) this.drains.emit(id);
    this.#look(engine, id, report);
  }

  /** Does about a slice what is to be done now. */
  #look(engine: Engine, id: string, report: SliceReport | 'unlisted' | undefined): void {
    const { slices, log } = this.#options;
    const entry = slices.findStored(id);
    const isOwn = entry?.order?.engine === engine.name;
    const decision = decideSlice({
      state: isOwn || entry?.state === 'deleted' ? entry.state : 'unknown',
      report: report === 'unlisted' ? report : (report?.state ?? 'none'),
      isPlacing: this.#placing.has(id),
      isInvited: (entry?.invitation ?? null) !== null,
    });
    const failed = (error: unknown) => log.error({ err: error }, `slice ${id}: ${decision} failed`);
    if (decision === 'place') this.#place(id);
    else if (decision === 'replace') this.#place(id, engine);
    else if (decision === 'remove') void this.#releaseDeleted(engine, id);
    else if (decision === 'release') void this.#release(id, engine);
    else if (decision === 'forget') slices.forget(id).catch(failed);
    else if (decision === 'fence') slices.ended(id, this.#reports.get(id)?.reason ?? 'its engine has ended it').catch(failed);
  }

  /** Looks at a report that arrived after the engine was asked to place the slice, which may have ended before the engine answered. */
  #onPlaced(id: string): void {
    const entry = this.#options.slices.find(id);
    const engine = entry && this.engineOf(entry);
    const report = this.#reports.get(id);
    if (engine && report) this.#look(engine, id, report);
  }

  /** Places the slice, until the engine has accepted it or it is not wanted any more. `engine`: where it is released first. */
  #place(id: string, engine?: Engine): void {
    if (this.#placing.has(id) || this.#stop.signal.aborted) return;
    const placing = this.#release(id, engine)
      .then(() => this.#placeNow(id))
      .catch((error: unknown) => {
        this.#options.log.error({ err: error }, `slice ${id} could not be placed`);
        return false;
      })
      .then((isAccepted) => {
        this.#placing.delete(id);
        if (isAccepted) this.#onPlaced(id);
      });
    this.#placing.set(id, placing);
  }

  async #release(id: string, engine: Engine | undefined): Promise<void> {
    await engine?.release(id, { keepDisks: true }).catch((error: Error) => this.#options.log.warn(error.message));
  }

  /** Delays the next attempt more and more for a slice that ends before it joins, such as when its program is missing on that host. */
  async #nextAttempt(id: string): Promise<Retry> {
    const epoch = this.#options.slices.find(id)?.epoch ?? 0;
    const before = this.#attempts.get(id);
    if (before?.epoch === epoch) {
      await before.retry.pause(this.#stop.signal);
      return before.retry;
    }
    const retry = new Retry(retryTimes);
    this.#attempts.set(id, { epoch, retry });
    return retry;
  }

  /** Whether its engine has accepted it; what is reported of it from then on is known. */
  async #placeNow(id: string): Promise<boolean> {
    const { slices } = this.#options;
    const { signal } = this.#stop;
    const retry = await this.#nextAttempt(id);
    while (!signal.aborted) {
      const entry = slices.find(id);
      const engine = entry && this.engineOf(entry);
      if (!entry?.order || !engine || entry.state === 'joined') return false;
      try {
        const invitation = await slices.inviteNext(id, tokenSeconds);
        if (!invitation) return false;
        // The last report was about the previous process.
        this.#reports.delete(id);
        await engine.place({ ...this.#orderOf(id, invitation.name, entry.order.needs), token: invitation.token });
        this.#problems.delete(id);
        return true;
      } catch (error) {
        // An error that the engine calls final is retried as well: it had accepted the slice, and a right or a node may be given again.
        this.#problems.set(id, (error as Error).message);
      }
      await retry.pause(signal);
    }
    return false;
  }
}

/** Now, on a host that takes work. */
async function hasRoom(engine: Engine, { order }: SliceEntry): Promise<boolean> {
  if (!order) return false;
  const { cpus, memory, disk, kvm } = order.needs;
  return (await engine.offer()).some(
    (offer) => offer.wait === 0 && offer.cpus >= cpus && offer.memory >= memory && offer.disk >= disk && (offer.kvm || !kvm),
  );
}
