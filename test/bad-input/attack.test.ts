/**
 * Attacks on servers that are not local, with credentials and without: hostile requests, QEMU options, images, archives and project
 * files from a seed. No bait file is read, written or run, nothing new listens, every response is a success or an error with a reason,
 * nothing is left, and the event loop is never held. `npm run fuzz` plays whole rounds with new seeds; `PATCHBAY_TEST_SEED` sets one,
 * `PATCHBAY_TEST_ATTACK_ROUNDS` the number of whole rounds, `PATCHBAY_TEST_ATTACK` plays a single attack again.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeChance } from '../durability/random.ts';
import { type Outcome, type Plan, playOne, playRound } from './attack/round.ts';

/** A busy machine lengthens holds of the event loop: `event-loop.test.ts` has the large cases, whole rounds count all. */
const short: Plan = { requests: 400, files: 32, options: 12, countsHolds: false };
const whole: Plan = { requests: 10_000, files: 500, options: 100, countsHolds: true };
const rounds = Number(process.env.PATCHBAY_TEST_ATTACK_ROUNDS) || 0;
const single = process.env.PATCHBAY_TEST_ATTACK;

/** A column of the table: the problems that it counts. */
const columns = {
  executed: /executed was made| ran: |it started/,
  'read or written': /the secret|was made|has .* open|listens on/,
  '500': /: 500 /,
  leaks: / (?:left|open|file): /,
  held: /event loop was held/,
};

if (single !== undefined) test(`attack ${single}`, async () => assert.deepEqual(await playOne(single), []));
else
  for (let round = 1; round <= (rounds || 1); round++) {
    const chance = makeChance((Number(process.env.PATCHBAY_TEST_SEED) || 1) + (round - 1) * 7919);
    test(`round ${round}, seed ${chance.seed}`, { timeout: 1_800_000 }, async () => {
      const outcome = await playRound(chance, rounds > 0 ? whole : short, (problem) => console.log(again(problem)));
      console.log(row(round, chance.seed, outcome));
      assert.deepEqual(outcome.problems, []);
      // Attacks that are always refused prove little unless harmless machines are accepted.
      assert.ok(outcome.machines > 0 && outcome.refused > outcome.files / 4, JSON.stringify(outcome));
    });
  }

function row(round: number, seed: number, { problems, ...figures }: Outcome): string {
  const counts = Object.entries(columns).map(([name, pattern]) => [name, problems.filter((text) => pattern.test(text)).length]);
  const all = { round, seed, ...figures, ...Object.fromEntries(counts), problems: problems.length };
  return Object.entries(all)
    .map(([name, value]) => `${name} ${value}`)
    .join(' · ');
}

function again(problem: string): string {
  const [, name] = /^(\w+:\d+:\w+): /.exec(problem) ?? [];
  return `${problem.slice(0, 3_000)}${name ? `\n  again: PATCHBAY_TEST_ATTACK=${name} npm test -- test/bad-input/attack.test.ts` : ''}`;
}
