/**
 * Hunts for defects with new seeds, and ends with the first that fails: asks a server at random (`test/bad-input/fuzz.test.ts`), then
 * kills one 110 times and during restores of snapshots (`test/durability/`). `npm test` does less of the same, always with one seed.
 */
import { randomInt } from 'node:crypto';
import { runTests } from './test-runner.mjs';

/** With one seed: a failure is found again by so many rounds at most. */
const roundsPerSeed = 4;
const kills = 110;
/** The test of 110 kills has a limit of its own. */
const limits = { testMs: 600_000 };

const [given = '20'] = process.argv.slice(2);
const rounds = Number(given);
if (!Number.isInteger(rounds) || rounds < 1) {
  console.log('Usage: npm run fuzz [-- ROUNDS]   (20 unless given; a round takes a few seconds, the kills after them minutes)');
  process.exit(given === '--help' ? 0 : 2);
}
for (let left = rounds; left > 0 && !process.exitCode; left -= roundsPerSeed) {
  await hunt('test/bad-input/fuzz.test.ts', { PATCHBAY_TEST_FUZZ_ROUNDS: String(Math.min(left, roundsPerSeed)) });
}
if (!process.exitCode)
  await hunt('test/bad-input/attack/archives.test.ts', { PATCHBAY_TEST_FUZZ_ROUNDS: String(Math.ceil(rounds / roundsPerSeed)) });
if (!process.exitCode) await hunt('test/durability/faults.test.ts', { PATCHBAY_TEST_FAULTS: 'all' });
for (const file of ['kill', 'restore-kill']) {
  if (!process.exitCode) await hunt(`test/durability/${file}.test.ts`, { PATCHBAY_TEST_KILLS: String(kills) });
}

async function hunt(file, variables) {
  const all = { PATCHBAY_TEST_SEED: String(randomInt(1, 2 ** 31)), ...variables };
  Object.assign(process.env, all);
  process.exitCode = await runTests([file], { limits });
  const again = Object.entries(all).map(([name, value]) => `${name}=${value}`);
  if (process.exitCode) console.error(`The same again: ${again.join(' ')} npm test -- ${file}`);
}
