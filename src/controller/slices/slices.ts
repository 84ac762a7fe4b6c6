/**
 * The computes that registered themselves: invitation, joining, lease. Knows no project.
 *
 * Theory of operation. A slice renews its lease every quarter of T, and counts from the moment at which it sent the request; the controller
 * counts from its answer, which is later. Without a renewal the slice pauses its machines after T and ends them after 2T; the controller
 * declares it lost after 3T, by a clock that no change of the date moves. A lost slice has the next epoch: with the old one it can renew
 * nothing, and no link takes its frames. It is not spoken to until it has confirmed the new epoch, which it does after it has ended its
 * machines; one that an engine places again cannot from then on, since its successor has the new epoch. A controller that starts again
 * knows no renewals, and waits 3T from its own start; so does one that slept.
 */
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { bootMs } from '../../lib/boot-clock.ts';
import { DurableMap } from '../../lib/durable-map.ts';
import type { Log } from '../../lib/log.ts';
import { KeyedMutex } from '../../lib/mutex.ts';
import type { SliceAddress, SliceInvitation, SliceInvite, SliceJoin, SliceLease, SliceRenew } from '../../schema/slice.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { hashOf, hashOfUse, invited, isEntry, isSecret, newToken, type SliceEntry, type StoredOrder } from './slice-entry.ts';

interface EngineLeases {
  /** Whether the slice can ask its engine while the controller is away. */
  readonly canAsk: (entry: SliceEntry) => boolean;
  /** Whether no machine of a slice that has not renewed its lease runs any more; it is asked again after false. */
  readonly isOver: (id: string, entry: SliceEntry) => boolean;
  /** Notes that the lease of the slice began, or was renewed. */
  readonly renewed: (id: string) => void;
}

export interface SlicesOptions {
  readonly stateDirectory: string;
  readonly computes: Computes;
  readonly log: Log;
  /** T. */
  readonly leaseMs: number;
  /**
   * Called with each renewal: whether the slice was asked to end, while its nodes can still be seen. True: it waits, because its machines are
   * being moved.
   */
  readonly onEnding: (compute: RegisteredCompute, isEnding: boolean) => boolean;
  /** Slices that keep their place by the word of their engine. */
  readonly engineLeases?: EngineLeases;
  /** Nothing of the slice runs any more, and its epoch is the next one: durable. */
  readonly onFenced: (compute: RegisteredCompute, entry: SliceEntry) => void;
}

/** The user of every slice's compute. */
const sliceUser = 'patchbay';
/** Number of leases (T) without a renewal after which the controller declares a slice lost. */
export const lostAfter = 3;
const defaultExpirySeconds = 3600;

export class Slices {
  readonly #options: SlicesOptions;
  readonly #map: DurableMap<SliceEntry>;
  readonly #locks = new KeyedMutex();
  /** Times at which the leases of joined slices were renewed last. */
  readonly #renewed = new Map<string, number>();
  /** Time at which leases were looked at last. */
  #checked = bootMs();
  #timer: NodeJS.Timeout | undefined;

  private constructor(options: SlicesOptions, map: DurableMap<SliceEntry>) {
    this.#options = options;
    this.#map = map;
  }

  static async open(options: SlicesOptions): Promise<Slices> {
    const { stateDirectory, log } = options;
    const warn = (message: string) => log.error(message);
    const map = await DurableMap.open<SliceEntry>(join(stateDirectory, 'slices.log'), warn, isEntry);
    const slices = new Slices(options, map);
    for (const [id, entry] of map.entries()) slices.#restore(id, entry);
    slices.#timer = setInterval(() => slices.#check(), Math.min(1_000, options.leaseMs / 10)).unref();
    return slices;
  }

  find(computeId: string): SliceEntry | undefined {
    const entry = this.#map.get(computeId);
    return entry?.state === 'deleted' ? undefined : entry;
  }

  /** Returns also a slice that was deleted, and that its engine still has to end. */
  findStored(computeId: string): SliceEntry | undefined {
    return this.#map.get(computeId);
  }

  all(): [string, SliceEntry][] {
    return [...this.#map.entries()].filter(([, { state }]) => state !== 'deleted');
  }

  /** Slices that were deleted, and that their engines still have to end. */
  deleted(): [string, SliceEntry][] {
    return [...this.#map.entries()].filter(([, { state }]) => state === 'deleted');
  }

  /** A token with which one slice may join, once. @throws compute_id_reserved, compute_name_taken, storage_failed */
  invite(
    { compute_id, name, expires_in = defaultExpirySeconds }: SliceInvite,
    order: StoredOrder | null = null,
  ): Promise<SliceInvitation> {
    const id = (compute_id ?? crypto.randomUUID()).toLowerCase();
    return this.#locks.run(id, () => this.#invite(id, expires_in, { order, ...(name !== undefined && { name }) }));
  }

  /**
   * A token for the next process of a slice that its engine places again. From now on the one before it, whose lease was lost, is refused.
   * Undefined: that one has returned meanwhile. @throws storage_failed
   */
  inviteNext(id: string, expiresIn: number): Promise<SliceInvitation | undefined> {
    return this.#locks.run(id, async () =>
      this.#map.get(id)?.state === 'joined' ? undefined : this.#invite(id, expiresIn, { order: null }),
    );
  }

  async #invite(
    id: string,
    expiresIn: number,
    { name, order }: { readonly name?: string; readonly order: StoredOrder | null },
  ): Promise<SliceInvitation> {
    const known = this.#map.get(id);
    if (known?.state === 'deleted' || (!known && this.#options.computes.find(id))) throw fault('compute_id_reserved', { name: id });
    const token = newToken(id);
    const expiresAt = new Date(Date.now() + expiresIn * 1000).toISOString();
    const invitation = { hash: hashOf(token), expiresAt };
    await this.#dropExpired();
    const named = name ?? known?.name ?? `slice ${id.slice(0, 8)}`;
    this.#refuseTakenName(id, named);
    await this.#set(id, { ...(known ?? invited), name: named, invitation, order: order ?? known?.order ?? null });
    return { compute_id: id, name: named, token, expires_at: expiresAt };
  }

  /**
   * Registers the slice that has the token. The same request again has the same answer: it may have been lost. From the first join on the
   * token is stored together with the secret of that slice, so that it admits no other, also when that one has left or is lost.
   * @throws slice_token_refused, and why its compute cannot be used
   */
  async join({ token, secret, address, findings = [] }: SliceJoin): Promise<SliceLease> {
    const used = hashOfUse(token, secret);
    const hashes = [hashOf(token), used];
    const [id = ''] = this.all().find(([, { invitation }]) => invitation && hashes.includes(invitation.hash)) ?? [];
    return this.#locks.run(id, async () => {
      const entry = this.#map.get(id);
      if (!entry?.invitation || !hashes.includes(entry.invitation.hash)) throw fault('slice_token_refused', {});
      const isAgain = isSecret(entry.secretHash, secret);
      if (isAgain && entry.state === 'joined') return this.#admit(id, entry);
      // A process started anew for an id that has joined has another secret; the lease of the old process must be over.
      const isFree = entry.secretHash === null || entry.state === 'left' || entry.state === 'lost' || isAgain;
      if (!isFree || Date.parse(entry.invitation.expiresAt) <= Date.now()) throw fault('slice_token_refused', {});
      await this.#register(id, entry.name, { address, secret });
      const joined: SliceEntry = {
        ...entry,
        epoch: entry.epoch + 1,
        state: 'joined',
        reason: null,
        secretHash: hashOf(secret),
        invitation: { ...entry.invitation, hash: used },
        findings,
      };
      await this.#set(id, joined);
      return this.#admit(id, joined);
    });
  }

  /** @throws slice_not_found, slice_refused */
  renew(computeId: string, { secret, epoch, address, leaving = false, ending = false }: SliceRenew): Promise<SliceLease> {
    const id = computeId.toLowerCase();
    return this.#locks.run(id, async () => {
      const entry = this.#map.get(id);
      const compute = this.#options.computes.find(id);
      // The engine ends a deleted slice and then removes its data: the slice does not end by itself before.
      if (entry?.state === 'deleted' && isSecret(entry.secretHash, secret)) return { ...this.#leaseOf(id, entry), epoch };
      if (!entry || entry.secretHash === null || !compute) throw fault('slice_not_found', { compute_id: computeId });
      if (!isSecret(entry.secretHash, secret)) throw fault('slice_refused', { compute_id: computeId });
      if (epoch !== entry.epoch) return { ...this.#leaseOf(id, entry), fenced: true };
      // Otherwise two processes would share one lease and one disk.
      if (isReplaced(entry)) throw fault('slice_refused', { compute_id: computeId });
      const moving = !leaving && this.#options.onEnding(compute, ending);
      if (leaving) {
        await this.#fence(id, entry, { state: 'left', reason: 'it ended' });
        return this.#leaseOf(id, this.#map.get(id) ?? entry);
      }
      const { protocol, host, port } = compute.record;
      if (protocol !== address.protocol || host !== address.host || port !== address.port)
        await this.#options.computes.update(id, address);
      if (entry.state !== 'joined') await this.#set(id, { ...entry, state: 'joined', reason: null });
      return { ...this.#admit(id, this.#map.get(id) ?? entry), ...(moving && { moving }) };
    });
  }

  /** Nothing of it runs any more, as it or its engine says: nothing has to wait for its lease. */
  ended(computeId: string, reason: string): Promise<void> {
    return this.#locks.run(computeId, async () => {
      const entry = this.#map.get(computeId);
      if (entry?.state === 'joined' || entry?.state === 'lost') await this.#fence(computeId, entry, { state: 'left', reason });
    });
  }

  setDraining(computeId: string, isDraining: boolean): Promise<void> {
    return this.#locks.run(computeId, async () => {
      const entry = this.find(computeId);
      if (!entry) throw fault('slice_not_found', { compute_id: computeId });
      if (entry.isDraining !== isDraining) await this.#set(computeId, { ...entry, isDraining, reason: null });
    });
  }

  /** Says why it is in its state, or how far that is. */
  note(computeId: string, reason: string | null): Promise<void> {
    return this.#locks.run(computeId, async () => {
      const entry = this.find(computeId);
      if (entry && entry.reason !== reason) await this.#set(computeId, { ...entry, reason });
    });
  }

  /** Marks a slice as deleted: it is hidden at once, and forgotten when its engine has ended it. */
  markDeleted(computeId: string): Promise<void> {
    return this.#locks.run(computeId, async () => {
      const entry = this.#map.get(computeId);
      this.#renewed.delete(computeId);
      if (entry) await this.#set(computeId, { ...entry, state: 'deleted', invitation: null });
    });
  }

  /** Restores the entry of a slice whose compute could not be deleted. */
  unmarkDeleted(computeId: string, entry: SliceEntry): Promise<void> {
    return this.#locks.run(computeId, async () => {
      await this.#set(computeId, entry);
      if (entry.state === 'joined') this.#renewed.set(computeId, bootMs());
    });
  }

  /** Forgets a slice whose compute is no longer used, and of which nothing is left at its engine. */
  forget(computeId: string): Promise<void> {
    return this.#locks.run(computeId, async () => {
      this.#renewed.delete(computeId);
      await this.#map.delete(computeId);
    });
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    return this.#map.close();
  }

  #restore(id: string, entry: SliceEntry): void {
    const compute = this.#options.computes.find(id);
    if (!compute) return;
    compute.epoch = entry.epoch;
    if (entry.state === 'joined') this.#renewed.set(id, bootMs());
    else compute.fence(fencedReason(entry));
  }

  #leaseOf(id: string, entry: SliceEntry): SliceLease {
    const { leaseMs, engineLeases } = this.#options;
    const lease = { compute_id: id, epoch: entry.epoch, fenced: false, seconds: leaseMs / 1000 };
    return engineLeases?.canAsk(entry) ? { ...lease, asks_engine: true } : lease;
  }

  /** The lease begins, or is longer now. */
  #admit(id: string, entry: SliceEntry): SliceLease {
    this.#renewed.set(id, bootMs());
    this.#options.engineLeases?.renewed(id);
    const compute = this.#options.computes.get(id);
    compute.epoch = entry.epoch;
    compute.fence(null);
    return this.#leaseOf(id, entry);
  }

  /** Registers the slice's compute with its present address and password. @throws why it cannot be used */
  async #register(id: string, name: string, { address, secret }: { address: SliceAddress; secret: string }): Promise<void> {
    const { computes } = this.#options;
    const record = { compute_id: id, name, ...address, user: sliceUser, password: secret };
    if (computes.find(id)) await computes.update(id, record);
    else await computes.create(record);
  }

  /** Invitations that were never used. */
  async #dropExpired(): Promise<void> {
    const now = Date.now();
    for (const [id, { state, order, invitation }] of this.all()) {
      const isOver = invitation !== null && Date.parse(invitation.expiresAt) <= now;
      if (state === 'invited' && order === null && isOver) await this.#map.delete(id);
    }
  }

  #refuseTakenName(id: string, name: string): void {
    const isTaken =
      this.all().some(([other, entry]) => other !== id && entry.name === name) ||
      this.#options.computes.all().some((compute) => compute.id !== id && compute.record.name === name);
    if (isTaken) throw fault('compute_name_taken', { name });
  }

  #check(): void {
    if (this.#renewed.size === 0) return;
    const now = bootMs();
    const { leaseMs } = this.#options;
    // This host slept, or the process was stopped: renewals may be waiting to be read.
    if (now - this.#checked > leaseMs) for (const id of this.#renewed.keys()) this.#renewed.set(id, now);
    this.#checked = now;
    const late = now - lostAfter * leaseMs;
    for (const [id, at] of this.#renewed) if (at < late) void this.#lose(id, late);
  }

  async #lose(id: string, late: number): Promise<void> {
    await this.#locks
      .run(id, async () => {
        const entry = this.#map.get(id);
        // The lease was renewed while this call waited for its turn.
        if (entry?.state !== 'joined' || (this.#renewed.get(id) ?? 0) >= late) return;
        if (this.#options.engineLeases?.isOver(id, entry) === false) return;
        await this.#fence(id, entry, { state: 'lost', reason: 'it has not renewed its lease' });
      })
      .catch((error: unknown) => this.#options.log.error({ err: error }, `slice ${id} could not be declared lost`));
  }

  /** The next epoch first, then everything that relies on it. */
  async #fence(id: string, entry: SliceEntry, next: Pick<SliceEntry, 'state' | 'reason'>): Promise<void> {
    const invitation = entry.order ? null : entry.invitation;
    const fenced: SliceEntry = { ...entry, ...next, invitation, epoch: entry.epoch + 1 };
    await this.#set(id, fenced);
    this.#renewed.delete(id);
    const compute = this.#options.computes.find(id);
    if (!compute) return;
    compute.epoch = fenced.epoch;
    compute.fence(fencedReason(fenced));
    this.#options.log.warn(`Slice ${entry.name}: ${fencedReason(fenced)}`);
    this.#options.onFenced(compute, fenced);
  }

  async #set(id: string, entry: SliceEntry): Promise<void> {
    try {
      await this.#map.set(id, entry);
    } catch (error) {
      throw fault('storage_failed', { reason: (error as Error).message }, { cause: error });
    }
  }
}

/** The engine places another process of the slice: the invitation of the one before ended with its lease. */
function isReplaced({ order, state, invitation }: SliceEntry): boolean {
  return order !== null && state !== 'joined' && invitation !== null;
}

function fencedReason({ state, reason }: SliceEntry): string {
  return `the slice ${state === 'lost' ? 'is lost' : 'has left'}${reason === null ? '' : `: ${reason}`}`;
}
