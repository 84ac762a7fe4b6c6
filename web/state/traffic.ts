/** Live traffic of links. Polls only while a node runs and the canvas is visible; the server returns links whose figures changed. */
import { computed, effect, type ReadonlySignal, type Signal, signal, untracked } from '@preact/signals';
import type { LinkStats, LinkStorm } from '../../src/schema/link-stats.ts';
import type { Api } from '../api.ts';
import { Live } from './live.ts';

/** Rates of both directions in bit/s, rounded to two digits. */
export type LinkRate = readonly [number, number];

const still: LinkRate = [0, 0];

export interface TrafficOptions {
  readonly api: Api;
  /** Path of the project in the API. */
  readonly path: string;
  /** Read within signals. */
  readonly isRunning: () => boolean;
}

export class Traffic {
  /** Number of links with traffic. */
  readonly busy = signal(0);
  /** Storms by link, while there are some. Replaced, never changed. */
  readonly storms = signal<ReadonlyMap<string, LinkStorm>>(new Map());
  readonly #options: TrafficOptions;
  readonly #listeners = new Set<(stats: LinkStats) => void>();
  readonly #rates = new Map<string, Signal<LinkRate>>();
  /** Links that the kernel carries. Replaced, never changed. */
  readonly #kernelPaths = signal<ReadonlySet<string>>(new Set());

  constructor(options: TrafficOptions) {
    this.#options = options;
  }

  rateOf(linkId: string): ReadonlySignal<LinkRate> {
    return this.#signalOf(linkId);
  }

  /** Whether the kernel carries the link, without the fabric; false while it is unknown. */
  isKernelPath(linkId: string): boolean {
    return this.#kernelPaths.value.has(linkId);
  }

  /** Calls the listener with figures of links that changed. Returns a function that ends it. */
  listen(listener: (stats: LinkStats) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Polls while the canvas is shown. Returns a function that stops it. */
  watch(): () => void {
    const isVisible = signal(!document.hidden);
    const look = () => {
      isVisible.value = !document.hidden;
    };
    document.addEventListener('visibilitychange', look);
    const isWanted = computed(() => isVisible.value && this.#options.isRunning());
    const stop = effect(() => (isWanted.value ? untracked(() => this.#connect()) : undefined));
    return () => {
      document.removeEventListener('visibilitychange', look);
      stop();
    };
  }

  /** Removes a deleted link. */
  remove(linkId: string): void {
    this.#set(this.#signalOf(linkId), still);
    this.#rates.delete(linkId);
    this.#setKernelPath(linkId, false);
    this.#setStorm(linkId, undefined);
  }

  #connect(): () => void {
    const { api, path } = this.#options;
    const live = new Live({
      address: () => api.socket(`${path}/notifications/ws?link_stats_changed=true`),
      read: async () => undefined,
      onNotice: ({ action, event }) => {
        if (action !== 'link.stats') return;
        this.#onStats(event as LinkStats);
        for (const listener of this.#listeners) listener(event as LinkStats);
      },
    });
    const stop = effect(() => {
      if (live.connection.value === 'lost') this.#forget();
    });
    return () => {
      stop();
      live.close();
      this.#forget();
    };
  }

  #onStats(stats: LinkStats): void {
    const [there, back] = stats.directions.map(({ last_second }) => Number(last_second.bits_per_second.toPrecision(2)));
    this.#set(this.#signalOf(stats.link_id), [there ?? 0, back ?? 0]);
    this.#setKernelPath(stats.link_id, stats.carrier === 'kernel');
    this.#setStorm(stats.link_id, stats.storm);
  }

  #setStorm(linkId: string, storm: LinkStorm | undefined): void {
    const before = this.storms.peek().get(linkId);
    if (before?.closes_loop === storm?.closes_loop && before?.in_loop === storm?.in_loop) return;
    const storms = new Map(this.storms.peek());
    if (storm) storms.set(linkId, storm);
    else storms.delete(linkId);
    this.storms.value = storms;
  }

  #setKernelPath(linkId: string, is: boolean): void {
    const before = this.#kernelPaths.peek();
    if (before.has(linkId) === is) return;
    const others = [...before].filter((id) => id !== linkId);
    this.#kernelPaths.value = new Set(is ? [...others, linkId] : others);
  }

  #set(rate: Signal<LinkRate>, [there, back]: LinkRate): void {
    const [there0, back0] = rate.peek();
    if (there === there0 && back === back0) return;
    this.busy.value += Number(there + back > 0) - Number(there0 + back0 > 0);
    rate.value = [there, back];
  }

  #forget(): void {
    for (const rate of this.#rates.values()) this.#set(rate, still);
    this.#kernelPaths.value = new Set();
    this.storms.value = new Map();
  }

  #signalOf(linkId: string): Signal<LinkRate> {
    const rate = this.#rates.get(linkId) ?? signal(still);
    this.#rates.set(linkId, rate);
    return rate;
  }
}
