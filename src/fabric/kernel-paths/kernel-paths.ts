/**
 * Links that the kernel carries: frames go from one container's veth to the other's without entering this process, by a rule of `tc`
 * on each host end (`redirection.ts`). Only links that do nothing to their frames are carried so; which those are is decided by the link.
 *
 * Theory of operation: a host end always has a rule that leads to its TAP interface, which the compute made with it. The rule of the
 * kernel's path is ahead of it, so adding and removing it switches the link without a gap. The rules outlive this process; the next fabric
 * finds them, removes those of links that are no longer asked for (`forget`), and keeps the others.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Retry, type RetryTimes } from '../../lib/retry.ts';
import { BatchTool } from '../../process/batch-tool.ts';
import { InterfacePlace } from '../ports/interface-place.ts';
import type { Native } from '../ports/native.ts';
import type { DirectionStats } from '../protocol.ts';
import { actionOf, hostEndPrefix, removeAction, removeFast, shareAction, useAction } from '../redirection.ts';
import { type KernelCount, KernelCounters, type KernelCounts, KernelRates, noCount } from './kernel-counters.ts';
import { PathProofs, type UnprovenPath } from './path-proofs.ts';
import { testRedirection } from './self-test.ts';

/** Interfaces of a link's two ends, at which what a container or a machine sends comes in. */
export type HostEnds = readonly [a: string, b: string];

export class KernelPaths {
  readonly tc: BatchTool;
  readonly counters: KernelCounters;
  readonly proofs: PathProofs;
  readonly place: InterfacePlace;
  readonly #native: Native | undefined;
  /** Of the host ends of this server; those of others are left alone. */
  readonly #owner: string;
  /** Host ends whose rules are to be there. */
  readonly #wanted = new Set<string>();
  /** Actions of links of this process. */
  readonly #inUse = new Set<number>();
  /** Actions that belong to no link. */
  readonly #unused = new Set<number>();
  #discarding: NodeJS.Timeout | undefined;
  #test: Promise<string | undefined> | undefined;
  /** Links that could be carried if the trial succeeded. */
  readonly #waiting = new Map<KernelPath, () => void>();
  readonly #retry: Retry;
  /** Of what failed. */
  readonly retryTimes: RetryTimes;

  /** `place`: where the ends are. `retryMs`: after so long what failed is repeated; each time after twice as long. */
  constructor(
    native: Native | undefined,
    owner: string,
    { retryMs = firstRetryMs, place = new InterfacePlace('host') }: { retryMs?: number; place?: InterfacePlace } = {},
  ) {
    this.place = place;
    this.tc = new BatchTool(() => [...place.enter, 'tc']);
    this.counters = new KernelCounters(this.tc, { ofMachines: place.name === 'links' });
    this.proofs = new PathProofs(this.counters, place);
    this.#native = native;
    this.#owner = owner;
    this.retryTimes = { firstMs: retryMs, longestMs: longestRetryMs };
    this.#retry = new Retry(this.retryTimes, () => {
      this.#test = undefined;
      void this.obstacle();
    });
  }

  /** Why there can be no such link here; undefined when there can. Tried once, and again later when it failed. */
  obstacle(): Promise<string | undefined> {
    if (!this.place.isKnown) return Promise.resolve('no link namespace has been made');
    this.#test ??= this.#native
      ? this.#try(this.#native)
      : Promise.resolve('koffi cannot be loaded: it was not installed, has no binary for this system, or is switched off');
    return this.#test;
  }

  /** The link namespace has another holder, or is another one: what was tried before says nothing of it. */
  placeChanged(): void {
    this.#test = undefined;
    this.tc.close();
    if (this.#waiting.size > 0) void this.obstacle();
  }

  /** Calls back when a trial has succeeded after all; once. */
  whenPossible(path: KernelPath, retry: () => void): void {
    this.#waiting.set(path, retry);
  }

  giveUp(path: KernelPath): void {
    this.#waiting.delete(path);
  }

  /** The reason may pass: a program that is installed later, a machine that was too busy. */
  async #try(native: Native): Promise<string | undefined> {
    const obstacle = await testRedirection(native, this.tc, this.place);
    if (obstacle === undefined) {
      const waiting = [...this.#waiting.values()];
      this.#waiting.clear();
      for (const retry of waiting) setImmediate(retry);
      return undefined;
    }
    this.#retry.failed();
    return obstacle;
  }

  /** Notes that the rules of these host ends are to be there, or no longer. */
  note(ends: HostEnds, isWanted: boolean): void {
    for (const end of ends) {
      if (isWanted) this.#wanted.add(end);
      else this.#wanted.delete(end);
    }
  }

  /** Removes the rules of host ends that no link has: those of links that were removed while no fabric ran. */
  async forget(): Promise<void> {
    if (!this.place.isKnown) return;
    const names = await readdir(this.place.interfaces).catch(() => []);
    const stale: string[] = [];
    const actions: number[] = [];
    for (const name of names.filter((each) => each.startsWith(hostEndPrefix))) {
      const index = this.indexOf(name);
      // Only this server has a link namespace; the host's own has interfaces of others, too.
      const isOurs = this.place.name === 'links' || (await this.#readAlias(name)) === this.#owner;
      if (!isOurs || index === undefined || this.#wanted.has(name)) continue;
      stale.push(name);
      if (!this.#inUse.has(actionOf(index))) actions.push(actionOf(index));
    }
    if (stale.length === 0) return;
    await this.tc.run(stale.map(removeFast));
    this.discard(actions);
  }

  /** Undefined: there is no such interface. */
  indexOf(name: string): number | undefined {
    const index = this.place.readFigure(name, 'ifindex') ?? 0;
    return Number.isInteger(index) && index > 0 ? index : undefined;
  }

  /** The alias of an interface: whose it is. */
  async #readAlias(name: string): Promise<string> {
    return (await readFile(join(this.place.interfaces, name, 'ifalias'), 'utf8').catch(() => '')).trim();
  }

  /** These actions are in use from now on. */
  keep(actions: readonly number[]): void {
    for (const action of actions) {
      this.#unused.delete(action);
      this.#inUse.add(action);
    }
  }

  /** Removes actions a little later: the kernel lets go of a rule's action some time after the rule. */
  discard(actions: readonly number[]): void {
    for (const action of actions) {
      this.#inUse.delete(action);
      this.#unused.add(action);
    }
    this.#discarding ??= setTimeout(() => void this.#discard(), discardMs).unref();
  }

  async close(): Promise<void> {
    clearTimeout(this.#discarding);
    this.#retry.stop();
    this.proofs.close();
    for (let attempt = 0; attempt < lastAttempts && this.#unused.size > 0; attempt += 1) {
      if (attempt > 0) await sleep(lastPauseMs);
      await this.#discard();
    }
    this.tc.close();
  }

  /** Those that a rule still has stay for the next time; those that are missing are as good as removed. */
  async #discard(): Promise<void> {
    this.#discarding = undefined;
    await Promise.all(
      [...this.#unused].map(async (action) => {
        const { reason } = await this.tc.run([removeAction(action)]);
        if (reason === '' || /not found/i.test(reason)) this.#unused.delete(action);
      }),
    );
  }
}

const firstRetryMs = 15_000;
const longestRetryMs = 600_000;
const discardMs = 500;
/** At the end of the process. */
const lastAttempts = 5;
const lastPauseMs = 20;

/** One link's path through the kernel, which it takes and leaves as often as its rules change. */
export class KernelPath {
  readonly #paths: KernelPaths;
  #ends: HostEnds | undefined;
  #actions: readonly [ab: number, ba: number] | undefined;
  /** What the actions had counted before this link was made in this process. */
  #base: KernelCounts = new Map();
  readonly #rates = { ab: new KernelRates(), ba: new KernelRates() };
  /** Why the kernel does not carry the link between these ends, although it could. */
  #refused: { readonly ends: string; readonly reason: string } | undefined;
  #proof: UnprovenPath | undefined;
  /** Of rules that tc did not accept. */
  readonly #retry: Retry;
  #takeAgain: (() => void) | undefined;
  /** Changes are made one after the other. */
  #tail: Promise<void> = Promise.resolve();

  constructor(paths: KernelPaths) {
    this.#paths = paths;
    this.#retry = new Retry(paths.retryTimes, () => this.#takeAgain?.());
  }

  /** The kernel carries the link's frames. */
  get isTaken(): boolean {
    return this.#ends !== undefined;
  }

  /** Its actions have counters. */
  get hasCounts(): boolean {
    return this.#actions !== undefined;
  }

  /** Why the kernel does not carry the link, which it could as far as its rules go. */
  get obstacle(): string | undefined {
    return this.#refused?.reason;
  }

  isOn(ends: HostEnds): boolean {
    return this.#ends?.join() === ends.join();
  }

  /** Never rejects: a link that cannot be carried by the kernel stays with the fabric. `isWanted`: asked again when its turn has come. */
  take(ends: HostEnds, isWanted: () => boolean): Promise<void> {
    this.#paths.note(ends, true);
    this.#retry.stop();
    return this.#then(async () => {
      if (this.isOn(ends)) return;
      if (this.#isRefused(ends)) return this.#paths.note(ends, false);
      const obstacle = await this.#paths.obstacle();
      if (obstacle !== undefined) this.#waitFor(obstacle, ends, isWanted);
      const isPossible = isWanted() && obstacle === undefined;
      const [a, b] = isPossible ? ends.map((end) => this.#paths.indexOf(end)) : [];
      if (a === undefined || b === undefined || !isWanted()) return this.#removeRules(ends);
      const actions = [actionOf(a), actionOf(b)] as const;
      if (this.#actions?.join() !== actions.join()) await this.#begin(actions);
      this.#paths.note(ends, true);
      // A fabric that ran before may have left them; frames take the other rule meanwhile.
      await this.#paths.tc.run(ends.map(removeFast));
      const { reason } = await this.#paths.tc.run([
        shareAction(actions[0], ends[1]),
        shareAction(actions[1], ends[0]),
        useAction(ends[0], actions[0]),
        useAction(ends[1], actions[1]),
      ]);
      this.#ends = ends;
      this.#refused = undefined;
      if (reason !== '') return this.#tryLater(ends, reason, isWanted);
      this.#retry.succeeded();
      this.#prove(ends, actions);
    });
  }

  /** The cause may pass: tc was ended, or the kernel had no memory. A change of the link tries again at once. */
  async #tryLater(ends: HostEnds, reason: string, isWanted: () => boolean): Promise<void> {
    await this.#refuse(ends, reason);
    this.#refused = { ends: '', reason };
    this.#takeAgain = () => {
      if (isWanted()) void this.take(ends, isWanted);
    };
    if (isWanted()) this.#retry.failed();
  }

  /** A refusal holds while both containers run: their link is made anew when one of them starts again. */
  #isRefused(ends: HostEnds): boolean {
    return this.#refused !== undefined && this.#refused.ends === ends.join();
  }

  #waitFor(reason: string, ends: HostEnds, isWanted: () => boolean): void {
    this.#refused = { ends: '', reason };
    this.#paths.whenPossible(this, () => {
      this.#refused = undefined;
      if (isWanted()) void this.take(ends, isWanted);
    });
  }

  #prove(ends: HostEnds, actions: readonly [number, number]): void {
    const failed = (reason: string) => void this.#then(() => this.#refuse(ends, reason));
    this.#proof = { ends, actions, failed };
    this.#paths.proofs.begin(this.#proof);
  }

  async #refuse(ends: HostEnds, reason: string): Promise<void> {
    if (!this.isOn(ends)) return;
    console.error(`kernel path ${ends.join(' ')}: ${reason}`);
    this.#refused = { ends: ends.join(), reason };
    await this.#remove();
  }

  /** Settles when the kernel has no rule of it any more, so that every frame comes to the fabric. */
  leave(): Promise<void> {
    this.#retry.stop();
    return this.#then(() => this.#remove());
  }

  /** It is not coming back: its counters go, too. */
  end(): Promise<void> {
    this.#retry.stop();
    return this.#then(async () => {
      await this.#remove();
      this.#paths.giveUp(this);
      const actions = this.#actions;
      this.#actions = undefined;
      if (actions) this.#paths.discard(actions);
    });
  }

  /** Adds to a direction's counters what the kernel carried of it. */
  add(direction: 'ab' | 'ba', counts: KernelCounts, stats: DirectionStats): DirectionStats {
    if (!this.#actions) return stats;
    const count = this.#countOf(this.#actions[direction === 'ab' ? 0 : 1], counts);
    const { second, minute } = this.#rates[direction].note(performance.now(), count);
    const sum = (one: typeof second, other: typeof second) => ({
      framesPerSecond: one.framesPerSecond + other.framesPerSecond,
      bitsPerSecond: one.bitsPerSecond + other.bitsPerSecond,
    });
    return {
      ...stats,
      received: stats.received + count.frames,
      receivedBytes: stats.receivedBytes + count.bytes,
      sent: stats.sent + count.frames - count.lost,
      sentBytes: stats.sentBytes + count.bytes,
      dropped: count.lost > 0 ? { ...stats.dropped, no_peer: (stats.dropped.no_peer ?? 0) + count.lost } : stats.dropped,
      rates: { second: sum(stats.rates.second, second), minute: sum(stats.rates.minute, minute) },
    };
  }

  #countOf(action: number, counts: KernelCounts): KernelCount {
    const { frames, bytes, lost } = counts.get(action) ?? noCount;
    const before = this.#base.get(action) ?? noCount;
    const atLeast0 = (value: number) => Math.max(0, value);
    return { frames: atLeast0(frames - before.frames), bytes: atLeast0(bytes - before.bytes), lost: atLeast0(lost - before.lost) };
  }

  /** Actions of a fabric that ran before have counted already. */
  async #begin(actions: readonly [number, number]): Promise<void> {
    if (this.#actions) this.#paths.discard(this.#actions);
    this.#paths.keep(actions);
    this.#base = await this.#paths.counters.read();
    this.#actions = actions;
  }

  async #remove(): Promise<void> {
    const ends = this.#ends;
    this.#ends = undefined;
    if (this.#proof) this.#paths.proofs.end(this.#proof);
    if (ends) await this.#removeRules(ends);
  }

  /** Also those that a fabric that ran before has left. */
  async #removeRules(ends: HostEnds): Promise<void> {
    this.#paths.note(ends, false);
    // An end that is gone took its rules along, so only a tc that was lost is a failure: frames would pass the fabric by.
    for (let attempt = 0; attempt < removalAttempts; attempt += 1) {
      const { isLost } = await this.#paths.tc.run(ends.map(removeFast));
      if (!isLost) return;
    }
    console.error(`kernel path ${ends.join(' ')}: its rules could not be removed, as tc does not answer`);
  }

  #then(change: () => Promise<void>): Promise<void> {
    this.#tail = this.#tail.then(change).catch((error) => console.error('kernel path:', error));
    return this.#tail;
  }
}

const removalAttempts = 3;
