/** The present impairments of a link: its own filters, and the values of its schedule in their place. */
import { randomInt } from 'node:crypto';
import { type Filters, isActing, type LinkDirection, numbersFirst, textsFirst } from '../../schema/filter.ts';
import type { BpfProgram } from '../filters/bpf.ts';
import { type LinkPath, noPath } from '../filters/filter.ts';
import { type ActiveFilter, buildChains, type Chains, continueFilter, noChains, stateOf } from '../filters/filter-chains.ts';
import type { FilterState, LinkSpec, ScheduleState } from '../protocol.ts';
import { type Moment, Timeline } from '../schedules/timeline.ts';
import { matchOf, noPrograms, type Programs, programsIn } from './programs.ts';

const allMatch = { ab: undefined, ba: undefined };
const nothingContinues: Readonly<Record<LinkDirection, readonly FilterState[]>> = { ab: [], ba: [] };
const noFilters: Filters = {};

interface Scheduled {
  readonly spec: NonNullable<LinkSpec['schedule']>;
  readonly timeline: Timeline;
  /** The link's own filters, their values in the order of the schedule's. */
  readonly own: Filters;
  /** Start of the schedule, milliseconds of `performance.now()`. */
  readonly startMs: number;
}

export class Impairments {
  /** Filters of both directions, as they are now. */
  chains: Chains = noChains;
  suspend = false;
  /** Frames that do not match are not impaired; undefined: all match. */
  match: Readonly<Record<LinkDirection, BpfProgram | undefined>> = allMatch;
  /** End of their validity, milliseconds of `performance.now()`. */
  untilMs = Number.POSITIVE_INFINITY;
  /** Where no seed is given. */
  #ownSeed: number | undefined;
  #seed: number | undefined;
  #filters: Filters = noFilters;
  #isSuspended = false;
  #programs: Programs = noPrograms;
  #scheduled: Scheduled | undefined;
  readonly #path: LinkPath;
  #text = '';
  /** All filters since the schedule was set, which continue when the schedule switches them on again. */
  #known: Chains = noChains;
  #moment: Moment | undefined;
  /** Where filters continue that a schedule has not switched on yet. */
  #continued = nothingContinues;

  constructor(path: LinkPath = noPath) {
    this.#path = path;
  }

  update(spec: LinkSpec, programs: Programs): void {
    this.#filters = Object.keys(spec.filters).length === 0 ? noFilters : spec.filters;
    this.#isSuspended = spec.suspend;
    this.#programs = programs;
    // A schedule that stays keeps its clock, whatever the time of day does meanwhile.
    const text = JSON.stringify([spec.schedule ?? null, spec.filters]);
    if (text !== this.#text) {
      this.#text = text;
      this.#continued = nothingContinues;
      this.#scheduled = spec.schedule && schedule(spec.schedule, spec.filters, this.#scheduled);
    }
    this.advance(performance.now());
  }

  /** Makes them what they are at a moment. */
  advance(nowMs: number): void {
    const filters = this.#filters;
    this.#moment = this.#scheduled?.timeline.at(nowMs - this.#scheduled.startMs);
    const acting = this.#scheduled && this.#moment ? overlaid(this.#scheduled.own, this.#moment.filters) : filters;
    this.suspend = this.#isSuspended || (this.#moment?.suspend ?? false);
    this.untilMs = this.#scheduled && this.#moment ? this.#scheduled.startMs + this.#moment.until : Number.POSITIVE_INFINITY;
    if (acting === noFilters) {
      [this.match, this.chains, this.#known] = [allMatch, noChains, noChains];
      return;
    }
    this.#ownSeed ??= randomInt(2 ** 32);
    const seed = Number(acting.seed?.[0] ?? this.#ownSeed);
    // A step that changes it begins new sequences.
    if (seed !== (this.#seed ?? this.#ownSeed)) this.#continued = nothingContinues;
    this.#seed = seed;
    const match = programsIn(this.#programs, acting, 'match');
    this.match = { ab: matchOf(match.ab), ba: matchOf(match.ba) };
    const programs = programsIn(this.#programs, acting, 'bpf');
    const isScheduled = this.#scheduled !== undefined;
    const [continued, path] = [this.#continued, this.#path];
    const spec = { filters: acting, seed, programs, isScheduled, continued, path };
    this.chains = buildChains(spec, isScheduled ? this.#known : this.chains);
    this.#known = isScheduled
      ? { ab: merged(this.chains.ab, this.#known.ab), ba: merged(this.chains.ba, this.#known.ba) }
      : noChains;
  }

  /** Where the filters of a direction are in their random sequences and queues. */
  filterStates(direction: LinkDirection, nowMs: number): FilterState[] {
    return this.#all[direction].map((active) => stateOf(active, nowMs));
  }

  /** Filters of the same types continue there, until the link's own filters, its schedule or the seed are changed. */
  continueFilters(direction: LinkDirection, states: readonly FilterState[], nowMs: number): void {
    this.#continued = { ...this.#continued, [direction]: states };
    for (const active of this.#all[direction]) continueFilter(active, states, nowMs);
  }

  /** All filters, also those that a schedule has switched off. */
  get #all(): Chains {
    return this.#scheduled ? this.#known : this.chains;
  }

  /** Undefined without a schedule. */
  state(nowMs: number): ScheduleState | undefined {
    if (!this.#scheduled) return undefined;
    const { spec, startMs, timeline, own } = this.#scheduled;
    const { filters, suspend } = timeline.at(nowMs - startMs);
    return { startedAt: spec.started_at, elapsedMs: nowMs - startMs, filters: overlaid(own, filters), suspend };
  }
}

function schedule(spec: Scheduled['spec'], filters: Filters, before: Scheduled | undefined): Scheduled {
  const isSame = before !== undefined && before.spec.started_at === spec.started_at;
  const startMs = isSame ? before.startMs : performance.now() - (Date.now() - spec.started_at);
  const own = numbersFirst(filters);
  return { spec, timeline: new Timeline(spec, own), own, startMs };
}

/**
 * A delay takes the place of a latency, which is the same by another name. Both were checked when they were received: only what the
 * schedule switches off is left out.
 */
function overlaid(own: Filters, scheduled: Moment['filters']): Filters {
  const names = Object.keys(scheduled);
  const replaced = new Set(names.map((name) => name.replace(/^delay/, 'latency')));
  const kept = Object.entries(own).filter(([name]) => !replaced.has(name));
  const all = Object.entries({ ...Object.fromEntries(kept), ...scheduled });
  return textsFirst(Object.fromEntries(all.filter(([name, values]) => isActing(name, values))));
}

function merged(now: readonly ActiveFilter[], before: readonly ActiveFilter[]): readonly ActiveFilter[] {
  return [...now, ...before.filter(({ type }) => !now.some((active) => active.type === type))];
}
