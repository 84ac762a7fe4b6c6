/** Feeds changed inputs to a parser. An input that reaches a new part of the program is changed further. */
import type { Chance } from '../../durability/random.ts';
import { Coverage } from './coverage.ts';
import { mutate } from './mutate.ts';
import type { Target } from './targets.ts';

const mostKept = 2000;

export interface Hunted {
  readonly target: string;
  readonly inputs: number;
  /** Inputs that reached something new. */
  readonly kept: number;
  readonly parts: number;
  /** Longest time that one input took, in ms. */
  readonly longestMs: number;
  /** The first failure. */
  readonly failure: { readonly reason: string; readonly input: Uint8Array } | undefined;
}

/**
 * Tries inputs of a target: those it begins with, then changed ones. `isGuided`: inputs that reach something new are changed further, which
 * takes some ten milliseconds for each input.
 */
export async function hunt(target: Target, count: number, chance: Chance, isGuided = true): Promise<Hunted> {
  using coverage = isGuided ? new Coverage() : undefined;
  const kept = [...(await target.seeds(chance))];
  const queue = [...kept];
  let longestMs = 0;
  let inputs = 0;
  const result = (failure: Hunted['failure']): Hunted => {
    return { target: target.name, inputs, kept: kept.length, parts: coverage?.size ?? 0, longestMs, failure };
  };
  while (inputs < count) {
    const input = queue.shift() ?? mutate(chance.pick(kept) ?? new Uint8Array(), kept, chance);
    const began = performance.now();
    const reason = await problemOf(target, input);
    longestMs = Math.max(longestMs, performance.now() - began);
    inputs += 1;
    if (reason !== undefined) return result({ reason, input });
    if (coverage?.isNew() && kept.length < mostKept) kept.push(input);
  }
  return result(undefined);
}

/** Why an input fails: an error that no client is shown, or a promise that the target checks itself. */
export async function problemOf(target: Target, input: Uint8Array): Promise<string | undefined> {
  try {
    await target.take(Buffer.from(input));
    return undefined;
  } catch (error) {
    if (target.refuses(error)) return undefined;
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}
