/** The images that the page has made for its samples: `POST /v2/lab_images`. `test/browser/guided-samples.test.ts` makes a real one. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { waitFor } from '../support/wait-for.ts';
import { withServer } from '../support/with-server.ts';

const folder = await mkdtemp(join(tmpdir(), 'patchbay-lab-images-'));
const socket_path = join(folder, 'docker.sock');
const callers: Socket[] = [];
/** Answers no request, so that the script waits for it. */
const engine = createServer((caller) => callers.push(caller));
await new Promise<void>((resolve) => engine.listen(socket_path, resolve));
after(async () => {
  for (const caller of callers) caller.destroy();
  engine.close();
  await rm(folder, { recursive: true });
});
const { server, client } = await withServer({ config: { Docker: { socket_path } }, env: { XDG_CACHE_HOME: folder } });
const isBuilding = async () =>
  (await readdir(join(folder, 'patchbay')).catch(() => [])).some((name) => name.startsWith('.building-'));
const make = (images: unknown) => client.send('POST /v2/lab_images', { body: { images } });

describe('images of the example labs', () => {
  it('are named by letters alone, and by their names alone', async () => {
    for (const images of [[], ['--json'], ['patchbay-frr:latest'], ['patchbay-'], ['debian'], 'patchbay-frr', [7]])
      assert.equal((await make(images)).status, 400, JSON.stringify(images));
    const reply = await make(['patchbay-nothing']);
    assert.equal(reply.status, 200);
    const { failure } = JSON.parse(reply.text().trim()) as { failure: string };
    assert.match(failure, /^there is no recipe for the image patchbay-nothing; those that there are: patchbay-frr, /);
  });

  it('are made for one client at a time, until it disconnects, and leave nothing half made', async () => {
    const gone = new AbortController();
    const first = await fetch(`${server.url}/v2/lab_images`, {
      method: 'POST',
      body: JSON.stringify({ images: ['patchbay-dns'] }),
      signal: gone.signal,
    });
    const piece = await first.body?.getReader().read();
    const [line = ''] = Buffer.from(piece?.value ?? [])
      .toString()
      .split('\n');
    assert.deepEqual(JSON.parse(line), { step: 'Image patchbay-dns: 1 of 1' });
    const refused = await make(['patchbay-dns']);
    assert.equal(refused.status, 409);
    assert.match(refused.text(), /Images of containers are being made already/);
    await waitFor(isBuilding, { what: 'the folder in which it is made', everyMs: 5 });
    gone.abort();
    await waitFor(async () => (await make(['patchbay-nothing'])).status === 200, { what: 'the end of the first', limitMs: 30_000 });
    await waitFor(async () => !(await isBuilding()), { what: 'a cache without it' });
  });
});

describe('a server for others than this machine', () => {
  it('makes none', async () => {
    const { client } = await withServer({ config: { Server: { local: false } } });
    const reply = await client.send('POST /v2/lab_images', { body: { images: ['patchbay-frr'] } });
    assert.equal(reply.status, 403);
    assert.match(reply.text(), /start it with --local/);
  });
});
