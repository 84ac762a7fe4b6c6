/** Runs the steps of a lab in order and reports each. The steps after a failed check run all the same. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Link } from '../../../src/schema/link.ts';
import type { TrafficFlowFigures } from '../../../src/schema/traffic.ts';
import type { Static } from '../../../src/schema/type.ts';
import type { Chances } from '../chance/chance.ts';
import { stepChance } from '../chance/step-chance.ts';
import {
  type CheckStep,
  isGroup,
  isProbe,
  type LabAction,
  type Probe,
  type Repetition,
  type StepGroup,
  type TrafficRun,
} from '../definition/steps.ts';
import { gapsOf, type StationChoice, type TrafficPattern, type TrafficResult } from '../definition/traffic.ts';
import { NoCommandError, type ProbeFinding, resolveAddress, runProbe } from '../probes/node-probe.ts';
import { runAction } from './actions.ts';
import { capturePackets } from './capture-packets.ts';
import type { ChangeWatch } from './change-watch.ts';
import { type LabSite, SiteError } from './lab-site.ts';
import { siteOf } from './probe-site.ts';
import { type PacketTrain, readReplay } from './read-replay.ts';
import { linkSeed } from './seeds.ts';
import type { StepReport } from './step-report.ts';

interface RunnerOptions {
  readonly site: LabSite;
  readonly watch: ChangeWatch;
  readonly seedOf: (link: Link) => number;
  /** Seed of the times between packets. */
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly chances: Chances;
  readonly onStep?: (report: StepReport) => void;
}

/** Result of a step, without its time. */
type StepFinding = Pick<StepReport, 'outcome' | 'problems' | 'evidence'> &
  Partial<Pick<StepReport, 'tries' | 'steps' | 'capture'>> & {
    /** Number of arrived packets. */
    readonly arrived?: number | undefined;
  };

export class CheckRunner {
  readonly #options: RunnerOptions;
  /** Whether a change of the lab failed, which makes the later steps meaningless. */
  #isBroken = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  async run(steps: readonly CheckStep[]): Promise<StepReport[]> {
    const reports: StepReport[] = [];
    for (const step of steps) {
      const report = await this.#step(step);
      reports.push(report);
      this.#options.onStep?.(report);
    }
    return reports;
  }

  async #step(step: CheckStep): Promise<StepReport> {
    const { site } = this.#options;
    const start = site.now();
    const isSkipped = this.#isBroken || this.#options.signal.aborted;
    const { arrived, ...found }: StepFinding = isSkipped
      ? { outcome: 'skipped', problems: [], evidence: '' }
      : await this.#carryOut(step);
    const chance = stepChance(this.#options.chances.get(step), found.outcome === 'failed' ? arrived : undefined);
    return {
      name: step.name,
      verb: step.what.verb,
      node: step.node,
      startMs: Math.round(start),
      durationMs: Math.round(site.now() - start),
      tries: 1,
      steps: [],
      ...(chance && { chance }),
      ...found,
    };
  }

  async #carryOut(step: CheckStep): Promise<StepFinding> {
    const { what } = step;
    try {
      if (isProbe(what)) return await this.#probe(step, what);
      if (what.verb === 'traffic') return await this.#traffic(step, what);
      if (isGroup(what)) return await this.#group(what);
      return await this.#action(step, what);
    } catch (error) {
      return { outcome: 'error', problems: [(error as Error).message], evidence: '' };
    }
  }

  async #probe(step: CheckStep, probe: Probe): Promise<StepFinding> {
    const { site, signal } = this.#options;
    const place = { node: step.node ?? '', by: step.by };
    const isLossy = this.#options.chances.get(step)?.isLossy === true;
    const resolves = isLossy && probe.verb === 'ping' && probe.settings.resolves;
    const attempt = async (limitMs: number): Promise<Try> => {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(limitMs))]);
      try {
        const own = step.by === 'console' ? await site.askOwnProbe(place.node, probe, resolves, limit) : undefined;
        if (own) return own;
        return await site.useShell(place, limit, async (shell) => {
          const probeSite = siteOf(site, place, shell, limit);
          if (probe.verb === 'ping' && resolves) await resolveAddress(probe, probeSite, limit);
          return runProbe(probe, probeSite, limit);
        });
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof NoCommandError) throw error;
        return { problems: [], evidence: '', error: error as Error };
      }
    };
    const { error, problems, evidence, tries, arrived } = await repeat(step.repetition, step.limitMs, attempt, signal);
    if (error) return { outcome: 'error', problems: [error.message, ...problems], evidence, tries };
    return { outcome: problems.length === 0 ? 'passed' : 'failed', problems, evidence, tries, arrived };
  }

  async #traffic(step: CheckStep, run: TrafficRun): Promise<StepFinding> {
    const { site, seed, signal } = this.#options;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(step.limitMs))]);
    const result = await runTraffic(site, run, linkSeed(seed, step.name), limit);
    const problems = run.judge(result);
    const outcome = problems.length === 0 ? 'passed' : 'failed';
    return { outcome, problems, evidence: trafficText(result), arrived: result.received };
  }

  async #action(step: CheckStep, action: LabAction): Promise<StepFinding> {
    const { site, watch, seedOf, signal } = this.#options;
    try {
      // A start may take as long as its node takes to become ready.
      const limit = action.verb === 'start' ? signal : AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(step.limitMs))]);
      const evidence = await runAction(action, step.node, { site, watch, seedOf, signal: limit });
      return { outcome: 'passed', problems: [], evidence };
    } catch (error) {
      this.#isBroken = true;
      throw error;
    }
  }

  async #group(group: StepGroup): Promise<StepFinding> {
    if (group.verb === 'timeline') return summary(await this.#timeline(group.steps));
    const { site, signal, watch } = this.#options;
    let steps: StepReport[] = [];
    const link = site.link(group.link);
    const found = await capturePackets(site, { link, filter: group.filter, side: group.side }, signal, async () => {
      steps = await this.#sequence(group.steps);
    });
    watch.captured(site.nameOf(link), found.missed);
    const problems = group.judge(found);
    const inner = summary(steps);
    return {
      ...inner,
      outcome: problems.length > 0 && inner.outcome === 'passed' ? 'failed' : inner.outcome,
      problems: [...problems, ...inner.problems],
      evidence: `${found.packets} packets match, of ${found.senders} senders\n${found.text}`,
      capture: { pcap: found.pcap, packets: found.packets },
    };
  }

  async #sequence(steps: readonly CheckStep[]): Promise<StepReport[]> {
    const start = performance.now();
    const reports: StepReport[] = [];
    for (const step of steps) {
      await this.#until(start + step.atMs);
      reports.push(await this.#step(step));
    }
    return reports;
  }

  #timeline(steps: readonly CheckStep[]): Promise<StepReport[]> {
    const start = performance.now();
    return Promise.all(
      steps.map(async (step) => {
        await this.#until(start + step.atMs);
        return this.#step(step);
      }),
    );
  }

  async #until(atMs: number): Promise<void> {
    const left = atMs - performance.now();
    if (left > 0) await pause(left, undefined, { signal: this.#options.signal }).catch(() => undefined);
  }
}

function summary(steps: readonly StepReport[]): StepFinding & { steps: readonly StepReport[] } {
  const failed = steps.filter(({ outcome }) => outcome === 'failed' || outcome === 'error');
  const isError = failed.some(({ outcome }) => outcome === 'error');
  return {
    outcome: failed.length === 0 ? 'passed' : isError ? 'error' : 'failed',
    problems: failed.map(({ name, problems }) => `${name}: ${problems.join('; ')}`),
    evidence: '',
    steps,
  };
}

/** Result of one try; `error`: the try could not be carried out. */
interface Try extends ProbeFinding {
  readonly error?: Error;
}

interface RepeatOutcome extends Try {
  readonly tries: number;
}

/**
 * Repeats a step until it holds, or to see that it always or never does. `attempt` gets its remaining time, ms. @throws the reason
 * of an aborted signal
 */
async function repeat(
  repetition: Repetition | undefined,
  limitMs: number,
  attempt: (limitMs: number) => Promise<Try>,
  signal: AbortSignal,
): Promise<RepeatOutcome> {
  if (!repetition) return { ...(await attempt(limitMs)), tries: 1 };
  const { how, forMs, everyMs } = repetition;
  const end = performance.now() + forMs;
  for (let tries = 1; ; tries += 1) {
    const left = end - performance.now();
    const found = await attempt(how === 'eventually' ? Math.min(limitMs, Math.max(left, 1000)) : limitMs);
    signal.throwIfAborted();
    const holds = found.problems.length === 0 && found.error === undefined;
    if (how === 'eventually' && holds) return { ...found, tries };
    if (how === 'always' && !holds) return { ...found, tries };
    if (how === 'never' && found.error !== undefined) return { ...found, tries };
    if (how === 'never' && holds)
      return { ...found, problems: [`it held in try ${tries}, and must not within ${forMs} ms`], tries };
    if (performance.now() + everyMs >= end) {
      if (how === 'eventually') return { ...found, problems: [...found.problems, `not within ${forMs} ms, ${tries} tries`], tries };
      return { ...found, problems: [], tries };
    }
    await pause(everyMs, undefined, { signal });
  }
}

type FlowFigures = Static<typeof TrafficFlowFigures>;
const pollMs = 200;

/**
 * Lets the fabric send traffic, and waits for its figures.
 * @throws SiteError when a router does not answer; ReplayError; RequestError; the reason of the signal
 */
async function runTraffic(site: LabSite, run: TrafficRun, seed: number, signal: AbortSignal): Promise<TrafficResult> {
  const { from, to, packets } = run;
  const train = packets.how === 'replay' ? await readReplay(site.base, packets) : patternTrain(packets, seed);
  const station = ({ address, nextHop, vlan }: StationChoice) => ({ address, next_hop: nextHop, vlan });
  const path = `/nodes/${site.node(from.at).node_id}/traffic`;
  let figures = await site.request<FlowFigures>('POST', path, {
    source: station(from),
    sink: { node_id: site.node(to.at).node_id, ...station(to) },
    ...train,
  });
  const flow = `${path}/${figures.traffic_id}`;
  try {
    while (figures.state === 'resolving' || figures.state === 'running') {
      await pause(pollMs, undefined, { signal });
      figures = await site.request<FlowFigures>('GET', flow);
    }
  } finally {
    await site.request('DELETE', flow).catch(() => undefined);
  }
  if (figures.state === 'failed') throw new SiteError(`traffic could not be sent: ${figures.problem}`);
  const { sent, received, reordered, longest_gap_ms: gap, delay_ms } = figures;
  return { sent, received, reordered, gap, delay: delay_ms ?? undefined };
}

function patternTrain(pattern: TrafficPattern, seed: number): PacketTrain {
  return { gaps_us: gapsOf(pattern, seed), sizes: [pattern.size] };
}

function trafficText({ sent, received, reordered, gap, delay }: TrafficResult): string {
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const delays = delay ? `delay ${ms(delay.p50)} median, ${ms(delay.p99)} p99, ${ms(delay.worst)} worst` : 'nothing arrived';
  return `${received} of ${sent} packets arrived, ${reordered} reordered; ${delays}; longest gap ${ms(gap)}`;
}
