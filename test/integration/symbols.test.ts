/** Symbols over HTTP: built-in ones, uploaded ones, and the sizes that nodes get from them. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';

interface SymbolBody {
  symbol_id: string;
  filename: string;
  theme: string;
  builtin: boolean;
}

const { server, client } = await withServer();
const folder = join(server.dataDir, 'symbols');
const list = () => client.get<SymbolBody[]>('/v2/symbols');
const raw = (id: string) => client.send(`GET /v2/symbols/${id}/raw`);
const upload = (id: string, content: string | Uint8Array) => client.send(`POST /v2/symbols/${id}/raw`, { raw: content });
const svg = (width: number, height: number) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="9" height="9"/></svg>`;

describe('built-in symbols', () => {
  test('are pictures of the stated size, and are listed by theme', async () => {
    const symbols = await list();
    const themes = symbols.map(({ theme }) => theme);
    assert.deepEqual(themes, themes.toSorted());
    assert.ok(symbols.length > 100);
    const check = async ({ symbol_id, filename, builtin }: SymbolBody) => {
      assert.ok(builtin && symbol_id.endsWith(`/${filename}`));
      const reply = expectStatus(await raw(symbol_id), 200);
      assert.equal(reply.headers['content-type'], 'image/svg+xml');
      assert.equal(reply.headers['x-route'], '/v2/symbols/{symbol_id:.+}/raw');
      const { width, height } = await client.get<{ width: number; height: number }>(`/v2/symbols/${symbol_id}/dimensions`);
      assert.ok(reply.text().startsWith(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"`), symbol_id);
    };
    await Promise.all(symbols.map(check));
    assert.deepEqual(await client.get('/v2/symbols/:/symbols/classic/router.svg/dimensions'), { width: 66, height: 45 });
  });

  test('of the Affinity themes are drawn by what their names mean, in the colour of the theme', async () => {
    const symbols = (await list()).filter(({ theme }) => theme === 'Affinity-circle-red');
    assert.ok(symbols.length >= 70, `${symbols.length} symbols`);
    const others = new Map<string, string[]>();
    for (const { symbol_id, filename } of symbols) {
      const picture = expectStatus(await raw(symbol_id), 200).text();
      assert.match(picture, /<circle cx="50" cy="50" r="50" stroke="none" fill="#b23a3a"\/>/);
      assert.doesNotMatch(picture, /NaN|undefined/);
      const blue = (await raw(symbol_id.replace('circle/red', 'square/blue'))).text();
      assert.match(blue, /fill="#2f6fb2"/, filename);
      others.set(picture, [...(others.get(picture) ?? []), filename.replace('.svg', '')]);
    }
    // Variants of one thing share its picture, and no others do: none is the fallback.
    const variants = [...others.values()].filter(({ length }) => length > 1).map((names) => names.toSorted().join(' '));
    assert.deepEqual(variants.toSorted(), [
      'camera camera_dome',
      'client_vm vm',
      'communications wifi wlc',
      'dna dna2',
      'firewall firewall3',
      'grid grid2',
      'inspect inspect2 inspect3',
      'ip_phone phone_wireless',
      'nas storage',
      'phone_cloud phone_old',
      'router router2',
    ]);
  });

  test('serve the themes', async () => {
    const themes = await client.get<Record<string, Record<string, string>>>('/v2/default_symbols');
    assert.equal(Object.keys(themes).length, 7);
    const known = new Set((await list()).map(({ symbol_id }) => symbol_id));
    for (const table of Object.values(themes)) {
      assert.equal(Object.keys(table).length, 15);
      for (const id of Object.values(table)) assert.ok(known.has(id), id);
    }
    assert.equal(themes['Affinity-circle-red']?.frame_relay_switch, ':/symbols/affinity/circle/red/isdn.svg');
  });

  test('are found however their id is written; an unknown one is the computer', async () => {
    const router = (await raw(':/symbols/classic/router.svg')).text();
    const computer = (await raw(':/symbols/classic/computer.svg')).text();
    assert.notEqual(router, computer);
    for (const id of [
      ':/symbols/router.svg',
      '%3A%2Fsymbols%2Frouter.svg',
      '%3a/symbols%2Fclassic/router.svg',
      '/symbols/router.svg',
      'router.svg',
    ])
      assert.equal(expectStatus(await raw(id), 200).text(), router, id);
    for (const id of [
      'nothing.svg',
      ':/nothing',
      '/a//b',
      '..',
      '%2e%2e/%2e%2e/test-config.ini',
      '../test-config.ini',
      'a%00b',
      '.',
    ])
      assert.equal(expectStatus(await raw(id), 200).text(), computer, id);
    assert.deepEqual(await client.get('/v2/symbols/nothing.svg/dimensions'), { width: 65, height: 59 });
    assert.equal((await client.send('DELETE /v2/symbols/:/symbols/router.svg/raw')).status, 405);
  });
});

describe('symbols of users', () => {
  test('have 16 MiB at most; one that is larger changes nothing', async () => {
    expectStatus(await upload('large.svg', svg(3, 2)), 204);
    expectFault(await upload('large.svg', Buffer.alloc(16 * 2 ** 20 + 1, ' ')), 413);
    assert.equal(await readFile(join(folder, 'large.svg'), 'utf8'), svg(3, 2));
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.startsWith('.')),
      [],
    );
    await rm(join(folder, 'large.svg'));
  });

  test('are uploaded under the last part of their id, listed, and read unchanged', async () => {
    expectStatus(await upload(':/symbols/mine.svg', svg(30, 20)), 204);
    assert.equal(await readFile(join(folder, 'mine.svg'), 'utf8'), svg(30, 20));
    const mine = (await list()).find(({ symbol_id }) => symbol_id === 'mine.svg');
    assert.deepEqual(mine, { symbol_id: 'mine.svg', filename: 'mine.svg', theme: 'Custom symbols', builtin: false });
    const reply = expectStatus(await raw('mine.svg'), 200);
    assert.equal(reply.text(), svg(30, 20));
    assert.match(String(reply.headers['content-security-policy']), /sandbox/);
    assert.deepEqual(await client.get('/v2/symbols/mine.svg/dimensions'), { width: 30, height: 20 });
    expectStatus(await upload('mine.svg', svg(31, 21)), 204);
    assert.deepEqual(await client.get('/v2/symbols/mine.svg/dimensions'), { width: 31, height: 21 });
  });

  test('in folders have these in their id; hidden ones are not shown', async () => {
    await mkdir(join(folder, 'set/one'), { recursive: true });
    await writeFile(join(folder, 'set/one/a.svg'), svg(11, 12));
    await writeFile(join(folder, 'set/.b.svg'), svg(1, 1));
    const custom = (await list()).filter(({ builtin }) => !builtin).map(({ symbol_id }) => symbol_id);
    assert.ok(custom.includes('set/one/a.svg') && !custom.some((id) => id.includes('.b.svg')));
    assert.equal((await raw('set/one/a.svg')).text(), svg(11, 12));
    assert.deepEqual(await client.get('/v2/symbols/set/one/a.svg/dimensions'), { width: 11, height: 12 });
  });

  test('that are damaged are refused; a file that is not a picture has no size', async () => {
    expectStatus(await upload('broken.svg', '<svg width="x">'), 204);
    expectFault(await client.send('GET /v2/symbols/broken.svg/dimensions'), 404, /broken\.svg/);
    expectStatus(await upload('page.html', '<html></html>'), 204);
    assert.deepEqual(await client.get('/v2/symbols/page.html/dimensions'), { width: 0, height: 0 });
    assert.equal((await raw('page.html')).headers['content-type'], 'application/octet-stream');
  });

  test('never leave their folder', async () => {
    await mkdir(folder, { recursive: true });
    await symlink(server.dataDir, join(folder, 'out'));
    await symlink(join(server.dataDir, 'test-config.ini'), join(folder, 'link.svg'));
    for (const id of ['out/test-config.ini', 'link.svg']) assert.ok(!(await raw(id)).text().includes('[Server]'), id);
    const before = (await readdir(server.dataDir)).toSorted();
    for (const id of ['..', '%2e%2e', '.hidden', 'a%00b', 'x'.repeat(300), 'link.svg']) expectFault(await upload(id, 'x'), 403);
    expectStatus(await upload('%2e%2e%2f%2e%2e%2fbase.svg', svg(1, 2)), 204);
    assert.ok((await readdir(folder)).includes('base.svg'));
    assert.deepEqual((await readdir(server.dataDir)).toSorted(), before);
  });

  test('give nodes their size, and the default where they have none', async () => {
    expectStatus(await upload('wide.svg', svg(200, 40)), 204);
    expectStatus(await upload('bad.svg', '<svg width="x">'), 204);
    const project = await createProject(client);
    const node = await createNode(client, project, 'vpcs', { symbol: 'wide.svg' });
    const label = node.label as { y: number };
    assert.deepEqual([node.symbol, node.width, node.height, label.y], ['wide.svg', 200, 40, -30]);
    const path = `${project.path}/nodes/${node.node_id}`;
    const changed = await client.put(path, { symbol: ':/symbols/affinity/square/blue/router.svg' });
    assert.deepEqual([changed.width, changed.height], [60, 60]);
    const bad = await client.put(path, { symbol: 'bad.svg' });
    assert.deepEqual([bad.symbol, bad.width, bad.height], ['bad.svg', 65, 59]);
    expectStatus(await upload('wide.svg', svg(5, 6)), 204);
    const moved = await client.put(path, { symbol: 'wide.svg', x: 3 });
    assert.deepEqual([moved.width, moved.height, moved.x], [5, 6, 3]);
  });
});
