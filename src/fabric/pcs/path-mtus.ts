/** Path MTUs that routers have reported (RFC 1191, RFC 8201), for ten minutes each. */
import { isIp6 } from './addresses.ts';
import type { Timers } from './timers.ts';

const lifetimeMs = 600_000;
const mostEntries = 64;
/** RFC 791, 3.2 (what every host takes) and RFC 8200, 5. Smaller values are ignored. */
const smallest = { ip4: 576, ip6: 1280 };

export class PathMtus {
  readonly #timers: Timers;
  #entries: Map<string, { mtu: number; until: number }> | undefined;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  find(dst: string): number | undefined {
    const entry = this.#entries?.get(dst);
    return entry && entry.until > this.#timers.now() ? entry.mtu : undefined;
  }

  learn(dst: string, mtu: number): void {
    this.#entries ??= new Map();
    const [oldest] = this.#entries.keys();
    if (this.#entries.size === mostEntries && oldest !== undefined) this.#entries.delete(oldest);
    this.restore({ dst, mtu: Math.max(mtu, isIp6(dst) ? smallest.ip6 : smallest.ip4), remainingMs: lifetimeMs });
  }

  restore({ dst, mtu, remainingMs }: { dst: string; mtu: number; remainingMs: number }): void {
    this.#entries ??= new Map();
    this.#entries.set(dst, { mtu, until: this.#timers.now() + remainingMs });
  }

  state(): { dst: string; mtu: number; remainingMs: number }[] {
    const now = this.#timers.now();
    return [...(this.#entries ?? [])].map(([dst, { mtu, until }]) => ({ dst, mtu, remainingMs: until - now }));
  }
}
