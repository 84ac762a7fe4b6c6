/** Hostile archives and project files against a real server: no 500, no left-over, and a file outside is neither read nor changed. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeChance } from '../../durability/random.ts';
import type { Reply } from '../../support/raw-http.ts';
import { withServer } from '../../support/with-server.ts';
import { hostileArchive } from './archives.ts';
import { hostileProjectFile } from './project-files.ts';

/** More with `PATCHBAY_TEST_FUZZ_ROUNDS`. */
const rounds = 100 * (Number(process.env.PATCHBAY_TEST_FUZZ_ROUNDS) || 1);
const song = 'the canary sings';

const { server, client } = await withServer();
const canary = join(server.dataDir, 'canary.txt');
await writeFile(canary, song);
// Reading it would set this to now: access times are updated when they are older than the last change, or a day.
await utimes(canary, new Date(1e12), new Date(1e12));

function unharmed(reply: Reply): void {
  assert.ok(reply.status !== 500, `${reply.asked}: ${reply.text().slice(0, 300)}`);
  assert.ok(!reply.text().includes(song) && !reply.text().includes('root:x:0'), `${reply.asked} shows what is outside`);
}

/** What a client does with a project that it has. */
async function use(path: string): Promise<void> {
  for (const line of [
    'POST %/open',
    'GET %/nodes',
    'GET %/links',
    'GET %/drawings',
    'GET %/snapshots',
    'GET %/history',
    'POST %/duplicate',
  ])
    unharmed(
      await client.send(
        line.replace('%', path),
        line.startsWith('POST') ? { body: line.endsWith('duplicate') ? { name: randomUUID() } : {} } : {},
      ),
    );
  unharmed(await client.send(`GET ${path}/export`));
  unharmed(await client.send(`POST ${path}/close`));
  const reply = await client.send(`DELETE ${path}`);
  assert.ok(reply.status === 204 || reply.status === 409 || reply.status === 404, reply.text());
}

async function isUntouched(): Promise<void> {
  assert.equal((await stat(canary)).atimeMs, 1e12, 'the canary was read');
  await utimes(canary, new Date(1e12), new Date(1e12));
  const outside = (await readdir(server.dataDir)).filter((name) => !known.has(name));
  assert.deepEqual(outside, []);
}
let known: ReadonlySet<string>;

test('hostile archives', async (t) => {
  const chance = makeChance();
  t.diagnostic(`seed ${chance.seed}`);
  known = new Set([...(await readdir(server.dataDir)), 'images', 'symbols']);
  let imported = 0;
  for (let round = 0; round < rounds; round++) {
    const id = randomUUID();
    const reply = await client.send(`POST /v2/projects/${id}/import`, { raw: hostileArchive(chance, canary), limitMs: 60_000 });
    unharmed(reply);
    if (reply.status === 201) {
      imported += 1;
      await use(`/v2/projects/${id}`);
    }
    await isUntouched();
  }
  t.diagnostic(`${imported} of ${rounds} were taken`);
  assert.ok(imported > 0 && imported < rounds);
  for (const { project_id } of await client.get<{ project_id: string }[]>('/v2/projects'))
    await client.send(`DELETE /v2/projects/${project_id}`);
  assert.deepEqual(await readdir(join(server.dataDir, 'projects')), []);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
});

test('hostile project files in the projects folder', async () => {
  const chance = makeChance();
  const folders: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const folder = join(server.dataDir, 'projects', randomUUID());
    folders.push(folder);
    await mkdir(folder);
    await writeFile(join(folder, `${round}.gns3`), hostileProjectFile(chance, canary));
  }
  unharmed(await client.send('POST /v2/reload'));
  await server.restart();
  await isUntouched();
  const listed = await client.get<{ project_id: string; path: string }[]>('/v2/projects');
  assert.ok(listed.length > rounds / 2);
  for (const { project_id } of listed) await use(`/v2/projects/${project_id}`);
  assert.equal(await readFile(canary, 'utf8'), song);
});
