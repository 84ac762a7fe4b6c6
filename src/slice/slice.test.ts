import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { defaultSettings, type Settings } from '../schema/settings.ts';
import { Slice } from './slice.ts';
import { SliceFile } from './slice-file.ts';

const log = { debug() {}, error() {}, info() {}, warn() {} };

test('a slice that is placed again after its lease was lost has another secret than the one before it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-slice-'));
  const id = crypto.randomUUID();
  let epoch = 3;
  const server = createServer((request, response) => {
    request.resume();
    response.end(JSON.stringify({ compute_id: id, epoch, seconds: 5, fenced: true }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    delete process.env.PATCHBAY_JOIN;
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings: Settings = { ...defaultSettings(), dataDirectory: folder, runtimeDirectory: join(folder, 'run') };
  const file = await SliceFile.open(join(folder, 'state'), log);
  await file.set({ computeId: id, epoch });
  const { secret } = file.identity;
  const open = async (token: string) => {
    process.env.PATCHBAY_JOIN = token;
    const slice = await Slice.open(url, settings, log);
    assert.equal(process.env.PATCHBAY_JOIN, undefined);
    return slice.withCredentials(settings).Server.password;
  };
  assert.equal(await open(`pbj_x_${id}`), secret, 'the lease is its own');
  epoch = 4;
  assert.equal(await open('pbj_x'), secret, 'a token for another compute');
  const renewed = await open(`pbj_x_${id}`);
  assert.match(renewed, /^[0-9a-f]{64}$/);
  assert.notEqual(renewed, secret);
  const stored = JSON.parse(await readFile(join(folder, 'state/slice.json'), 'utf8')) as { secret: string; computeId: null };
  assert.deepEqual([stored.secret, stored.computeId], [renewed, null]);
});
