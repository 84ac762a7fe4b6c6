/** The version in responses, reloading, and the host information of a compute. */
import assert from 'node:assert/strict';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { expectFault, expectStatus, RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';

const { client, server } = await withServer({ args: ['--local'] });
const desktop = (version: string) => ({ headers: { 'user-agent': `GNS3 QT Client v${version} (Linux)` } });

describe('the version', () => {
  test('is the client’s own for a 2.2 client that sends it, and 2.2.60 for all others', async () => {
    const versionFor = async (ask = {}) => expectStatus(await client.send('GET /v2/version', ask), 200).json().version;
    assert.equal(await versionFor(), '2.2.60');
    assert.equal(await versionFor(desktop('2.2.61')), '2.2.61');
    assert.equal(await versionFor(desktop('2.2.8')), '2.2.8');
    assert.equal(await versionFor(desktop('2.2.61.dev1')), '2.2.61');
    assert.equal(await versionFor(desktop('2.2.61dev1')), '2.2.61');
    assert.equal(await versionFor(desktop('2.2.0rc2')), '2.2.0');
    assert.equal(await versionFor(desktop('2.2.61+abc')), '2.2.61');
    assert.equal(await versionFor(desktop('3.0.1')), '2.2.60');
    assert.equal(await versionFor(desktop('2.2.12345')), '2.2.60');
    assert.equal(await versionFor({ headers: { 'user-agent': 'curl/2.2.9' } }), '2.2.60');
    assert.equal(expectStatus(await client.send('GET /v1/version'), 200).json().version, '2.2.60');
  });

  test('is compared with the version that the client received', async () => {
    const body = { version: '2.2.61' };
    assert.deepEqual(expectStatus(await client.send('POST /v2/version', { body, ...desktop('2.2.61') }), 200).json(), body);
    expectFault(await client.send('POST /v2/version', { body }), 409);
  });

  test('is always our own when the configuration says so', async () => {
    const strict = await startServer({ config: { Server: { answer_client_version: false }, Qemu: { acceleration: 'off' } } });
    const asking = new RawClient(strict.url);
    try {
      const reply = expectStatus(await asking.send('GET /v2/version', desktop('2.2.61')), 200);
      assert.equal(reply.json().version, '2.2.60');
    } finally {
      asking.close();
      await strict.stop();
    }
  });
});

describe('reloading', () => {
  const ways: Record<string, () => Promise<unknown>> = {
    'POST /v2/reload': async () => {
      assert.equal(expectStatus(await client.send('POST /v2/reload'), 200).bytes.length, 0);
    },
    SIGHUP: async () => process.kill(server.pid, 'SIGHUP'),
  };
  for (const [how, reload] of Object.entries(ways)) {
    test(`${how} finds new projects and forgets those whose folder was removed; a project under construction is left alone`, async () => {
      const stays = await createProject(client);
      const goes = await createProject(client);
      await client.send(`POST ${goes.path}/close`);
      const { path, filename } = await client.get<{ path: string; filename: string }>(stays.path);
      const id = crypto.randomUUID();
      const copy = join(server.dataDir, 'projects', id);
      await cp(path, copy, { recursive: true });
      const file = join(copy, filename);
      const text = await readFile(file, 'utf8');
      await writeFile(file, text.replaceAll(stays.id, id).replace(/"name": "[^"]*"/, `"name": "came by ${how.slice(0, 4)}"`));
      await rm(join(server.dataDir, 'projects', goes.id), { recursive: true });
      const making = Array.from({ length: 8 }, () => createProject(client));
      await reload();
      const made = await Promise.all(making);
      await waitFor(async () => (await client.send(`GET ${goes.path}`)).status === 404, { what: 'the end of the lost project' });
      const came = await waitFor(
        async () => {
          const reply = await client.send(`GET /v2/projects/${id}`);
          return reply.status === 200 && reply;
        },
        { what: 'the project that came' },
      );
      assert.equal(came.json().name, `came by ${how.slice(0, 4)}`);
      for (const project of [stays, ...made]) await createNode(client, project);
    });
  }
});

test('GET /v2/compute/debug tells of the host and of ports that are taken', async () => {
  const node = await createNode(client, await createProject(client));
  const reply = expectStatus(await client.send('GET /v2/compute/debug'), 200);
  assert.equal(reply.headers['content-type'], 'text/plain; charset=utf-8');
  assert.match(reply.text(), new RegExp(`^  ${node.console}: (not )?bound$`, 'm'));
});
