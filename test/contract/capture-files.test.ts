/** Capture files of a project: listed, read and deleted, also after the project was closed, and those of a remote compute. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { CaptureFile } from '../../src/schema/capture.ts';
import { expectFault } from '../support/raw-http.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';

const { client } = await withServer();
const away = await withServer();
const computeId = randomUUID();
const address = { protocol: 'http', host: '127.0.0.1', port: away.server.port };
await client.post('/v2/computes', { compute_id: computeId, name: 'away', ...address });
const project = await createProject(client, { auto_close: false });
const files = () => client.get<CaptureFile[]>(`${project.path}/captures`);
const path = (name: string) => `${project.path}/captures/${encodeURIComponent(name)}`;

/** A link between two hubs, which always run. */
async function linkAt(compute_id: string): Promise<string> {
  const [one, other] = await Promise.all([1, 2].map(() => createNode(client, project, 'ethernet_hub', { compute_id })));
  assert.ok(one && other);
  const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(one), end(other)] });
  return `${project.path}/links/${link_id}`;
}

describe('capture files', () => {
  it('are listed and read while they are written and after the project was closed, and deleted after their capture', async () => {
    assert.deepEqual(await files(), []);
    const link = await linkAt('local');
    await client.post(`${link}/start_capture`, { capture_file_name: 'a.pcap' });
    const [file] = await files();
    assert.deepEqual(file, { ...file, name: 'a.pcap', size: 24, link_id: link.split('/').at(-1), capturing: true });
    expectFault(await client.send(`DELETE ${path('a.pcap')}`), 409, /writes to "a.pcap"/);
    await client.post(`${link}/stop_capture`);
    // Two links name the same file: whichever is listed first, the running capture is shown.
    const other = await linkAt('local');
    for (const [captured, shown] of [
      [other, link],
      [link, other],
    ]) {
      await client.post(`${captured}/start_capture`, { capture_file_name: 'a.pcap' });
      assert.deepEqual(
        (await files()).map(({ link_id, capturing }) => [link_id, capturing]),
        [[captured?.split('/').at(-1), true]],
        shown,
      );
      expectFault(await client.send(`DELETE ${path('a.pcap')}`), 409, /writes to "a.pcap"/);
      await client.post(`${captured}/stop_capture`);
    }
    await client.post(`${project.path}/close`, {}, 204);
    await client.post(`${project.path}/open`);
    const [closed] = await files();
    assert.deepEqual([closed?.name, closed?.capturing], ['a.pcap', false]);
    assert.equal((await client.send(`GET ${path('a.pcap')}`)).bytes.length, 24);
    await client.delete(path('a.pcap'));
    assert.deepEqual(
      (await files()).filter(({ size }) => size !== null),
      [],
    );
    expectFault(await client.send(`DELETE ${path('a.pcap')}`), 404, /a\.pcap/);
  });

  it('of a remote compute are read through the controller', async () => {
    const link = await linkAt(computeId);
    await client.post(`${link}/start_capture`, { capture_file_name: 'far.pcap' });
    await client.post(`${link}/stop_capture`);
    const listed = (await files()).find(({ name }) => name === 'far.pcap');
    assert.deepEqual([listed?.size, listed?.capturing], [null, false]);
    assert.equal((await client.send(`GET ${path('far.pcap')}`)).bytes.length, 24);
  });

  it('say when their first frame was, whatever else lies in the folder', async () => {
    const folder = join((await client.get<{ path: string }>(project.path)).path, 'project-files', 'captures');
    await mkdir(folder, { recursive: true });
    const head = (magic: string, seconds: number, isBig: boolean) => {
      const bytes = Buffer.alloc(40);
      bytes.write(magic, 'hex');
      if (isBig) bytes.writeUInt32BE(seconds, 24);
      else bytes.writeUInt32LE(seconds, 24);
      return bytes;
    };
    await writeFile(join(folder, 'little.pcap'), head('d4c3b2a1', 1_700_000_000, false));
    await writeFile(join(folder, 'big.pcap'), head('a1b23c4d', 2 ** 32 - 1, true));
    await writeFile(join(folder, 'empty.pcap'), head('d4c3b2a1', 0, false).subarray(0, 24));
    await writeFile(join(folder, 'other.pcap'), Buffer.alloc(4_000, 7));
    await symlink('/etc/passwd', join(folder, 'elsewhere.pcap'));
    const started = new Map((await files()).map((file) => [file.name, file.started]));
    assert.equal(started.get('little.pcap'), '2023-11-14T22:13:20.000Z');
    assert.equal(started.get('big.pcap'), '2106-02-07T06:28:15.000Z');
    assert.deepEqual([started.get('empty.pcap'), started.get('other.pcap')], [null, null]);
    assert.equal(started.has('elsewhere.pcap'), false);
  });

  it('are files of the captures folder only', async () => {
    for (const name of ['../a.pcap', '..\\a.pcap', 'x/a.pcap', 'a.gns3', '..'])
      expectFault(await client.send(`GET ${path(name)}`), 400, /not a valid name/);
    expectFault(await client.send(`GET ${path('none.pcap')}`), 404, /none\.pcap/);
  });
});
