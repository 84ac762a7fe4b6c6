/**
 * Hunts for defects with new seeds and stops at the first failure: attacks servers (`test/bad-input/attack.test.ts`), sends random
 * requests to one (`test/bad-input/fuzz.test.ts`), holds its event loop with the largest inputs, damages each file of a data directory, then
 * kills one 110 times, and during restores of snapshots, freezes, rewinds and moves (`test/durability/`). `simulate` plays schedules on a
 * virtual clock (`test/simulation/`).
 * `npm test` does a shorter form, always with one seed.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { runTests } from './test-runner.mjs';

/** Rounds per seed: a failure is reproduced within this number. */
const roundsPerSeed = 4;
const kills = 110;
/** The test of 110 kills has its own limit; a round of attacks takes minutes on a busy machine. */
const limits = { testMs: 4_000_000, fileMs: 4_200_000 };

const hunts = {
  async attack(rounds) {
    for (let left = rounds; left > 0 && !process.exitCode; left--)
      await hunt('test/bad-input/attack.test.ts', { PATCHBAY_TEST_ATTACK_ROUNDS: '1' });
  },
  async loop() {
    await hunt('test/bad-input/attack/event-loop.test.ts', { PATCHBAY_TEST_LARGEST: '1' });
  },
  async ask(rounds) {
    for (let left = rounds; left > 0 && !process.exitCode; left -= roundsPerSeed)
      await hunt('test/bad-input/fuzz.test.ts', { PATCHBAY_TEST_FUZZ_ROUNDS: String(Math.min(left, roundsPerSeed)) });
  },
  async faults() {
    await hunt('test/durability/faults.test.ts', { PATCHBAY_TEST_FAULTS: 'all' });
  },
  async kill() {
    for (const file of ['kill', 'restore-kill', 'freeze-kill', 'warm-traffic', 'live-move']) {
      if (!process.exitCode) await hunt(`test/durability/${file}.test.ts`, { PATCHBAY_TEST_KILLS: String(kills) });
    }
  },
  async partition(rounds) {
    await huntOnClusters({ PATCHBAY_TEST_PARTITIONS: String(rounds) });
  },
  async 'cluster-kill'(rounds) {
    await huntOnClusters({ PATCHBAY_TEST_CLUSTER_KILLS: String(rounds) });
  },
  async quiet() {
    await hunt('test/lab/void-verdicts.test.ts', { PATCHBAY_TEST_QUIET_SECONDS: '3600' });
  },
  async labs() {
    for (const file of ['verdicts', 'dns-satellite', 'routers']) {
      if (!process.exitCode) await hunt(`test/lab/${file}.test.ts`, { PATCHBAY_TEST_LABS_TWICE: '1' });
    }
  },
  async 'cloud-init'() {
    await hunt('test/lab/cloud-init.test.ts', { PATCHBAY_TEST_CLOUD_INIT: '1' });
  },
};
/** Only when they are named: they take long without new seeds, and an hour of quiet needs a host that does nothing else. */
const unasked = ['partition', 'cluster-kill', 'quiet', 'labs', 'cloud-init'];

const [given = '20', ...chosen] = process.argv.slice(2);
// It has options of its own, and repeats a failure by its seed alone.
if (chosen[0] === 'simulate') {
  const args = ['test/simulation/main.ts', given, ...chosen.slice(1)];
  process.exit(spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1);
}
const rounds = Number(given);
if (!Number.isInteger(rounds) || rounds < 1 || chosen.some((name) => !(name in hunts))) {
  console.log(
    'Usage: npm run fuzz [-- ROUNDS [attack] [loop] [ask] [faults] [kill] [partition] [cluster-kill] [quiet] [labs] [cloud-init]]\n20 rounds of all but the last five unless given. A round of attacks takes a minute or two, one that asks a few seconds; loop, faults and kills take minutes, a round of partition or cluster-kill half a minute on each engine, quiet an hour; labs runs each worked lab twice; cloud-init boots a guest that reads its config disk.\n       npm run fuzz -- PLAYS simulate [--help]',
  );
  process.exit(given === '--help' ? 0 : 2);
}
for (const [name, play] of Object.entries(hunts)) {
  if (chosen.length === 0 ? !unasked.includes(name) : chosen.includes(name)) await play(rounds);
}

/** Hosts are cut off, and programs killed, in a lab over hosts of Slurm and of Kubernetes. */
async function huntOnClusters(variables) {
  for (const engine of ['slurm', 'kubernetes'])
    if (!process.exitCode) await hunt(`test/integration/${engine}-slices.test.ts`, variables);
}

async function hunt(file, variables) {
  const all = { PATCHBAY_TEST_SEED: String(randomInt(1, 2 ** 31)), ...variables };
  Object.assign(process.env, all);
  process.exitCode = await runTests([file], { limits });
  const again = Object.entries(all).map(([name, value]) => `${name}=${value}`);
  if (process.exitCode) console.error(`To repeat: ${again.join(' ')} npm test -- ${file}`);
}
