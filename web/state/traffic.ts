/** What links carry now. The server is asked only while a node runs and somebody looks, and tells of links whose figures change. */
import { computed, effect, type ReadonlySignal, type Signal, signal, untracked } from '@preact/signals';
import type { LinkStats } from '../../src/schema/link-stats.ts';
import type { Api } from '../api.ts';
import { Live } from './live.ts';

/** Of both ways, bits a second with two digits. */
export type LinkRate = readonly [number, number];

const still: LinkRate = [0, 0];

export interface TrafficOptions {
  readonly api: Api;
  /** Of the project, in the API. */
  readonly path: string;
  /** Read within signals. */
  readonly isRunning: () => boolean;
}

export class Traffic {
  /** How many links carry something. */
  readonly busy = signal(0);
  readonly #options: TrafficOptions;
  readonly #rates = new Map<string, Signal<LinkRate>>();

  constructor(options: TrafficOptions) {
    this.#options = options;
  }

  rateOf(linkId: string): ReadonlySignal<LinkRate> {
    return this.#signalOf(linkId);
  }

  /** While the canvas is shown. Returns what ends it. */
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

  /** A link is gone. */
  remove(linkId: string): void {
    this.#set(this.#signalOf(linkId), still);
    this.#rates.delete(linkId);
  }

  #connect(): () => void {
    const { api, path } = this.#options;
    const live = new Live({
      address: () => api.socket(`${path}/notifications/ws?link_stats_changed=true`),
      read: async () => undefined,
      heard: ({ action, event }) => {
        if (action === 'link.stats') this.#heard(event as LinkStats);
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

  #heard(stats: LinkStats): void {
    const [there, back] = stats.directions.map(({ last_second }) => Number(last_second.bits_per_second.toPrecision(2)));
    this.#set(this.#signalOf(stats.link_id), [there ?? 0, back ?? 0]);
  }

  #set(rate: Signal<LinkRate>, [there, back]: LinkRate): void {
    const [there0, back0] = rate.peek();
    if (there === there0 && back === back0) return;
    this.busy.value += Number(there + back > 0) - Number(there0 + back0 > 0);
    rate.value = [there, back];
  }

  #forget(): void {
    for (const rate of this.#rates.values()) this.#set(rate, still);
  }

  #signalOf(linkId: string): Signal<LinkRate> {
    const rate = this.#rates.get(linkId) ?? signal(still);
    this.#rates.set(linkId, rate);
    return rate;
  }
}
