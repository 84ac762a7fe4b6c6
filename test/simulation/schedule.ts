/** Steps of one play, in order: made from a seed, and short enough to be read. */
import { type Chance, makeChance } from '../durability/random.ts';

/** Requests of clients. */
export const verbs = [
  'start',
  'stop',
  'suspend',
  'reload',
  'start_all',
  'stop_all',
  'open',
  'close',
  'create',
  'delete',
  'rename',
  'auto_start',
  'duplicate',
  'migrate',
  'drain',
  'unregister',
] as const;
/** Kinds of failures. */
export const troubles = [
  ...(['kill', 'power_cut', 'restart', 'freeze'] as const),
  ...(['compute_kill', 'compute_reboot', 'compute_freeze', 'slice_end', 'cut', 'reset', 'late_events'] as const),
  ...(['guest_off', 'guest_crash', 'refuse', 'slow_boot', 'short_lived', 'other_start'] as const),
] as const;

export type Verb = (typeof verbs)[number];
export type Trouble = (typeof troubles)[number];

export interface Step {
  /** Milliseconds since the step before. */
  readonly wait: number;
  /** Number of events since the step before, in place of a time: so a failure comes between any two steps of what was begun. */
  readonly events?: number;
  readonly what: Verb | Trouble;
  /** Number of the node, compute or project that the step is about. */
  readonly of: number;
  /** Duration, milliseconds. */
  readonly lasts: number;
}

export interface Schedule {
  readonly seed: number;
  readonly nodes: number;
  /** Computes on other hosts. */
  readonly remotes: number;
  /** Number of computes that join as slices, beside the others. Default: none. */
  readonly slices?: number;
  /** Number of nodes for which each compute has memory. Default: more than there are. */
  readonly room?: number;
  readonly steps: readonly Step[];
}

const isVerb = (what: string): what is Verb => verbs.includes(what as Verb);

export function makeSchedule(seed: number): Schedule {
  const chance = makeChance(Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995);
  const nodes = chance.between(1, 4);
  const remotes = chance.between(0, 2);
  // Trouble of a few kinds comes often in each play, and that of others never. Half of the plays are of a few kinds of requests, too: what
  // needs three of them in a row would hardly come among all.
  const isNarrow = chance.next() < 0.5;
  const usual = troubles.filter(() => chance.next() < (isNarrow ? 0.15 : 0.35));
  const asked = isNarrow ? verbs.filter(() => chance.next() < 0.2) : verbs;
  const steps: Step[] = [];
  const count = chance.between(4, 24);
  const rush = chance.next();
  while (steps.length < count) {
    const isTrouble = usual.length > 0 && chance.next() < 0.45;
    const what = (isTrouble ? chance.pick(usual) : pickVerb(chance, asked)) ?? 'start';
    const events = isTrouble && chance.next() < 0.3 ? { events: chance.between(1, 80) } : {};
    steps.push({ wait: waitOf(chance, rush), ...events, what, of: chance.between(0, 7), lasts: lastsOf(chance) });
  }
  // Slices cost time, as they renew their leases.
  const slices = chance.next() < 0.15 ? chance.between(1, 2) : 0;
  const room = slices > 0 && chance.next() < 0.4 ? { room: chance.between(1, 3) } : {};
  return { seed, nodes, remotes, slices, ...room, steps };
}

function pickVerb(chance: Chance, asked: readonly Verb[]): Verb | undefined {
  // Most of what people do is starting and stopping.
  const isUsual = chance.next() < (asked.length < verbs.length ? 0.25 : 0.5);
  return isUsual ? chance.pick(['start', 'stop', 'start'] as const) : chance.pick(asked);
}

function waitOf(chance: Chance, rush: number): number {
  if (chance.next() < rush) return chance.between(0, 30);
  return chance.next() < 0.7 ? chance.between(30, 3_000) : chance.between(3_000, 90_000);
}

function lastsOf(chance: Chance): number {
  return chance.next() < 0.6 ? chance.between(1, 2_000) : chance.between(2_000, 150_000);
}

export function describe({ wait, events, what, of, lasts }: Step): string {
  return `+${events === undefined ? `${wait} ms` : `${events} events`} ${what} ${of}${isVerb(what) ? '' : ` for ${lasts} ms`}`;
}
