/** Two ports and what happens to the frames between them. Changing a link leaves alone whatever stays the same. */
import { randomInt } from 'node:crypto';
import { type Program, translateBpf } from './bpf.ts';
import { Direction, type DirectionTools, type Rules } from './direction.ts';
import { type ActiveFilter, buildChain } from './filter.ts';
import { type CaptureFiles, LinkCaptures } from './link-captures.ts';
import { openPort, type Port } from './port.ts';
import type { LinkSpec, LinkStats, PortSpec } from './protocol.ts';
import { Random } from './random.ts';

type End = 'a' | 'b';

interface Plugged {
  readonly key: string;
  readonly port: Port;
}

export interface LinkTools extends DirectionTools {
  readonly captureFiles: CaptureFiles;
}

export class Link {
  readonly id: string;
  readonly #rules: Rules = { suspend: false, passing: [], holding: [], before: [], after: [] };
  readonly #captures: LinkCaptures;
  readonly #ab: Direction;
  readonly #ba: Direction;
  readonly #random = new Random(randomInt(2 ** 32));
  #seed: number | undefined;
  #chain: ActiveFilter[] = [];
  #ends: Partial<Record<End, Plugged>> = {};

  constructor(id: string, tools: LinkTools) {
    this.id = id;
    this.#captures = new LinkCaptures(tools.captureFiles, this.#rules);
    this.#ab = new Direction(this.#rules, tools);
    this.#ba = new Direction(this.#rules, tools);
  }

  /** Unplugs the ports and ends the captures that `spec` wants otherwise, so that another link can have their addresses and files. */
  unplugChanged(spec: LinkSpec): void {
    this.#captures.keep(spec.captures ?? []);
    for (const end of ['a', 'b'] as const) {
      if (this.#ends[end] && this.#ends[end].key !== portKey(spec[end])) this.#unplug(end);
    }
  }

  /** Makes the link what `spec` says. Settles when the ports have been tried; then see `problem`. */
  async update(spec: LinkSpec, programs: readonly Program[]): Promise<void> {
    if (spec.seed !== undefined && spec.seed !== this.#seed) this.#random.reseed(spec.seed);
    this.#seed = spec.seed;
    const chain = { filters: spec.filters, programsText: JSON.stringify(spec.bpf ?? []) };
    this.#chain = buildChain(chain, { random: this.#random, programs }, this.#chain);
    this.#rules.passing = this.#chain.filter(({ filter }) => filter.pass);
    this.#rules.holding = this.#chain.map(({ filter }) => filter).filter((filter) => filter.hold);
    this.#rules.suspend = spec.suspend;
    this.unplugChanged(spec);
    this.#captures.apply(spec.captures ?? []);
    this.#plug('a', spec.a, this.#ab, this.#ba);
    this.#plug('b', spec.b, this.#ba, this.#ab);
    await Promise.all([this.#ends.a?.port.opened, this.#ends.b?.port.opened]);
  }

  get delays(): boolean {
    return this.#rules.holding.length > 0;
  }

  get problem(): string | undefined {
    return this.#ends.a?.port.problem ?? this.#ends.b?.port.problem;
  }

  stats(): LinkStats {
    const captures = this.#captures.stats();
    return {
      id: this.id,
      connected: { a: this.#ends.a?.port.connected ?? false, b: this.#ends.b?.port.connected ?? false },
      ab: this.#ab.stats(),
      ba: this.#ba.stats(),
      ...(captures.length > 0 && { captures }),
    };
  }

  close(): void {
    this.#ab.close();
    this.#ba.close();
    this.#unplug('a');
    this.#unplug('b');
    this.#captures.apply([]);
  }

  /** `out` is the direction that begins at this end, `back` the one that ends here. */
  #plug(end: End, spec: PortSpec, out: Direction, back: Direction): void {
    const present = this.#ends[end];
    if (present) {
      present.port.nudge();
      return;
    }
    const port = openPort(spec, {
      received: (buffer, start, stop, frames) => out.receive(buffer, start, stop, frames),
      drained: () => back.drained(),
    });
    out.source = port;
    back.sink = port;
    this.#ends[end] = { key: portKey(spec), port };
  }

  #unplug(end: End): void {
    this.#ends[end]?.port.close();
    delete this.#ends[end];
  }
}

/** @throws filter_invalid */
export function translatePrograms(spec: LinkSpec): Program[] {
  return spec.filters.bpf ? (spec.bpf ?? []).map(translateBpf) : [];
}

/** Same key, same port. */
function portKey(spec: PortSpec): string {
  if (spec.type === 'stream') return JSON.stringify(['stream', spec.path]);
  return JSON.stringify(['udp', spec.lport, spec.rhost, spec.rport, spec.bind ?? null, spec.strict ?? false]);
}
