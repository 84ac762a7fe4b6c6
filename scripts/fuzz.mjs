/**
 * Hunts for defects: asks a server at random (`test/bad-input/fuzz.test.ts`), with a new seed every few rounds, and ends with the first
 * seed that fails. `npm test` asks always the same.
 */
import { randomInt } from 'node:crypto';
import { runTests } from './test-runner.mjs';

/** With one seed: a failure is found again by so many rounds at most. */
const roundsPerSeed = 4;

const [given = '20'] = process.argv.slice(2);
const rounds = Number(given);
if (!Number.isInteger(rounds) || rounds < 1) {
  console.log('Usage: npm run fuzz [-- ROUNDS]   (20 unless given; a round takes a few seconds)');
  process.exit(given === '--help' ? 0 : 2);
}
for (let left = rounds; left > 0 && !process.exitCode; left -= roundsPerSeed) {
  const seed = String(randomInt(1, 2 ** 31));
  const count = String(Math.min(left, roundsPerSeed));
  Object.assign(process.env, { PATCHBAY_TEST_SEED: seed, PATCHBAY_TEST_FUZZ_ROUNDS: count });
  process.exitCode = await runTests(['test/bad-input/fuzz.test.ts']);
  const again = `PATCHBAY_TEST_SEED=${seed} PATCHBAY_TEST_FUZZ_ROUNDS=${count} npm test -- test/bad-input/fuzz.test.ts`;
  if (process.exitCode) console.error(`The same again: ${again}`);
}
