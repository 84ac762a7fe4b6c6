/** Two ports and what happens to the frames between them. Changing a link leaves alone whatever stays the same. */
import { randomInt } from 'node:crypto';
import type { LinkDirection } from '../../schema/filter.ts';
import { type CaptureFileLocks, OpenCaptures } from '../captures/link-captures.ts';
import { type BpfProgram, translateBpf } from '../filters/bpf.ts';
import { buildChains, type Chains, noChains } from '../filters/filter-chains.ts';
import type { FabricPort, PortOwner } from '../ports/port.ts';
import type { FabricLinkStats, LinkSpec, PortSpec } from '../protocol.ts';
import type { Switches } from '../switches/switches.ts';
import { admission } from './admission.ts';
import { directLeases } from './direct-leases.ts';
import { Direction, type DirectionTools, type Rules } from './direction.ts';
import { openPort } from './open-port.ts';

type LinkSide = 'a' | 'b';

interface Plugged {
  readonly key: string;
  readonly port: FabricPort;
}

export interface LinkTools extends DirectionTools {
  readonly captureFiles: CaptureFileLocks;
  readonly switches: Switches;
}

export class FabricLink {
  readonly id: string;
  readonly #since = Date.now();
  readonly #switches: Switches;
  readonly #rules: Rules = { suspend: false, before: [], after: [] };
  readonly #captures: OpenCaptures;
  readonly #ab: Direction;
  readonly #ba: Direction;
  /** Where none is given. */
  readonly #ownSeed = randomInt(2 ** 32);
  #chains: Chains = noChains;
  #ends: Partial<Record<LinkSide, Plugged>> = {};

  constructor(id: string, tools: LinkTools) {
    this.id = id;
    this.#switches = tools.switches;
    this.#captures = new OpenCaptures(tools.captureFiles, this.#rules);
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
  async update(spec: LinkSpec, programs: Programs): Promise<void> {
    const { filters, bpf, bpf_ab, bpf_ba } = spec;
    const seed = Number(filters.seed?.[0] ?? this.#ownSeed);
    const [intoA, intoB] = [admission(spec.a), admission(spec.b)];
    const programsText = JSON.stringify([bpf, bpf_ab, bpf_ba]);
    const bpfOf = { ab: programs.ab.bpf, ba: programs.ba.bpf };
    this.#chains = buildChains({ filters, seed, programs: bpfOf, programsText }, this.#chains);
    this.#ab.setFilters({ chain: this.#chains.ab, match: matchOf(programs.ab), before: directLeases(spec.a), after: intoB });
    this.#ba.setFilters({ chain: this.#chains.ba, match: matchOf(programs.ba), before: directLeases(spec.b), after: intoA });
    this.#rules.suspend = spec.suspend;
    this.unplugChanged(spec);
    this.#captures.apply(spec.captures ?? []);
    this.#plug('a', spec.a, this.#ab, this.#ba);
    this.#plug('b', spec.b, this.#ba, this.#ab);
    await Promise.all([this.#ends.a?.port.opened, this.#ends.b?.port.opened]);
  }

  /** Frames may have to wait in it. */
  get queues(): boolean {
    return this.#ab.queues || this.#ba.queues;
  }

  get problem(): string | undefined {
    return this.#ends.a?.port.problem ?? this.#ends.b?.port.problem;
  }

  sample(slot: number): void {
    this.#ab.sample(slot);
    this.#ba.sample(slot);
  }

  stats(): FabricLinkStats {
    const captures = this.#captures.stats();
    const carrier = this.#ends.a?.port.carrier ?? this.#ends.b?.port.carrier;
    return {
      id: this.id,
      since: this.#since,
      connected: { a: this.#ends.a?.port.connected ?? false, b: this.#ends.b?.port.connected ?? false },
      ...(carrier && { carrier }),
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
  #plug(end: LinkSide, spec: PortSpec, out: Direction, back: Direction): void {
    const present = this.#ends[end];
    if (present) {
      present.port.change?.(spec);
      present.port.nudge();
      return;
    }
    const owner: PortOwner = {
      received: (buffer, start, stop, frames) => out.receive(buffer, start, stop, frames),
      drained: () => back.drained(),
    };
    const port = openPort(spec, owner, this.#switches);
    out.source = port;
    back.sink = port;
    this.#ends[end] = { key: portKey(spec), port };
  }

  #unplug(end: LinkSide): void {
    this.#ends[end]?.port.close();
    delete this.#ends[end];
  }
}

/** The BPF programs of each direction, by filter. */
export type Programs = Readonly<Record<LinkDirection, Readonly<Record<'bpf' | 'match', readonly BpfProgram[]>>>>;

/** Undefined when all frames match. */
function matchOf({ match }: Programs[LinkDirection]): BpfProgram | undefined {
  const [only, ...more] = match;
  if (more.length === 0) return only;
  return (buffer, start, end) => (match.some((program) => program(buffer, start, end) !== 0) ? 1 : 0);
}

/** @throws filter_invalid */
export function translatePrograms({ filters, ...spec }: LinkSpec): Programs {
  const translate = (type: 'bpf' | 'match', direction: LinkDirection): BpfProgram[] => {
    const key = filters[`${type}_${direction}`] ? (`${type}_${direction}` as const) : type;
    return filters[key] ? (spec[key] ?? []).map(translateBpf) : [];
  };
  const programsOf = (direction: LinkDirection) => ({ bpf: translate('bpf', direction), match: translate('match', direction) });
  return { ab: programsOf('ab'), ba: programsOf('ba') };
}

/** Same key, same port. */
function portKey(spec: PortSpec): string {
  if (spec.type === 'stream') return JSON.stringify(['stream', spec.path]);
  if (spec.type === 'switch') return JSON.stringify(['switch', spec.switch, spec.port, spec.settings.medium]);
  const { lport, rhost, rport, bind = null, strict = false, mtu = 0, stream } = spec;
  return JSON.stringify(['udp', lport, rhost, rport, bind, strict, mtu, stream?.role ?? null, stream?.encryption ?? null]);
}
