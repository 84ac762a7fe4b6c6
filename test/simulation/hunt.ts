/** Plays one schedule after the other until one fails, which is shortened and shown. */
import { shorten } from './engine/shorten.ts';
import { type Played, playSchedule } from './play.ts';
import { describe, makeSchedule, type Schedule, type Step } from './schedule.ts';

export interface Hunt {
  readonly first: number;
  readonly plays: number;
  /** Seconds of processor time: the hunt ends when both these and `plays` are done. */
  readonly seconds: number;
  /** Called after each thousand plays with the seed that is next. */
  readonly onProgress?: (next: number, plays: number, cpuSeconds: number) => void;
}

export interface Found {
  readonly plays: number;
  readonly cpuSeconds: number;
  /** Number of times that a decision followed a kind of trouble. The key is `DECISION\tTROUBLE`. */
  readonly decisions: ReadonlyMap<string, number>;
  /** Text to show of a play that failed. */
  readonly failure?: string;
}

const mostTries = 400;
/** Every so many plays one is played a second time, and must be the same. */
const repeatEvery = 100;
const reportEvery = 1000;
const { cpuUsage } = process;

/** Runs in a task of Node's own loop. */
export async function play(schedule: Schedule): Promise<Played> {
  const { port1, port2 } = new MessageChannel();
  const { promise, resolve } = Promise.withResolvers<Played>();
  port1.on('message', () => {
    port1.close();
    resolve(playSchedule(schedule));
  });
  port2.postMessage(0);
  return promise;
}

export async function hunt({ first, plays, seconds, onProgress }: Hunt): Promise<Found> {
  const decisions = new Map<string, number>();
  // The first play loads what the program loads when it is needed.
  await play(makeSchedule(0));
  const used = () => (cpuUsage().user + cpuUsage().system) / 1e6;
  const begun = used();
  const limit = Error.stackTraceLimit;
  let count = 0;
  const found = (failure?: string): Found => ({
    plays: count,
    cpuSeconds: used() - begun,
    decisions,
    ...(failure !== undefined && { failure }),
  });
  for (; count < plays || used() - begun < seconds; count++) {
    const schedule = makeSchedule(first + count);
    Error.stackTraceLimit = 0;
    const played = await play(schedule);
    Error.stackTraceLimit = limit;
    for (const [kind, times] of played.decisions) decisions.set(kind, (decisions.get(kind) ?? 0) + times);
    if (played.violation) return found(await explain(schedule, played.violation));
    if (count % repeatEvery === 0 && (await play(schedule)).hash !== played.hash)
      return found(`Seed ${schedule.seed}: two plays of it differ`);
    if ((count + 1) % reportEvery === 0) onProgress?.(first + count + 1, count + 1, used() - begun);
  }
  return found();
}

async function explain(schedule: Schedule, violation: string): Promise<string> {
  const what = kindOf(violation);
  const fails = async (steps: readonly Step[]) => kindOf((await play({ ...schedule, steps })).violation ?? '') === what;
  const steps = await shorten({ steps: schedule.steps, fails, smaller: halved, mostTries });
  const short = { ...schedule, steps };
  const last = await play(short);
  return [
    `Seed ${schedule.seed}: ${violation}`,
    `Shortened to ${steps.length} of ${schedule.steps.length} steps, with ${schedule.nodes} nodes and ${schedule.remotes} other computes: ${last.violation}`,
    ...steps.map((step) => `  ${describe(step)}`),
    tableOf(last),
    `As a kept schedule: ${JSON.stringify(short)}`,
  ].join('\n');
}

function halved(step: Step): Step | undefined {
  if (step.events !== undefined && step.events > 1) return { ...step, events: Math.floor(step.events / 2) };
  if (step.events === undefined && step.wait > 1) return { ...step, wait: Math.floor(step.wait / 2) };
  return step.lasts > 1 ? { ...step, lasts: Math.floor(step.lasts / 2) } : undefined;
}

/** The violation without names, numbers and times. */
function kindOf(violation: string): string {
  return violation.replace(/\(at .*|\bR\d+\S*|\d+|at .*/g, '').slice(0, 60);
}

function tableOf({ trace }: Played): string {
  const rows = trace.map(({ at, ...row }) => ({ at: (at / 1000).toFixed(3), ...row }));
  const columns = ['at', 'node', 'wanted', 'observed', 'what'] as const;
  const heads: Record<(typeof columns)[number], string> = {
    at: 'time',
    node: 'node',
    wanted: 'wanted',
    observed: 'observed',
    what: 'action',
  };
  const widths = columns.map((column) => Math.max(heads[column].length, ...rows.map((row) => row[column].length)));
  const line = (row: Record<(typeof columns)[number], string>) =>
    columns
      .map((column, index) => row[column].padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(heads), ...rows.map(line)].join('\n');
}
