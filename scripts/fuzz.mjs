/**
 * Hunts for defects with new seeds and stops at the first failure: attacks servers (`test/bad-input/attack.test.ts`), holds their event loop
 * with the largest inputs, damages each file of a data directory, then kills one 110 times, and during restores of snapshots, freezes,
 * rewinds and moves (`test/durability/`). `simulate` plays schedules on a virtual clock (`test/simulation/`), `state` programs of API calls
 * on real servers (`test/bad-input/programs/`), `bytes` feeds changed files and streams to parsers (`test/bad-input/bytes/`).
 * `npm test` does a shorter form, always with one seed.
 */
import { randomInt } from 'node:crypto';
import { bundleProgram } from './bundle-program.mjs';
import { handOver } from './setup-npm.mjs';
import { runTests } from './test-runner.mjs';

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
  async away(minutes) {
    await hunt('test/durability/away-controller.test.ts', {
      PATCHBAY_AWAY_MS: String(60_000 * minutes),
      PATCHBAY_AWAY_MACHINES: '30',
    });
  },
  async quiet() {
    await hunt('test/lab/void-verdicts.test.ts', { PATCHBAY_TEST_QUIET_SECONDS: '3600' });
  },
  async labs() {
    for (const file of ['lab/verdicts', 'lab/dns-satellite', 'lab/routers', 'browser/guided-samples']) {
      if (!process.exitCode) await hunt(`test/${file}.test.ts`, { PATCHBAY_TEST_LABS_TWICE: '1' });
    }
  },
  async 'cloud-init'() {
    await hunt('test/lab/cloud-init.test.ts', { PATCHBAY_TEST_CLOUD_INIT: '1' });
  },
};
/** Only when they are named: they take long without new seeds, and an hour of quiet needs a host that does nothing else. */
const unasked = ['partition', 'cluster-kill', 'away', 'quiet', 'labs', 'cloud-init'];

const [given = '20', ...chosen] = process.argv.slice(2);
// Hunts with options of their own, which repeat a failure by its seed alone.
const seeded = {
  simulate: 'test/simulation/main.ts',
  state: 'test/bad-input/programs/main.ts',
  bytes: 'test/bad-input/bytes/main.ts',
};
if (Object.hasOwn(seeded, chosen[0] ?? '')) {
  // A program of calls starts the server several times.
  if (chosen[0] === 'state') process.env.PATCHBAY_TEST_PROGRAM ??= await bundleProgram();
  const args = [seeded[chosen[0]], given, ...chosen.slice(1)];
  // The hunt runs in place of this program, and is ended with it.
  handOver(process.execPath, args, process.env);
}
const rounds = Number(given);
if (!Number.isInteger(rounds) || rounds < 1 || chosen.some((name) => !(name in hunts))) {
  console.log(
    'Usage: npm run fuzz [-- ROUNDS [attack] [loop] [faults] [kill] [partition] [cluster-kill] [away] [quiet] [labs] [cloud-init]]\n20 rounds of all but the last six unless given. A round of attacks takes a minute or two; loop, faults and kills take minutes, a round of partition or cluster-kill half a minute on each engine, away so many minutes, quiet an hour; labs runs each worked lab twice, and presses the buttons of all guides; cloud-init boots a guest that reads its config disk.\n       npm run fuzz -- PLAYS simulate [--help]\n       npm run fuzz -- PROGRAMS state [--help]\n       npm run fuzz -- ROUNDS bytes [--help]',
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
