/** Stands in for `node:crypto`: what is random follows from the seed. */
import { simulation } from '../engine/simulation.ts';

export * from 'node:crypto';
export { randomBytes, randomUUID } from '../engine/globals.ts';

export function randomInt(first: number, end?: number): number {
  const { chance } = simulation().kernel;
  return end === undefined ? chance.between(0, first - 1) : chance.between(first, end - 1);
}
