/**
 * Measures the emulation while checks run. The time is divided where checks change links: the frames of a part are judged by the
 * filters that applied then. All counters run since the start, so a part is the difference of two readings.
 */
import { delayOf } from '../../../src/schema/filter.ts';
import type { ComputeFidelity } from '../../../src/schema/host.ts';
import type { Link } from '../../../src/schema/link.ts';
import type { DirectionCounters, LinkStats } from '../../../src/schema/link-stats.ts';
import type { Static } from '../../../src/schema/type.ts';
import type { ChangeWatch } from '../run/change-watch.ts';
import type { LabSite } from '../run/lab-site.ts';
import type { HostFidelity, LinkFidelity, LossFidelity, Measured } from './certificate.ts';
import { addTotals, countedSince, type LateTotals, quantilesOf } from './late-quantiles.ts';

type FidelityFigures = Static<typeof ComputeFidelity>;

interface LinkReading {
  readonly link: Link;
  readonly stats: LinkStats;
}

/** Counters of one direction of a link so far. */
interface Way {
  frames: number;
  late: LateTotals;
  readonly delays: Set<string>;
  readonly losses: LossFidelity[];
  overflow: number;
  excessMs: number;
}

/** Interval of the polls, ms. The fabric measures its lateness for 90 s after a request. */
const pollMs = 30_000;
/** Time limit of an answer, ms. A fabric that hangs does not answer. */
const answerLimitMs = 30_000;
const holding = ['delay', 'latency', 'jitter', 'bandwidth', 'reorder'];

export class FidelityWatch implements ChangeWatch {
  readonly #site: LabSite;
  readonly #ways = new Map<string, Way>();
  readonly #captures: { link: string; missed: number }[] = [];
  readonly #failures: string[] = [];
  readonly #hosts = new Map<string, FidelityFigures>();
  #readings = new Map<string, LinkReading>();
  #poll: NodeJS.Timeout | undefined;

  constructor(site: LabSite) {
    this.#site = site;
  }

  async begin(): Promise<void> {
    for (const id of this.#computeIds()) {
      const figures = await this.#host(id);
      if (typeof figures !== 'string') this.#hosts.set(id, figures);
    }
    this.#readings = await this.#read();
    this.#poll = setInterval(() => {
      for (const id of this.#computeIds()) void this.#host(id);
    }, pollMs);
  }

  async changing(): Promise<void> {
    await this.#count();
  }

  async changed(): Promise<void> {
    this.#readings = await this.#read();
  }

  captured(link: string, missed: number): void {
    this.#captures.push({ link, missed });
  }

  stop(): void {
    clearInterval(this.#poll);
  }

  async end(): Promise<Measured> {
    this.stop();
    try {
      await limited(this.#count());
    } catch (error) {
      this.#failures.push(`links could not be measured: ${(error as Error).message}`);
    }
    const computes = await Promise.all(this.#computeIds().map((id) => this.#hostFidelity(id)));
    const links = [...this.#ways].map(([name, way]): LinkFidelity => {
      const { frames, late, delays, losses, overflow, excessMs } = way;
      return { name, frames, delayError: quantilesOf(late), delays: [...delays], losses, overflow, excessMs };
    });
    return { links, computes, captures: this.#captures, failures: this.#failures };
  }

  async #read(): Promise<Map<string, LinkReading>> {
    const [links, stats] = await Promise.all([
      this.#site.request<Link[]>('GET', '/links'),
      this.#site.request<LinkStats[]>('GET', '/link_stats'),
    ]);
    const byId = new Map(stats.map((one) => [one.link_id, one]));
    return new Map(
      links.flatMap((link) => {
        const own = byId.get(link.link_id);
        return own ? [[link.link_id, { link, stats: own }] as const] : [];
      }),
    );
  }

  /** Adds the counts since the last reading. */
  async #count(): Promise<void> {
    const now = await this.#read();
    for (const [id, { link, stats }] of now) {
      const before = this.#readings.get(id);
      if (!before) continue;
      const name = this.#site.nameOf(link);
      if (JSON.stringify(before.link.filters) !== JSON.stringify(link.filters)) {
        this.#failures.push(`the filters of ${name} were changed by another client during the test`);
        continue;
      }
      // A link that came up again counts from zero.
      const isSame = before.stats.since === stats.since;
      stats.directions.forEach((after, index) => {
        const start = isSame ? before.stats.directions[index] : undefined;
        const direction = index === 0 ? 'ab' : 'ba';
        const way = this.#add(direction, link, start, after);
        // Only the delay of this direction counts: the other one may have none.
        const delayMs = delayOf(stats.schedule?.filters ?? link.filters, direction);
        way.excessMs = Math.max(way.excessMs, (stats.path?.rtt_ms ?? 0) / 2 - delayMs);
      });
    }
    this.#readings = now;
  }

  #add(direction: 'ab' | 'ba', link: Link, before: DirectionCounters | undefined, after: DirectionCounters): Way {
    const name = `${this.#site.nameOf(link)} (${after.from_node} → ${after.to_node})`;
    const way: Way = this.#ways.get(name) ?? {
      frames: 0,
      late: new Map(),
      delays: new Set(),
      losses: [],
      overflow: 0,
      excessMs: 0,
    };
    this.#ways.set(name, way);
    const dropped = (cause: string) => (after.dropped[cause] ?? 0) - (before?.dropped[cause] ?? 0);
    const received = after.received_frames - (before?.received_frames ?? 0);
    way.frames += after.frames - (before?.frames ?? 0);
    way.overflow += dropped('queue_full');
    const filters: Readonly<Record<string, readonly (string | number)[]>> = link.filters;
    const filter = (type: string) => filters[`${type}_${direction}`] ?? filters[type];
    if (after.late || holding.some((type) => filter(type) !== undefined)) {
      way.late = addTotals(way.late, countedSince(before?.late ?? [], after.late ?? []));
      for (const type of holding) {
        const values = filter(type);
        if (values) way.delays.add(`${type} ${values.join(' ')}`);
      }
    }
    const [percent] = filter('packet_loss') ?? [];
    // Frames that these filters drop never reach `packet_loss`.
    const frames = received - dropped('frequency_drop') - dropped('suspend');
    if (typeof percent === 'number' && frames > 0) way.losses.push({ percent, frames, lost: dropped('packet_loss') });
    return way;
  }

  #computeIds(): string[] {
    return [...new Set(this.#site.nodes.map(({ compute_id }) => compute_id))];
  }

  /** Reads a compute's figures, or returns the reason why there are none. */
  async #host(id: string): Promise<FidelityFigures | string> {
    try {
      return await limited(this.#site.api.json<FidelityFigures>('GET', `/v2/computes/${encodeURIComponent(id)}/fidelity`));
    } catch (error) {
      return (error as Error).message;
    }
  }

  async #hostFidelity(computeId: string): Promise<HostFidelity> {
    const before = this.#hosts.get(computeId);
    const after = await this.#host(computeId);
    const nothing = { computeId, loopLate: quantilesOf(new Map()), stealPercent: 0 };
    if (typeof after === 'string') return { ...nothing, failure: `it does not say how faithful it was: ${after}` };
    if (!before) return { ...nothing, failure: 'it did not say how faithful it was when the checks began' };
    if (after.fabric_pid !== before.fabric_pid) return { ...nothing, failure: 'its fabric was restarted during the test' };
    if (after.loop_late === null)
      return { ...nothing, failure: 'its fabric does not measure how late it is: it is of an older version' };
    const ticks = after.cpu_ticks - before.cpu_ticks;
    return {
      computeId,
      loopLate: quantilesOf(countedSince(before.loop_late ?? [], after.loop_late)),
      stealPercent: ticks > 0 ? (100 * (after.stolen_ticks - before.stolen_ticks)) / ticks : 0,
      failure: undefined,
    };
  }
}

function limited<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${answerLimitMs / 1000} s`)), answerLimitMs);
  });
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer));
}
