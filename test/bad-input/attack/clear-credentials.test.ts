/** User and password of a compute do not cross a network that is not private in the clear. */
import assert from 'node:assert/strict';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Neighbour, noNamespaces } from '../../support/network-namespace.ts';
import { expectFault, expectStatus, RawClient } from '../../support/raw-http.ts';
import { startServer } from '../../support/server.ts';

/** RFC 5737: reserved for documentation. */
const open = '203.0.113.7';
const account = { user: 'teacher', password: 'right' };

interface ComputeBody {
  compute_id: string;
  host: string;
  user: string | null;
}

describe('a compute at an address that is not private', () => {
  let dataDir: string;
  before(async () => {
    dataDir = await realpath(await mkdtemp(join(tmpdir(), 'pb-clear-')));
  });
  after(() => rm(dataDir, { recursive: true, force: true }));

  const withServerOf = async (clear_credentials: boolean, use: (client: RawClient) => Promise<void>) => {
    const server = await startServer({ dataDir, config: { Server: { clear_credentials }, Qemu: { acceleration: 'off' } } });
    const client = new RawClient(server.url);
    try {
      await use(client);
    } finally {
      client.close();
      await server.stop();
    }
  };
  const computes = async (client: RawClient) =>
    (await client.get<ComputeBody[]>('/v2/computes')).filter(({ compute_id }) => compute_id !== 'local');

  test('is neither registered nor changed to with credentials over plain HTTP', () =>
    withServerOf(false, async (client) => {
      const far = { protocol: 'http', host: open, port: 1, ...account };
      expectFault(await client.send('POST /v2/computes', { body: far }), 409, /203\.0\.113\.7.*use https.*clear_credentials/);
      assert.deepEqual(await computes(client), []);
      const near = { compute_id: 'near', protocol: 'http', host: '127.0.0.1', port: 1, ...account };
      expectStatus(await client.send('POST /v2/computes', { body: near }), 201);
      expectFault(await client.send('PUT /v2/computes/near', { body: { host: open } }), 409, /in the clear/);
      assert.deepEqual(
        (await computes(client)).map(({ host }) => host),
        ['127.0.0.1'],
      );
      expectStatus(await client.send('PUT /v2/computes/near', { body: { host: open, protocol: 'https' } }), 200);
    }));

  test('is kept when it is known already', async () => {
    await withServerOf(true, async (client) => {
      expectStatus(await client.send('PUT /v2/computes/near', { body: { host: open, protocol: 'http' } }), 200);
    });
    await withServerOf(false, async (client) => {
      assert.deepEqual(
        (await computes(client)).map(({ host, user }) => [host, user]),
        [[open, account.user]],
      );
    });
  });
});

test('nothing is sent on a connection that turns out to lead there', { skip: noNamespaces() ?? false }, async () => {
  const neighbour = await Neighbour.make(`${open}/24`);
  try {
    const source = resolve(import.meta.dirname, '../../../src/controller/computes/remote-connections.ts');
    // Runs in a network namespace: a server at the address, and the controller's connections to it, with and without the
    // permission.
    const script = `
      import { createServer } from 'node:http';
      import { RemoteConnections } from '${source}';
      const received = [];
      const server = createServer((request, answer) => { received.push(request.headers.authorization ?? null); answer.end('{}'); });
      await new Promise((done) => server.listen(0, '${open}', done));
      const results = [];
      for (const clearCredentials of [false, true]) {
        const address = { name: 'far', protocol: 'http', host: '${open}', port: server.address().port, ...${JSON.stringify(account)}, clearCredentials };
        const connections = new RemoteConnections(address, '2.2.60');
        results.push(await connections.request('GET', '/', { body: null }).then(({ statusCode }) => statusCode, ({ code }) => code));
        await connections.close();
      }
      console.log(JSON.stringify({ results, received }));
      process.exit(0);
    `;
    const output = await neighbour.run(process.execPath, '--input-type=module', '-e', script);
    const expected = `Basic ${Buffer.from('teacher:right').toString('base64')}`;
    assert.deepEqual(JSON.parse(output), { results: ['credentials_in_clear', 200], received: [expected] });
  } finally {
    await neighbour.remove();
  }
});
