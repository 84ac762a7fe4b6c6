/**
 * Computes the probability with which a faithful emulation fails a check, because links lose frames at random. It needs the lab
 * file only, so it tells how far a verdict depends on luck before a machine starts.
 *
 * Theory of operation: the file tells which links the packets of a check pass (`lab-path.ts`) and how these lose frames. That gives
 * the exact distribution of how many packets return (`loss-chain.ts`), and the probability of the counts that the check does not
 * accept. The network is assumed to work as the check's author intends: a check that accepts no answer at all tests that there is
 * no route. Changes of the lab by earlier steps are followed; while a timeline changes the lab, nothing is computed.
 */
import type { Filters, FilterValues, LinkDirection } from '../../../src/schema/filter.ts';
import type { Lab, LabLink } from '../../file/lab.ts';
import type { LinkChoice } from '../definition/step-schema.ts';
import { type CheckStep, isGroup, isProbe, type LabAction, type StepGroup } from '../definition/steps.ts';
import { captureChance } from './capture-chance.ts';
import { advise } from './chance-advice.ts';
import { formatChance } from './format-chance.ts';
import { nodeOfAddress, type PathLink, pathBetween, reversed } from './lab-path.ts';
import { type LossyHop, mostBurstyHops, passDistribution } from './loss-chain.ts';
import { failing, type PacketCheck, packetsOf, unlikely } from './packet-check.ts';

export interface Chance {
  /** Probability that a faithful emulation fails the check; undefined where it was not computed. */
  readonly fails: number | undefined;
  /** A sentence with the probability and the advised change, or with the reason why it was not computed. */
  readonly text: string;
  /** Element `k`: the probability that `k` packets return. Present for checks without repetition. */
  readonly distribution?: readonly number[];
  /** Whether links on the path lose frames at random: addresses are resolved before packets count. */
  readonly isLossy: boolean;
}

export type Chances = ReadonlyMap<CheckStep, Chance>;

/**
 * Computes the chance of each step that depends on chance, or may; other steps have no entry. `isSeeded`: each run uses the same
 * seed.
 */
export function chancesOf(lab: Lab, isSeeded = lab.test.seed !== undefined): Chances {
  const walk = new ChanceWalk(lab, isSeeded);
  for (const step of lab.checks) walk.step(step);
  return walk.found;
}

class ChanceWalk {
  readonly found = new Map<CheckStep, Chance>();
  readonly #lab: Lab;
  readonly #isSeeded: boolean;
  /** Filters of each link when a step begins. */
  readonly #filters: Map<LabLink, Filters>;
  readonly #suspended: Set<LabLink>;
  readonly #stopped = new Set<string>();
  /** Reason why no chance can be computed, from here on or for now. */
  #unknown: string | undefined;

  constructor(lab: Lab, isSeeded: boolean) {
    this.#lab = lab;
    this.#isSeeded = isSeeded;
    this.#filters = new Map(lab.links.map((link) => [link, link.filters]));
    this.#suspended = new Set(lab.links.filter(({ suspend }) => suspend));
  }

  step(step: CheckStep): void {
    const { what } = step;
    if (isGroup(what)) this.#group(step, what);
    else if (isProbe(what) || what.verb === 'traffic') this.#packets(step);
    else this.#act(what);
  }

  #group(step: CheckStep, group: StepGroup): void {
    const before = this.#unknown;
    const changes = group.verb === 'timeline' && group.steps.some(({ what }) => !isGroup(what) && isAction(what));
    if (changes) this.#unknown ??= 'the lab changes meanwhile';
    for (const inner of group.steps) this.step(inner);
    if (changes) this.#unknown = before;
    if (group.verb !== 'capture') return;
    const found = captureChance(group, this.#linkOf(group.link), {
      hopsOf: (inner) => this.#hopsOf(inner),
      failsOf: (inner) => this.found.get(inner)?.fails ?? 0,
    });
    if (found !== undefined) this.found.set(step, this.#chance(found));
  }

  #packets(step: CheckStep): void {
    const check = packetsOf(step);
    if (!check || check.acceptsOnlyNone) return;
    const { what } = step;
    const hops = this.#hopsOf(step);
    if (hops === undefined) return;
    if (typeof hops === 'string') {
      this.found.set(step, { fails: undefined, text: `its dependence on chance is not known: ${hops}`, isLossy: true });
      return;
    }
    const distributionOf = (count: number) => {
      const resolved = passDistribution(count, hops);
      return what.verb === 'ping' && !what.settings.resolves
        ? withResolution(resolved, passDistribution(1, hops)[1] ?? 0)
        : resolved;
    };
    const distribution = distributionOf(check.count);
    const fails = repeated(step, check, failing(check, distribution));
    const advice = step.repetition ? undefined : advise(check, distributionOf, this.#isSeeded);
    const chance = this.#chance({ fails, advice });
    this.found.set(step, { ...chance, ...(step.repetition ? {} : { distribution }) });
  }

  #chance({ fails, advice }: { fails: number; advice?: string | undefined }): Chance {
    const text = `fails by chance ${formatChance(fails)}`;
    return { fails, text: fails > unlikely && advice !== undefined ? `${text}: ${advice}` : text, isLossy: true };
  }

  /** Returns the hops that may lose the step's packets, in both directions; undefined: none; a sentence: unknown. */
  #hopsOf(step: CheckStep): (LossyHop & { readonly at: PathLink })[] | string | undefined {
    const links = this.#lab.links.filter(
      (link) => !this.#suspended.has(link) && !link.ends.some(({ node }) => this.#stopped.has(node)),
    );
    if (!links.some((link) => isRandom(this.#filters.get(link) ?? {}) || link.schedule)) return undefined;
    if (this.#unknown !== undefined) return this.#unknown;
    const path = this.#pathOf(step, links);
    if (typeof path === 'string') return path;
    const hops: (LossyHop & { at: PathLink })[] = [];
    for (const at of path) {
      if (at.link.schedule) return 'a link on its way has a schedule';
      const hop = lossOf(this.#filters.get(at.link) ?? {}, at.direction);
      if (typeof hop === 'string') return hop;
      hops.push({ ...hop, at });
    }
    if (!hops.some(({ loss, burst }) => loss > 0 || burst)) return undefined;
    return hops.filter(({ burst }) => burst).length > mostBurstyHops ? 'too many links on its way lose frames in bursts' : hops;
  }

  #pathOf({ node, what }: CheckStep, links: readonly LabLink[]): PathLink[] | string {
    if (what.verb === 'traffic') return pathBetween(links, what.from.at, what.to.at);
    const to = what.verb === 'ping' ? what.settings.to : '';
    const target = nodeOfAddress(this.#lab, to);
    if (target === undefined) return `the file does not tell which node has the address ${to}`;
    const path = pathBetween(links, node ?? '', target);
    return typeof path === 'string' ? path : [...path, ...reversed(path)];
  }

  #act(action: LabAction): void {
    switch (action.verb) {
      case 'impair': {
        const link = this.#linkOf(action.link);
        if (link) this.#filters.set(link, action.filters as Filters);
        return;
      }
      case 'suspend':
      case 'resume': {
        const link = this.#linkOf(action.link);
        if (link) this.#suspended[action.verb === 'suspend' ? 'add' : 'delete'](link);
        return;
      }
      case 'stop':
      case 'kill':
        this.#stopped.add(action.target);
        return;
      case 'start':
        this.#stopped.delete(action.target);
        return;
      case 'config':
        this.#unknown = 'an earlier step configures a node';
    }
  }

  /** Finds the chosen link. Undefined where no link or several match: nothing is known from then on. */
  #linkOf(choice: LinkChoice): LabLink | undefined {
    const wanted = typeof choice === 'string' ? [choice] : choice;
    const isEnd = (text: string, { node, port }: LabLink['ends'][number]) => text === node || text === `${node}:${port}`;
    const found = this.#lab.links.filter(({ ends: [a, b] }) => {
      const [one = '', other] = wanted;
      if (other === undefined) return isEnd(one, a) || isEnd(one, b);
      return (isEnd(one, a) && isEnd(other, b)) || (isEnd(one, b) && isEnd(other, a));
    });
    if (found.length !== 1) this.#unknown = 'an earlier step names its link by a port';
    return found.length === 1 ? found[0] : undefined;
  }
}

/** Requests for an address before a host gives up (Linux: `mcast_solicit`; other systems send as many). */
const addressRequests = 3;

/** Includes address resolution, whose frames are lost like pings: without an answer no packet is sent. */
function withResolution(distribution: readonly number[], passes: number): number[] {
  const unresolved = (1 - passes) ** addressRequests;
  return distribution.map((probability, count) => probability * (1 - unresolved) + (count === 0 ? unresolved : 0));
}

/** Computes the probability that a repeated check fails, with the fewest tries that its time allows. */
function repeated({ repetition }: CheckStep, { lastsMs }: PacketCheck, fails: number): number {
  if (!repetition) return fails;
  const { how, forMs, everyMs } = repetition;
  const tries = Math.max(1, Math.floor(forMs / (everyMs + lastsMs)));
  return how === 'eventually' ? fails ** tries : 1 - (1 - fails) ** Math.ceil(forMs / everyMs);
}

const isAction = (what: CheckStep['what']): what is LabAction => !isProbe(what) && !isGroup(what) && what.verb !== 'traffic';

const random = ['packet_loss', 'burst_loss', 'corrupt'] as const;
/** Filters whose effect depends on frames that the file does not tell. */
const uncertain = {
  frequency_drop: 'every nth frame',
  bpf: 'frames of an expression',
  match: 'frames of an expression only',
} as const;

const valuesOf = (filters: Filters, type: string, direction: LinkDirection): FilterValues =>
  (filters as Readonly<Record<string, FilterValues>>)[`${type}_${direction}`] ??
  (filters as Readonly<Record<string, FilterValues>>)[type] ??
  [];

/** Whether frames are lost at random, in one direction at least. */
function isRandom(filters: Filters): boolean {
  return random.some((type) => (['ab', 'ba'] as const).some((direction) => Number(valuesOf(filters, type, direction)[0] ?? 0) > 0));
}

/**
 * Returns the loss in one direction; a sentence where it is unknown. A damaged frame counts as lost, because its checksum is wrong.
 */
function lossOf(filters: Filters, direction: LinkDirection): LossyHop | string {
  const share = (type: string, index = 0) => Number(valuesOf(filters, type, direction)[index] ?? 0) / 100;
  for (const [type, what] of Object.entries(uncertain)) {
    const [value = 0] = valuesOf(filters, type, direction);
    if (value !== 0 && value !== '') return `a link on its way loses ${what} (${type})`;
  }
  const loss = 1 - (1 - share('packet_loss')) * (1 - share('corrupt'));
  const begins = share('burst_loss');
  if (begins === 0) return { loss };
  // Defaults of values that are left out: `schema/filter-table.ts`.
  const [, ends = 100 - begins * 100, good = 0, bad = 100] = valuesOf(filters, 'burst_loss', direction).map(Number);
  return { loss, burst: { begins, ends: ends / 100, lossWhenGood: good / 100, lossWhenBad: bad / 100 } };
}
