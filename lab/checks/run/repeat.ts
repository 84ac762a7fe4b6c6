/** Repeats a step: until it holds, or to see that it always or never holds. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Repetition } from '../definition/steps.ts';
import type { ProbeFinding } from '../probes/node-probe.ts';

/** Result of one try; `error`: the try could not be carried out. */
export interface Try extends ProbeFinding {
  readonly error?: Error;
}

export interface RepeatOutcome extends Try {
  readonly tries: number;
}

/** Repeats `attempt`, which gets its remaining time in ms. @throws the reason of an aborted signal */
export async function repeat(
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
