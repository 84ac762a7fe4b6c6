/** Two ports and what happens to the frames between them. Changing a link leaves alone whatever stays the same. */
import { randomInt } from 'node:crypto';
import type { LinkDirection } from '../../schema/filter.ts';
import { type CaptureFileLocks, OpenCaptures } from '../captures/link-captures.ts';
import { type BpfProgram, translateBpf } from '../filters/bpf.ts';
import { buildChains, type Chains, noChains } from '../filters/filter-chains.ts';
import { type HostEnds, KernelPath, type KernelPaths } from '../kernel-paths/kernel-paths.ts';
import type { FabricPort, PortOwner } from '../ports/port.ts';
import type { FabricLinkStats, LinkSpec, PortSpec } from '../protocol.ts';
import { admission } from './admission.ts';
import { directLeases } from './direct-leases.ts';
import { Direction, type DirectionTools, type Rules } from './direction.ts';
import { type HostCounts, withTapLosses } from './host-counts.ts';
import { hostEndsOf } from './kernel-eligible.ts';
import { openPort, type PortTools } from './open-port.ts';

type LinkSide = 'a' | 'b';

interface Plugged {
  readonly key: string;
  readonly port: FabricPort;
}

export interface LinkTools extends DirectionTools, PortTools {
  readonly captureFiles: CaptureFileLocks;
  readonly kernelPaths: KernelPaths;
}

/** How often a link looks whether its delay queues are empty, before the kernel carries it again. */
const idlePollMs = 10;

export class FabricLink {
  readonly id: string;
  readonly #since = Date.now();
  readonly #tools: PortTools;
  readonly #rules: Rules = { suspend: false, before: [], after: [] };
  readonly #captures: OpenCaptures;
  readonly #ab: Direction;
  readonly #ba: Direction;
  /** Where none is given. */
  readonly #ownSeed = randomInt(2 ** 32);
  readonly #kernel: KernelPath;
  #idleWait: NodeJS.Timeout | undefined;
  /** Undefined: the fabric is to carry it. */
  #kernelEnds: HostEnds | undefined;
  #closed = false;
  #chains: Chains = noChains;
  #ends: Partial<Record<LinkSide, Plugged>> = {};

  constructor(id: string, tools: LinkTools) {
    this.id = id;
    this.#tools = tools;
    this.#kernel = new KernelPath(tools.kernelPaths);
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
    await Promise.all([this.#ends.a?.port.opened, this.#ends.b?.port.opened, this.#choosePath(spec)]);
  }

  /** Frames may have to wait in it. */
  get queues(): boolean {
    return this.#ab.queues || this.#ba.queues;
  }

  get problem(): string | undefined {
    return this.#ends.a?.port.problem ?? this.#ends.b?.port.problem;
  }

  /** The kernel has counted frames of it. */
  get hasKernelCounts(): boolean {
    return this.#kernel.hasCounts;
  }

  /** An end is a TAP interface. */
  get hasTaps(): boolean {
    return (this.#ends.a?.port.tap ?? this.#ends.b?.port.tap) !== undefined;
  }

  sample(slot: number): void {
    this.#ab.sample(slot);
    this.#ba.sample(slot);
  }

  stats({ kernel, dropped }: HostCounts): FabricLinkStats {
    const captures = this.#captures.stats();
    const [a, b] = [this.#ends.a?.port, this.#ends.b?.port];
    const carrier = this.#kernel.isTaken ? 'kernel' : (a?.carrier ?? b?.carrier);
    const ab = withTapLosses(this.#ab.stats(), { source: a, sink: b }, dropped);
    const ba = withTapLosses(this.#ba.stats(), { source: b, sink: a }, dropped);
    return {
      id: this.id,
      since: this.#since,
      connected: { a: a?.connected ?? false, b: b?.connected ?? false },
      ...(carrier && { carrier }),
      ab: this.#kernel.add('ab', kernel, ab),
      ba: this.#kernel.add('ba', kernel, ba),
      ...(captures.length > 0 && { captures }),
    };
  }

  /** Settles when no frame of it is carried any more. */
  close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idleWait);
    this.#ab.close();
    this.#ba.close();
    this.#unplug('a');
    this.#unplug('b');
    this.#captures.apply([]);
    return this.#kernel.end();
  }

  /**
   * The fabric follows the new rules by now: a frame that comes to it is treated by them. Settles when those that must do so come to it.
   */
  #choosePath(spec: LinkSpec): Promise<void> {
    clearTimeout(this.#idleWait);
    const ends = hostEndsOf(spec);
    this.#kernelEnds = ends;
    if (!ends) return this.#kernel.leave();
    const left = this.#kernel.isOn(ends) ? Promise.resolve() : this.#kernel.leave();
    this.#takeWhenIdle(ends);
    return left;
  }

  /** Frames that wait in the fabric must not be overtaken. */
  #takeWhenIdle(ends: HostEnds): void {
    if (this.#ab.isIdle && this.#ba.isIdle) void this.#kernel.take(ends, () => this.#kernelEnds === ends && !this.#closed);
    else this.#idleWait = setTimeout(() => this.#takeWhenIdle(ends), idlePollMs);
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
    const port = openPort(spec, owner, this.#tools);
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
  if (spec.type === 'packet') return JSON.stringify(['packet', spec.interface]);
  if (spec.type === 'tap') return JSON.stringify(['tap', spec.name]);
  if (spec.type === 'switch') return JSON.stringify(['switch', spec.switch, spec.port, spec.settings.medium]);
  const { lport, rhost, rport, bind = null, strict = false, mtu = 0, stream } = spec;
  return JSON.stringify(['udp', lport, rhost, rport, bind, strict, mtu, stream?.role ?? null, stream?.encryption ?? null]);
}
