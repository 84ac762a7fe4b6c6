/** Project files and logs that were damaged, or that cannot be written: reported, never overwritten. */
import assert from 'node:assert/strict';
import { appendFile, chmod, mkdir, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';

interface ProjectBody {
  project_id: string;
  path: string;
  filename: string;
  status: string;
}

const bench = await withServer({ stopNodes: true });

/** A project with two nodes and a link, closed; and its files. */
async function closedProject(): Promise<{
  project: ProjectHandle;
  path: string;
  file: string;
  log: string;
  content: () => Promise<unknown>;
}> {
  const project = await createProject(bench.client);
  const { path, filename } = await bench.client.get<ProjectBody>(project.path);
  const [a, b] = [await createNode(bench.client, project), await createNode(bench.client, project)];
  await bench.client.post(`${project.path}/links`, { nodes: [end(a), end(b)] });
  await bench.client.post(`${project.path}/close`, {}, 204);
  const file = join(path, filename);
  const content = async () => (await bench.client.get<NodeBody[]>(`${project.path}/nodes`)).map(({ node_id, x }) => [node_id, x]);
  return { project, path, file, log: `${file}.log`, content };
}

/** Every file of a folder with its bytes. */
async function bytesOf(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, 'latin1')] as const)));
}

const damages: [string, (text: string) => string | Buffer][] = [
  ['cut off in the middle', (text) => text.slice(0, text.length >> 1)],
  ['empty', () => ''],
  ['zeros', (text) => Buffer.alloc(text.length)],
  ['no JSON', () => 'nonsense'],
  ['JSON of another thing', () => '[1, 2, 3]'],
  ['JSON null', () => 'null'],
  ['without topology', (text) => text.replace('"topology"', '"tepelegy"')],
  ['nodes that are no list', (text) => text.replace(/"nodes": \[/, '"nodes": 5, "other": [')],
  ['a node without id', (text) => text.replace('"node_id"', '"nede_id"')],
  [
    'invalid UTF-8',
    (text) => Buffer.concat([Buffer.from(text.slice(0, 100)), Buffer.from([0xff, 0xfe]), Buffer.from(text.slice(100))]),
  ],
  ['of a future revision', (text) => text.replace(/"revision": \d+/, '"revision": 4711')],
];

/** Tests with all damaged files at a time: a restart for each would be most of the test. */
describe('a damaged project file', () => {
  const damaged: { what: string; project: ProjectHandle; path: string; file: string; good: string; before: Map<string, string> }[] =
    [];

  async function isRefused({ project, path, before }: (typeof damaged)[number]): Promise<void> {
    expectFault(await bench.client.send(`POST ${project.path}/open`), 409);
    for (const rest of ['nodes', 'links', 'drawings'])
      assert.ok((await bench.client.send(`GET ${project.path}/${rest}`)).status < 500);
    assert.ok((await bench.client.send(`POST ${project.path}/duplicate`, { body: { name: 'x' } })).status < 500);
    assert.deepEqual(await bytesOf(path), before);
  }

  for (const [what, damage] of damages) {
    test(`${what}: 409 with the reason; the bytes stay`, async () => {
      const { project, path, file } = await closedProject();
      const good = await readFile(file, 'utf8');
      await writeFile(file, damage(good));
      const made = { what, project, path, file, good, before: await bytesOf(path) };
      damaged.push(made);
      await isRefused(made);
    });
  }

  test('the same over a restart', async (t) => {
    assert.equal(damaged.length, damages.length);
    await bench.server.restart();
    for (const one of damaged) {
      await t.test(one.what, async () => {
        // A file without a readable id may be unknown after the restart; it is left alone all the same.
        if ((await bench.client.send(`GET ${one.project.path}`)).status !== 404) await isRefused(one);
        assert.deepEqual(await bytesOf(one.path), one.before);
      });
    }
  });

  test('once it is repaired, it is opened after a restart', async (t) => {
    for (const { file, good } of damaged) await writeFile(file, good);
    await bench.server.restart();
    for (const { what, project } of damaged) {
      await t.test(what, async () => {
        await bench.client.post(`${project.path}/open`);
        await bench.client.delete(project.path);
      });
    }
  });
});

/** Kills the server while the last changes are in the log only. */
async function killedProject() {
  const made = await closedProject();
  const { project } = made;
  await bench.client.post(`${project.path}/open`);
  const [node] = await bench.client.get<NodeBody[]>(`${project.path}/nodes`);
  for (let x = 1; x <= 10; x++) await bench.client.put(`${project.path}/nodes/${node?.node_id}`, { x });
  const shown = await made.content();
  await bench.server.kill9();
  return { ...made, shown };
}

describe('the log', () => {
  test('changes that are only in the log survive a kill', async () => {
    const { project, shown, log, content } = await killedProject();
    assert.ok((await stat(log)).size > 0);
    await bench.server.restart();
    assert.deepEqual(await content(), shown);
    await bench.client.delete(project.path);
  });

  test('a torn last record is cut off; all earlier records survive', async () => {
    const { project, shown, log, content } = await killedProject();
    await appendFile(log, '{"seq": 99999, "action": "node.upda');
    await bench.server.restart();
    assert.deepEqual(await content(), shown);
    await bench.client.delete(project.path);
  });

  test('a record cut in half: all earlier records survive, and no value is invented', async () => {
    const { project, log, content } = await killedProject();
    await truncate(log, (await stat(log)).size - 5);
    await bench.server.restart();
    const nodes = (await content()) as [string, number][];
    assert.equal(nodes.length, 2);
    assert.ok(nodes.some(([, x]) => x === 9));
    await bench.client.delete(project.path);
  });

  test('damage in the middle is reported with 409, and the bytes stay', async () => {
    const { project, path, log } = await killedProject();
    const text = await readFile(log, 'latin1');
    const lines = text.split('\n');
    const middle = lines.length >> 1;
    lines[middle] = (lines[middle] ?? '').replace(/[0-9a-f]/g, '#');
    await writeFile(log, lines.join('\n'), 'latin1');
    const before = await bytesOf(path);
    await bench.server.restart();
    expectFault(await bench.client.send(`POST ${project.path}/open`), 409, /damaged/);
    assert.deepEqual(await bytesOf(path), before);
    await writeFile(log, text, 'latin1');
    await bench.client.post(`${project.path}/open`);
    await bench.client.delete(project.path);
  });
});

describe('a project whose folder is not writable', () => {
  test('the folder is gone: 5xx or 409 with the reason, memory unchanged, works again when it is back', async () => {
    const { project, path, content } = await closedProject();
    await bench.client.post(`${project.path}/open`);
    const before = await content();
    await rename(path, `${path}.away`);
    // A file in its place, so that nothing can be made there: root may write anywhere else.
    await writeFile(path, '');
    const [node] = await bench.client.get<NodeBody[]>(`${project.path}/nodes`);
    expectFault(await bench.client.send(`POST ${project.path}/duplicate`, { body: { name: 'x' } }), [409, 507]);
    const made = await bench.client.send(`POST ${project.path}/nodes`, {
      body: { name: 'x', node_type: 'vpcs', compute_id: 'local' },
    });
    await rm(path);
    await rename(`${path}.away`, path);
    if (made.status >= 300) {
      expectFault(made, [409, 507]);
      assert.deepEqual(await content(), before);
    }
    await bench.client.put(`${project.path}/nodes/${node?.node_id}`, { x: 77 });
    await bench.client.delete(project.path);
  });

  test('not root: a folder without write permission: 5xx with the reason, the old state stays', async (t) => {
    if (process.getuid?.() === 0) return t.skip('root may write to any folder');
    const { project, path, content } = await closedProject();
    const before = await content();
    await chmod(path, 0o500);
    const reply = await bench.client.send(`POST ${project.path}/open`);
    if (reply.status >= 300) expectFault(reply, [409, 507]);
    await chmod(path, 0o700);
    assert.deepEqual(await content(), before);
    return undefined;
  });

  test('a place for a new project that cannot be one: refused, nothing is listed', async () => {
    const before = await bench.client.get('/v2/projects');
    const file = join(bench.server.dataDir, 'a-file');
    await writeFile(file, '');
    for (const path of [file, `${file}/below`, '/proc/none']) {
      const reply = await bench.client.send('POST /v2/projects', { body: { name: 'nowhere', path } });
      expectFault(reply, [403, 409, 507]);
    }
    assert.deepEqual(await bench.client.get('/v2/projects'), before);
    await mkdir(join(bench.server.dataDir, 'fine'));
    expectStatus(await bench.client.send('POST /v2/projects', { body: { name: 'nowhere' } }), 201);
  });
});
