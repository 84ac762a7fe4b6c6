/**
 * Links that the kernel carries: frames go from one container's veth to the other's without entering this process, by a rule of `tc`
 * on each host end (`redirection.ts`). Only links that do nothing to their frames are carried so; which those are is decided by the link.
 *
 * Theory of operation: a host end always has a rule that leads to its TAP interface, which the compute made with it. The rule of the
 * kernel's path is ahead of it, so adding and removing it switches the link without a gap. The rules outlive this process; the next fabric
 * finds them, removes those of links that are no longer asked for (`forget`), and keeps the others.
 */
import { randomInt } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Retry, type RetryTimes } from '../../lib/retry.ts';
import { BatchTool } from '../../process/batch-tool.ts';
import { InterfacePlace } from '../ports/interface-place.ts';
import type { Native } from '../ports/native.ts';
import type { DirectionStats } from '../protocol.ts';
import { actionBase, actionNumbers, hostEndPrefix, keepAction, removeFast, removeKeeper, useAction } from '../redirection.ts';
import { countOf, KernelCounters, type KernelCounts, KernelRates, noCount } from './kernel-counters.ts';
import { PathProofs, type UnprovenPath } from './path-proofs.ts';
import { testRedirection } from './self-test.ts';

/** Interfaces of a link's two ends, at which what a container or a machine sends comes in. */
export type HostEnds = readonly [a: string, b: string];

export class KernelPaths {
  readonly tc: BatchTool;
  readonly counters: KernelCounters;
  readonly proofs: PathProofs;
  readonly place: InterfacePlace;
  readonly #native: Native;
  /** Owner of this server's host ends; those of other servers are left alone. */
  readonly #owner: string;
  /** Host ends whose rules are to be there. */
  readonly #wanted = new Set<string>();
  /** Number of the next action; counted from a random one, as other servers of this host count, too. */
  #next = randomInt(actionNumbers);
  #test: Promise<string | undefined> | undefined;
  /** Rules of links that are gone are removed when the place is known. */
  #isToForget = false;
  /** Links that could be carried if the trial succeeded. */
  readonly #waiting = new Set<KernelPath>();
  readonly #retry: Retry;
  /** Times after which failed work is repeated. */
  readonly retryTimes: RetryTimes;

  /** `place`: where the ends are. `retryMs`: after so long what failed is repeated; each time after twice as long. */
  constructor(
    native: Native,
    owner: string,
    { retryMs = firstRetryMs, place = new InterfacePlace('host') }: { retryMs?: number; place?: InterfacePlace } = {},
  ) {
    this.place = place;
    this.tc = new BatchTool(() => [...place.enter, 'tc']);
    this.counters = new KernelCounters(this.tc);
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
    this.#test ??= this.#try();
    return this.#test;
  }

  /** The link namespace has another holder, or is another one: what was tried before says nothing of it. */
  placeChanged(): void {
    this.#test = undefined;
    this.tc.close();
    if (this.#waiting.size > 0) void this.obstacle();
    if (this.#isToForget) void this.forget();
  }

  /** The path takes its link again when a trial has succeeded after all. */
  wait(path: KernelPath): void {
    this.#waiting.add(path);
  }

  giveUp(path: KernelPath): void {
    this.#waiting.delete(path);
  }

  /** The reason may pass: a program that is installed later, a machine that was too busy. */
  #try(): Promise<string | undefined> {
    const test = testRedirection(this.#native, this.tc, this.place).then((obstacle) => {
      // A place that has changed meanwhile is tried by itself.
      if (test !== this.#test) return this.obstacle();
      if (obstacle !== undefined) this.#retry.failed();
      else {
        for (const path of this.#waiting) setImmediate(() => path.takeAgain());
        this.#waiting.clear();
      }
      return obstacle;
    });
    return test;
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
    this.#isToForget = !this.place.isKnown;
    if (this.#isToForget) return;
    const names = await readdir(this.place.interfaces).catch(() => []);
    const stale: string[] = [];
    for (const name of names.filter((each) => each.startsWith(hostEndPrefix))) {
      // Only this server has a link namespace; the host's own has interfaces of others, too.
      const isOurs = this.place.name === 'links' || (await this.#readAlias(name)) === this.#owner;
      if (isOurs && !this.#wanted.has(name)) stale.push(name);
    }
    if (stale.length > 0) await this.tc.run(stale.flatMap((name) => [removeFast(name), removeKeeper(name)]));
  }

  /** The number of an action that no rule of the namespace has. Rejects when the kernel does not say which ones do. */
  async freeAction(): Promise<number> {
    const used = await this.counters.read();
    for (;;) {
      this.#next = (this.#next + 1) % actionNumbers;
      if (!used.has(actionBase + this.#next)) return actionBase + this.#next;
    }
  }

  has(name: string): boolean {
    return (this.place.readFigure(name, 'ifindex') ?? 0) > 0;
  }

  /** Whether the interface is a TAP interface, as machines have; containers have an end of a veth pair. */
  isTap(name: string): boolean {
    return this.place.readFigure(name, 'tun_flags') !== undefined;
  }

  /** The alias of an interface: whose it is. */
  async #readAlias(name: string): Promise<string> {
    return (await readFile(join(this.place.interfaces, name, 'ifalias'), 'utf8').catch(() => '')).trim();
  }

  close(): void {
    this.#retry.stop();
    this.proofs.close();
    this.tc.close();
  }
}

const firstRetryMs = 15_000;
const longestRetryMs = 600_000;
const openPollMs = 20;
/** An interface that the fabric could not open by then is not waited for: the kernel needs none. */
const openLimitMs = 5_000;

/** The path of a link through the kernel. A link takes and leaves it as often as its rules change. */
export class KernelPath {
  readonly #paths: KernelPaths;
  readonly #isOpen: () => boolean;
  #ends: HostEnds | undefined;
  /** Ends that may have rules: this path's own, or those of an earlier fabric. */
  #noted: HostEnds | undefined;
  /** Actions between two ends; their counters stay when the path is left. */
  #actions:
    | {
        readonly ends: HostEnds;
        readonly numbers: readonly [ab: number, ba: number];
        readonly areMachines: readonly [a: boolean, b: boolean];
      }
    | undefined;
  readonly #rates = { ab: new KernelRates(), ba: new KernelRates() };
  /** Why the kernel does not carry the link between these ends, although it could. */
  #refused: { readonly ends: string; readonly reason: string } | undefined;
  #proof: UnprovenPath | undefined;
  /** Repeats rules that tc did not accept. */
  readonly #retry: Retry;
  #again: (() => void) | undefined;
  /** Changes are made one after the other. */
  #tail: Promise<void> = Promise.resolve();

  /** `isOpen`: the fabric's own interfaces of the link are open. */
  constructor(paths: KernelPaths, isOpen: () => boolean = () => true) {
    this.#paths = paths;
    this.#isOpen = isOpen;
    this.#retry = new Retry(paths.retryTimes, () => this.takeAgain());
  }

  /** The kernel carries the link's frames. */
  get isTaken(): boolean {
    return this.#ends !== undefined;
  }

  /** The path's actions have counters. */
  get hasCounts(): boolean {
    return this.#actions !== undefined;
  }

  /** Why the kernel does not carry the link, which it could as far as its rules go. */
  get obstacle(): string | undefined {
    return this.#refused?.reason;
  }

  #isOn(ends: HostEnds): boolean {
    return this.#ends?.join() === ends.join();
  }

  /** Rules between these ends, also those of an earlier fabric, may stay. */
  isFor(ends: HostEnds): boolean {
    return this.#noted?.join() === ends.join();
  }

  /** Never rejects: a link that cannot be carried by the kernel stays with the fabric. `isWanted`: asked again when its turn has come. */
  take(ends: HostEnds, isWanted: () => boolean): Promise<void> {
    this.#paths.note(ends, true);
    this.#retry.stop();
    this.#again = () => {
      if (isWanted()) void this.take(ends, isWanted);
    };
    return this.#then(async () => {
      if (this.#isOn(ends)) return;
      // A refusal holds while both containers run: their link is made anew when one of them starts again.
      if (this.#refused?.ends === ends.join()) return this.#paths.note(ends, false);
      this.#note(ends);
      const obstacle = await this.#paths.obstacle();
      if (obstacle !== undefined) {
        this.#refused = { ends: '', reason: obstacle };
        this.#paths.wait(this);
      }
      if (!this.#paths.place.isKnown) return;
      const isThere = ends.every((end) => this.#paths.has(end));
      if (isThere) await this.#untilOpen(isWanted);
      // A fabric that ran before may have left rules; frames take the other one meanwhile.
      await this.#removeRules(ends);
      if (obstacle !== undefined || !isWanted() || !isThere) return;
      this.#note(ends);
      const reason = (await this.#begin(ends)) || (await this.#useActions(ends));
      this.#ends = ends;
      this.#refused = undefined;
      if (reason === '') return this.#prove(ends);
      await this.#refuse(ends, reason);
      // The cause may pass: tc was ended, or the kernel had no memory. A change of the link tries again at once.
      this.#refused = { ends: '', reason };
      this.#actions = undefined;
      if (isWanted()) this.#retry.failed();
    });
  }

  /** Takes what could not be taken, if it is still wanted. */
  takeAgain(): void {
    this.#again?.();
  }

  #note(ends: HostEnds): void {
    this.#noted = ends;
    this.#paths.note(ends, true);
  }

  /** Waits for the fabric's own interfaces: without them, frames would be lost while the rules of an earlier fabric are replaced. */
  async #untilOpen(isWanted: () => boolean): Promise<void> {
    const limit = performance.now() + openLimitMs;
    while (!this.#isOpen() && isWanted() && performance.now() < limit) await sleep(openPollMs);
  }

  #prove(ends: HostEnds): void {
    this.#retry.succeeded();
    if (!this.#actions) return;
    const failed = (reason: string) => void this.#then(() => this.#refuse(ends, reason));
    this.#proof = { ends, actions: this.#actions.numbers, failed };
    this.#paths.proofs.begin(this.#proof);
  }

  async #refuse(ends: HostEnds, reason: string): Promise<void> {
    if (!this.#isOn(ends)) return;
    console.error(`kernel path ${ends.join(' ')}: ${reason}`);
    this.#refused = { ends: ends.join(), reason };
    await this.#remove();
  }

  /** Settles when the kernel has no rule of it any more, so that every frame comes to the fabric. */
  leave(): Promise<void> {
    this.#retry.stop();
    return this.#then(() => this.#remove());
  }

  /** Ends the path for good: its counters are removed, too. */
  end(): Promise<void> {
    this.#retry.stop();
    return this.#then(async () => {
      await this.#remove();
      this.#paths.giveUp(this);
      const { ends } = this.#actions ?? {};
      this.#actions = undefined;
      if (ends) await this.#paths.tc.run(ends.map(removeKeeper));
    });
  }

  /** Adds to a direction's counters what the kernel carried of it. */
  add(direction: 'ab' | 'ba', counts: KernelCounts, stats: DirectionStats): DirectionStats {
    if (!this.#actions) return stats;
    const side = direction === 'ab' ? 0 : 1;
    const count = countOf(counts.get(this.#actions.numbers[side]) ?? noCount, this.#actions.areMachines[side]);
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

  /** Makes actions between these ends, in place of those that a fabric that ran before has left. Answers why it could not, or an empty text. */
  async #begin(ends: HostEnds): Promise<string> {
    if (this.#actions?.ends.join() === ends.join()) return '';
    const [a, b] = ends;
    await this.#paths.tc.run(ends.map(removeKeeper));
    try {
      const numbers = [await this.#paths.freeAction(), await this.#paths.freeAction()] as const;
      this.#actions = { ends, numbers, areMachines: [this.#paths.isTap(a), this.#paths.isTap(b)] };
      return (await this.#paths.tc.run([keepAction(a, b, numbers[0]), keepAction(b, a, numbers[1])])).reason;
    } catch (error) {
      return (error as Error).message;
    }
  }

  async #useActions(ends: HostEnds): Promise<string> {
    const rules = this.#actions?.numbers.map((number, side) => useAction(ends[side] as string, number)) ?? [];
    return (await this.#paths.tc.run(rules)).reason;
  }

  async #remove(): Promise<void> {
    this.#ends = undefined;
    if (this.#proof) this.#paths.proofs.end(this.#proof);
    if (this.#noted) await this.#removeRules(this.#noted);
  }

  /** Removes the rules of the ends, also those that an earlier fabric has left. */
  async #removeRules(ends: HostEnds): Promise<void> {
    this.#noted = undefined;
    this.#paths.note(ends, false);
    if (!this.#paths.place.isKnown) return;
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
