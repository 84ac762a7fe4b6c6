/** A program like that of a user of the package, against the server at PATCHBAY_URL. Compiled with its types, then run, by `client.test.ts`. */
import assert from 'node:assert/strict';
import { Patchbay, PatchbayError, TimeoutError, waitUntil } from 'patchbay-client';

const { PATCHBAY_URL: url = '', PATCHBAY_USER: user = '', PATCHBAY_PASSWORD: password = '' } = process.env;

await assert.rejects(
  Patchbay.connect({ url, user, password: 'wrong' }),
  (error) => error instanceof PatchbayError && error.status === 401,
);
await assert.rejects(
  Patchbay.connect({ url: 'http://127.0.0.1:1' }),
  (error) => error instanceof PatchbayError && error.status === 0,
);
const server = await Patchbay.connect({ url, user, password, client: 'walk' });

const lab = {
  lab: 'name: client\ndefaults: {kind: vpcs}\nnodes: {PC1: {config: {file: pc1}}, PC2: {config: "ip 10.0.0.2/24"}}\nlinks: [[PC1, PC2]]\n',
  files: { pc1: 'ip 10.0.0.1/24\n' },
};
const plan = await server.plan(lab);
assert.deepEqual(
  plan.steps.map(({ action }) => action),
  ['create', 'create', 'create', 'create'],
);
await assert.rejects(server.apply({ lab: 'nodes: 7' }), /nodes/);
const steps: string[] = [];
const project = await server.apply(lab, ({ step }) => steps.push(step));
assert.deepEqual(steps, ['create nodes', 'create links']);
assert.deepEqual((await server.plan(lab)).steps, []);
await assert.rejects(project.node('PC3'), /client has no node "PC3"/);

await project.start();
const pc1 = await project.node('PC1');
await pc1.waitUntil('started');
const console = await pc1.console();
await waitUntil(
  async () => {
    console.sendLine('');
    return console.expect(/VPCS> $/, { timeout: 2000 });
  },
  { what: 'a prompt' },
);
const link = await project.link('PC2', 'PC1');
/** Pings, and returns the console's answer. VPCS may lose a line that is typed: then it rejects. */
const ping = async (): Promise<string> => {
  console.sendLine('ping 10.0.0.2 -c 1');
  const { match } = await console.expect(/(icmp_seq=1 ttl|timeout|not reachable)[^\n]*\n/, { timeout: 15_000 });
  await console.expect('VPCS> ');
  return match[1] ?? '';
};
const pcap = await link.capture(() => waitUntil(async () => (await ping()) === 'icmp_seq=1 ttl', { what: 'an answer to a ping' }));
assert.ok(pcap.length > 24 + 2 * 16, `${pcap.length} bytes`);
assert.deepEqual((await link.impair({ packet_loss: 100, delay: [20, 5] })).filters, { delay: [20, 5], packet_loss: [100] });
assert.notEqual(await waitUntil(ping, { what: 'the end of a ping' }), 'icmp_seq=1 ttl');
assert.equal((await link.stats()).directions.length, 2);
await project.undo();
const { filters } = await server.api.call('GET /v2/projects/{project_id}/links/{link_id}', { path: link.path });
assert.deepEqual(filters, {});
await assert.rejects(link.impair({ no_such_filter: 1 }), (error) => error instanceof PatchbayError && error.status === 400);
await assert.rejects(console.expect('never', { timeout: 50 }), (error) => error instanceof TimeoutError);
await assert.rejects(
  waitUntil(() => false, { timeout: 20, interval: 5, what: 'nothing' }),
  /nothing did not hold within 20 ms/,
);
console.close();
await project.destroy();
assert.deepEqual(await server.projects(), []);
process.stdout.write('walked\n');
