/** Several hundred requests of `http.ts` on a server with credentials, and on one without; `PATCHBAY_TEST_SEED` takes others. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeChance } from '../../durability/random.ts';
import { RawClient } from '../../support/raw-http.ts';
import { type RunningServer, startServer } from '../../support/server.ts';
import { programRoutes } from '../program-routes.ts';
import { type AttackOutcome, type AttackTarget, httpAttack, playHttpAttack } from './http.ts';

const allowed = { host: 'lab.example', origin: 'https://page.example' };
const authorization = `Basic ${Buffer.from('teacher:right').toString('base64')}`;
const common = { allowed_hosts: allowed.host, allowed_origins: allowed.origin };
const chance = makeChance();
console.log(`seed ${chance.seed}`);

async function start(Server: Record<string, string | boolean>): Promise<RunningServer> {
  const server = await startServer({ config: { Server: { ...common, ...Server }, Qemu: { acceleration: 'off' } } });
  after(() => server.stop());
  return server;
}

const open = await start({});
const secured = await start({ auth: true, user: 'teacher', password: 'right' });
const client = new RawClient(open.url);
after(() => client.close());
const routes = await programRoutes(client);

for (const [what, server, credentials] of [
  ['without credentials', open, {}],
  ['with credentials', secured, { authorization }],
] as const)
  test(`${what}: 400 requests are answered as they must be, and none is a bug`, async () => {
    const target: AttackTarget = { port: server.port, allowed, ...credentials };
    const seen = new Map<AttackOutcome, number>();
    const problems: string[] = [];
    for (let count = 0; count < 400; count++) {
      const attack = httpAttack(chance, routes, target);
      seen.set(attack.expected, (seen.get(attack.expected) ?? 0) + 1);
      const problem = await playHttpAttack(target, attack);
      if (problem) problems.push(problem);
    }
    assert.deepEqual(problems, []);
    const kinds: AttackOutcome[] = ['admitted', 'socket', 'origin refused', server === secured ? 'unauthorized' : 'host refused'];
    for (const kind of kinds) assert.ok((seen.get(kind) ?? 0) > 3, `${kind}: ${seen.get(kind)}`);
    assert.doesNotMatch(server.log(), /"level":[56]0/);
  });
