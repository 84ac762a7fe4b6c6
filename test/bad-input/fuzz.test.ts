/**
 * Requests made from the schemas of /openapi.json, several at a time, right and wrong, on a real server with real VPCS: it answers
 * each as declared, leaks no resource, and has the same state after a restart. `npm run fuzz` takes new seeds;
 * `PATCHBAY_TEST_SEED` sets one, `PATCHBAY_TEST_FUZZ_ROUNDS` makes it longer.
 */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { findProgram } from '../../src/emulators/host/find-program.ts';
import { makeChance } from '../durability/random.ts';
import { RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { harmlessPrograms, setUp, tearDown } from './fuzz/lab.ts';
import { type OpenApi, operationsOf } from './fuzz/operations.ts';
import { ask, requestOf } from './fuzz/requests.ts';
import { consoleProblems, differences, residentMiB, stateOf } from './fuzz/state.ts';
import { World } from './fuzz/world.ts';

const rounds = Number(process.env.PATCHBAY_TEST_FUZZ_ROUNDS) || 2;
const batches = 4;
const requestsPerBatch = 30;
const residentLimitMiB = 700;

const chance = makeChance();
console.log(`seed ${chance.seed}`);
const programs = await mkdtemp(join(tmpdir(), 'pb-programs-'));
// VPCS is another user.
await chmod(programs, 0o755);
for (const name of harmlessPrograms) await symlink((await findProgram(name)) ?? '', join(programs, name));
const server = await startServer({
  stopNodes: false,
  env: { PATH: programs },
  config: { Docker: { socket_path: join(programs, 'none') }, Qemu: { acceleration: 'off' } },
});
const client = new RawClient(server.url);
const bench = { server, client };
after(async () => {
  client.close();
  await server.stop();
  await rm(programs, { recursive: true });
});
const document = await client.get<OpenApi>('/openapi.json');
const operations = operationsOf(document);

for (let round = 1; round <= rounds; round++) {
  test(`round ${round}: answers as declared, nothing lost, nothing left`, async () => {
    const world = new World(chance, document.components.schemas, server.dataDir);
    // After a failure, what is left over proves nothing more.
    await playRound(world, round % 2 === 0).catch(async (error: unknown) => {
      await tearDown(bench).catch(() => undefined);
      throw error;
    });
    await tearDown(bench);
  });
}

async function playRound(world: World, killed: boolean): Promise<void> {
  await setUp(bench, world);
  for (let batch = 1; batch <= batches; batch++) {
    await world.look(client);
    const requests = Array.from({ length: requestsPerBatch }, () => requestOf(world, operations));
    const problems: string[] = [];
    const next = async (): Promise<void> => {
      for (let request = requests.shift(); request; request = requests.shift()) {
        const problem = await ask(client, world, request);
        if (problem) problems.push(problem);
      }
    };
    await Promise.all(Array.from({ length: 6 }, next));
    assert.deepEqual(problems, [], `batch ${batch}; log: ${errorsOf(server.log())}`);
    await client.get('/v2/version');
    assert.deepEqual(await consoleProblems(client), []);
    assert.equal(errorsOf(server.log()), '');
    assert.ok((await residentMiB(server)) < residentLimitMiB, `${await residentMiB(server)} MiB`);
  }
  await restartsAsItWas(killed);
}

async function restartsAsItWas(killed: boolean): Promise<void> {
  const before = await stateOf(client);
  if (killed) await server.kill9();
  await server.restart();
  await waitFor(async () => differences(before, await stateOf(client)).length === 0, {
    what: 'the state before',
    limitMs: 60_000,
  }).catch(async () =>
    assert.deepEqual(
      differences(before, await stateOf(client)),
      [],
      `${killed ? 'after kill -9' : 'after SIGTERM'}; log: ${server.log().slice(-4000)}`,
    ),
  );
}

/** Error lines of the server's log. */
function errorsOf(log: string): string {
  const lines = log.split('\n').filter((line) => /"level":(5|6)0/.test(line));
  return lines.join('\n').slice(0, 4000);
}
