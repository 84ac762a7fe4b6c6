/** Export and import: what goes out comes in again byte for byte, from scripts and from forms. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { fromBufferPromise } from 'yauzl';
import type { Project } from '../../src/schema/project.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { expectFault, expectStatus, type Reply } from '../support/raw-http.ts';
import { openTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import {
  createNode,
  createProject,
  end,
  freshName,
  type NodeBody,
  type ProjectHandle,
  tinyVm,
  withServer,
} from '../support/with-server.ts';
import { type HandEntry, zipByHand } from '../support/zip-by-hand.ts';

const run = promisify(execFile);
const { server, client } = await withServer();
const projects = join(server.dataDir, 'projects');

const exported = async (project: ProjectHandle, query = ''): Promise<Reply> =>
  expectStatus(await client.send(`GET ${project.path}/export${query}`, { limitMs: 60_000 }), 200);
const send = (archive: Uint8Array, query = '', id: string = randomUUID()): Promise<Reply> =>
  client.send(`POST /v2/projects/${id}/import${query}`, { raw: archive, limitMs: 60_000 });
const imported = async (archive: Uint8Array, query = ''): Promise<Project & { path: string }> =>
  expectStatus(await send(archive, query), 201).json();
const nodesOf = async ({ project_id }: { project_id: string }) => client.get<NodeBody[]>(`/v2/projects/${project_id}/nodes`);
const folderOf = async (project: ProjectHandle) => (await client.get<{ path: string }>(project.path)).path;

async function namesIn(archive: Uint8Array): Promise<string[]> {
  const zip = await fromBufferPromise(Buffer.from(archive));
  const names: string[] = [];
  for await (const entry of zip.eachEntry()) names.push(entry.fileName);
  return names;
}

/** An import into `path` that has begun; its archive comes with `finish`. */
function slowImport(path: string): {
  finish: (archive: Uint8Array) => Promise<{ status: number | undefined; project_id: string }>;
} {
  const project_id = randomUUID();
  const sent = request(`${server.url}/v2/projects/${project_id}/import?path=${encodeURIComponent(path)}`, { method: 'POST' });
  const answered = once(sent, 'response');
  sent.flushHeaders();
  return {
    finish: async (archive) => {
      sent.end(archive);
      const [reply] = (await answered) as [IncomingMessage];
      await buffer(reply);
      return { status: reply.statusCode, project_id };
    },
  };
}

/** Relative paths of all files, with their bytes. */
async function filesIn(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Object.fromEntries(
    await Promise.all(
      files.map(async ({ parentPath, name }) => {
        const path = join(parentPath, name);
        return [path.slice(folder.length + 1), await readFile(path, 'base64')];
      }),
    ),
  );
}

test('an exported project is imported byte for byte, under new ids', async () => {
  const project = await createProject(client, { zoom: 80, variables: [{ name: 'a', value: 'b' }] });
  const one = await createNode(client, project, 'vpcs', { name: 'one', x: 7 });
  const vm = await createNode(client, project, 'qemu', { name: 'vm', properties: { ...tinyVm, mac_address: '00:11:22:33:44:55' } });
  await client.post(`${project.path}/links`, { nodes: [end(one), end(vm)], filters: { latency: [10] } });
  await client.post(`${project.path}/drawings`, { svg: `<svg>${'<g/>'.repeat(400)}</svg>` });
  const folder = await folderOf(project);
  const own = join(folder, 'project-files/vpcs', one.node_id);
  await mkdir(join(own, 'deep'), { recursive: true });
  await writeFile(join(own, 'deep', 'random'), Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7919) % 251)));
  await writeFile(join(own, 'empty'), '');
  await writeFile(join(own, 'ünï çödé'), 'text');
  await symlink('deep/random', join(own, 'link'));
  await symlink('/etc/hosts', join(own, 'way-out'));
  await writeFile(join(folder, 'README.txt'), 'notes');
  await mkdir(join(folder, 'project-files/captures'), { recursive: true });
  await writeFile(join(folder, 'project-files/captures/x.pcap'), 'frames');
  const listener = await openWebSocket(`${server.url.replace('http', 'ws')}/v2/notifications/ws`);
  const { bytes, headers } = await exported(project);
  // No project is imported from it.
  const warning = String(await listener.next((text) => String(text).includes('log.warning')));
  assert.match(warning, /point outside the project \(1\), such as project-files\/vpcs\/[^/]+\/way-out/);
  listener.close();
  assert.deepEqual(
    [headers['content-type'], headers['content-disposition']],
    ['application/gns3project', `attachment; filename="${(await client.get(project.path)).name}.gns3project"`],
  );
  const names = await namesIn(bytes);
  assert.ok(names.includes('project.gns3') && names.includes('README.txt'), names.join());
  assert.deepEqual(
    names.filter((name) => /captures|\.gns3\.|tmp|^\./.test(name)),
    [],
  );
  const copy = await imported(bytes, `?name=${freshName('copy')}`);
  assert.deepEqual([copy.status, copy.zoom, copy.auto_close, copy.auto_start], ['closed', 80, true, false]);
  assert.equal(copy.path, join(projects, copy.project_id));
  await client.post(`/v2/projects/${copy.project_id}/open`);
  const nodes = await nodesOf(copy);
  const [first] = nodes;
  assert.deepEqual(
    nodes.map(({ name, x }) => [name, x]),
    [
      ['one', 7],
      ['vm', 0],
    ],
  );
  assert.ok(first && first.node_id !== one.node_id);
  const before = await filesIn(own);
  const after = await filesIn(join(copy.path, 'project-files/vpcs', first.node_id));
  assert.deepEqual(after, before);
  assert.ok(Object.keys(before).length >= 3);
  assert.equal(await readFile(join(copy.path, 'project-files/vpcs', first.node_id, 'link'), 'base64'), before['deep/random']);
  assert.deepEqual(await filesIn(join(copy.path, 'project-files/images')), await filesIn(join(folder, 'project-files/images')));
  const links = await client.get<{ filters: unknown }[]>(`/v2/projects/${copy.project_id}/links`);
  assert.deepEqual(
    links.map(({ filters }) => filters),
    [{ latency: [10] }],
  );
  assert.deepEqual(
    (await readdir(projects)).filter((name) => name.startsWith('.')),
    [],
  );
  await client.post(`/v2/projects/${copy.project_id}/nodes/start`, {}, 204);
  await client.post(`/v2/projects/${copy.project_id}/nodes/stop`, {}, 204);
});

describe('the query of an export', () => {
  test('chooses compression, MAC addresses, images and snapshots', async () => {
    const project = await createProject(client);
    const image = { qemu_img: 'qemu-img', path: 'carried.qcow2', format: 'qcow2', size: 1 };
    await client.post('/v2/compute/qemu/img', image);
    const properties = { ...tinyVm, mac_address: '00:11:22:33:44:55', hda_disk_image: 'carried.qcow2' };
    const vm = await createNode(client, project, 'qemu', { properties });
    const kept = await client.post<Snapshot>(`${project.path}/snapshots`, { name: 'kept' });
    const plain = await exported(project, '?compression=none');
    assert.ok(plain.bytes.includes('"mac_address": "00:11:22:33:44:55"'));
    assert.deepEqual(
      (await namesIn(plain.bytes)).filter((name) => /snapshots|^images/.test(name)),
      [],
    );
    const all = await exported(project, '?compression=NONE&include_images=yes&include_snapshots=YES&reset_mac_addresses=yes');
    assert.ok(!all.bytes.includes('"mac_address": "00:11:22:33:44:55",\n                    "options"'));
    const names = await namesIn(all.bytes);
    for (const name of ['images/QEMU/carried.qcow2', 'snapshots/kept.gns3snapshot', 'snapshots/snapshots.conf'])
      assert.ok(names.includes(name), `${name} is not in ${names}`);
    for (const compression of ['zip', 'bzip2', 'lzma'])
      await imported((await exported(project, `?compression=${compression}`)).bytes);
    expectFault(await client.send(`GET ${project.path}/export?compression=foo`), 400, /compression/);
    expectFault(await client.send(`GET /v2/projects/${randomUUID()}/export`), 404);
    // The snapshot is usable where it arrives, with the ids of the copy.
    const copy = await imported(all.bytes);
    const path = `/v2/projects/${copy.project_id}`;
    await client.post(`${path}/open`);
    const [there] = await client.get<Snapshot[]>(`${path}/snapshots`);
    assert.deepEqual([there?.name, there?.created_at, there?.project_id], ['kept', kept.created_at, copy.project_id]);
    const [node] = await nodesOf(copy);
    assert.ok(node && node.node_id !== vm.node_id);
    await client.put(`${path}/nodes/${node.node_id}`, { x: 77 });
    await client.post(`${path}/snapshots/${there?.snapshot_id}/restore`);
    assert.deepEqual(
      (await nodesOf(copy)).map(({ node_id, x }) => [node_id, x]),
      [[node.node_id, 0]],
    );
  });

  test('images come along, and never replace another one', async () => {
    const project = {
      project_id: randomUUID(),
      name: freshName('images'),
      topology: { nodes: [], links: [], drawings: [], computes: [] },
    };
    const archive = (content: string, further: HandEntry[] = []) =>
      zipByHand([
        ...further,
        { name: 'project.gns3', content: JSON.stringify({ ...project, type: 'topology', revision: 9, version: '2.2.0' }) },
        { name: 'images/QEMU/brought.img', content, mode: 0o100700 },
        { name: 'images/qemu/elsewhere.img', content },
      ]);
    await imported(archive('content'));
    await imported(archive('content'));
    const folder = join(server.dataDir, 'images/QEMU');
    for (const name of ['brought.img', 'elsewhere.img']) {
      assert.equal(await readFile(join(folder, name), 'utf8'), 'content');
      assert.equal((await stat(join(folder, name))).mode & 0o444, 0o444, 'emulators with users of their own read it');
    }
    const before = await client.get<unknown[]>('/v2/projects');
    expectFault(await send(archive('another')), 409, /(?:brought|elsewhere)\.img/);
    for (const name of ['QEMU/-rf', '-x/a.img'])
      expectFault(await send(archive('content', [{ name: `images/${name}`, content: 'x' }])), 409, /begins with a dash/);
    assert.equal(await readFile(join(folder, 'brought.img'), 'utf8'), 'content');
    assert.deepEqual(await client.get('/v2/projects'), before);
    // Two archives come at a time, each with another image of one name.
    const contents = ['a', 'b'].map((letter) => letter.repeat(2 ** 20));
    const replies = await Promise.all(
      contents.map((text) => send(archive('content', [{ name: 'images/QEMU/both.img', content: text }]))),
    );
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 409]);
    const winner = replies.findIndex(({ status }) => status === 201);
    assert.ok((await readFile(join(folder, 'both.img'), 'utf8')) === contents[winner], 'the image of the project that was made');
    assert.deepEqual(
      (await readdir(folder)).filter((name) => /^\.|tmp$|^-/.test(name)),
      [],
    );
  });
});

test('a running machine is exported with its disk and runs on', async () => {
  const project = await createProject(client);
  await client.post('/v2/compute/qemu/img', { qemu_img: 'qemu-img', path: 'out.qcow2', format: 'qcow2', size: 64 });
  const properties = { ...tinyVm, hda_disk_image: 'out.qcow2', hda_disk_interface: 'ide' };
  const vm = await createNode(client, project, 'qemu', { properties });
  await client.post(`${project.path}/nodes/start`, {}, 204);
  const telnet = await openTelnet(vm.console as number);
  await telnet.expect(/iPXE|SeaBIOS/);
  telnet.close();
  const copy = await imported((await exported(project)).bytes);
  assert.equal((await client.get<NodeBody>(`${project.path}/nodes/${vm.node_id}`)).status, 'started');
  await client.post(`${project.path}/nodes/stop`, {}, 204);
  await client.post(`/v2/projects/${copy.project_id}/open`);
  const [twin] = await nodesOf(copy);
  const disk = join(copy.path, 'project-files/qemu', String(twin?.node_id), 'hda_disk.qcow2');
  await run('qemu-img', ['check', disk]);
  await client.post(`/v2/projects/${copy.project_id}/nodes/start`, {}, 204);
  await client.post(`/v2/projects/${copy.project_id}/nodes/stop`, {}, 204);
});

test('an aborted export leaves nothing behind', async () => {
  const project = await createProject(client);
  await writeFile(join(await folderOf(project), 'large'), randomBytes(30_000_000));
  const part = await client.send(`GET ${project.path}/export?compression=none`, { readBytes: 1000 });
  assert.equal(part.status, 200);
  const clean = async () => (await readdir(projects)).every((name) => !name.startsWith('.'));
  await waitFor(clean, { what: 'the end of the copy' });
});

describe('an import', () => {
  const simple = (name: string, more: readonly HandEntry[] = [], changed: object = {}) => {
    const topology = { nodes: [], links: [], drawings: [], computes: [] };
    const file = { type: 'topology', revision: 9, version: '2.2.0', project_id: randomUUID(), name, topology, ...changed };
    return zipByHand([{ name: 'project.gns3', content: JSON.stringify(file), method: 8 }, ...more]);
  };

  test('takes the form of a browser', async () => {
    const name = freshName('form');
    const form = new FormData();
    form.append('name', 'ignored');
    form.append('file', new Blob([new Uint8Array(simple(name, [{ name: 'a--b', content: '--x\r\n--y' }]))]), 'lab.gns3project');
    const id = randomUUID();
    const answer = await fetch(`${server.url}/v2/projects/${id}/import`, { method: 'POST', body: form });
    assert.equal(answer.status, 201, await answer.clone().text());
    const project = (await answer.json()) as Project & { path: string };
    assert.deepEqual([project.project_id, project.name, project.filename], [id, name, `${name}.gns3`]);
    assert.equal(await readFile(join(project.path, 'a--b'), 'utf8'), '--x\r\n--y');
    const empty = new FormData();
    empty.append('name', 'x');
    const refused = await fetch(`${server.url}/v2/projects/${randomUUID()}/import`, { method: 'POST', body: empty });
    assert.equal(refused.status, 400);
    const torn = '--B\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nPK';
    expectFault(await send(Buffer.from(torn)), 400, /form cannot be used/);
  });

  test('gives a free name, and notifies listeners', async () => {
    const name = freshName('again');
    const socket = await openWebSocket(`${server.url}/v2/notifications/ws`);
    const names = [];
    for (const _ of [1, 2, 3]) names.push((await imported(simple(name))).name);
    assert.deepEqual(names, [name, `${name}-1`, `${name}-2`]);
    const notice = await socket.next((message) => message.includes('"project.created"') && message.includes(`"${name}-2"`));
    assert.ok(notice);
    assert.ok(socket.messages.some((message) => message.includes('"project.progress"') && message.includes('"import"')));
    socket.close();
  });

  test('has its path where it may be, and an id that is one', async () => {
    const folder = join(server.dataDir, 'elsewhere', 'deep');
    const project = await imported(simple(freshName('placed')), `?path=${encodeURIComponent(folder)}`);
    assert.equal(project.path, folder);
    expectFault(await send(simple(freshName('placed')), `?path=${encodeURIComponent(folder)}`), 403, /exists/);
    expectFault(await send(simple('x'), `?path=${encodeURIComponent(`${folder}/x.gns3`)}`), 409);
    expectFault(await send(simple('x'), '?path=relative'), 403);
    expectFault(await send(simple('x'), '', 'no-uuid'), 409);
    expectFault(await send(simple('x'), '', project.project_id), 409, /already/);
    expectFault(await send(Buffer.from('PK no'), `?path=${encodeURIComponent(join(server.dataDir, 'never', 'made'))}`), 409);
    assert.ok(!(await readdir(server.dataDir)).includes('never'));
  });

  test('leaves the project that another request made in its folder meanwhile', async () => {
    const outer = join(server.dataDir, 'outer');
    const folder = join(outer, 'shared');
    const imports = [join(folder, 'x', '..'), folder, join(outer, 'other')].map((path) => slowImport(path));
    await waitFor(async () => (await readdir(outer).catch(() => [])).filter((name) => name.startsWith('.')).length === 3, {
      what: 'the beginning of the imports',
    });
    // Folders of this one stand in one that the imports made.
    const nested = await createProject(client, { path: join(outer, 'mine', 'deep') });
    const first = await imports[0]?.finish(simple(freshName('first')));
    assert.equal(first?.status, 201);
    assert.equal((await imports[1]?.finish(simple(freshName('second'))))?.status, 403);
    assert.equal((await imports[2]?.finish(Buffer.from('PK no')))?.status, 409);
    const mine = await client.post<Project & { path: string; filename: string }>(`/v2/projects/${first?.project_id}/open`);
    assert.ok((await readdir(folder)).includes(mine.filename));
    assert.equal((await client.get<Project>(nested.path)).status, 'opened');
    assert.deepEqual((await readdir(outer)).sort(), ['mine', 'shared']);
    const taken = { name: freshName('third'), path: folder, project_id: randomUUID() };
    expectFault(await client.send('POST /v2/projects', { body: taken }), 403);
  });

  test('under its own id keeps its ids', async () => {
    const project = await createProject(client);
    const node = await createNode(client, project);
    const { bytes } = await exported(project);
    await client.delete(project.path);
    expectStatus(await send(bytes, '', project.id), 201);
    await client.post(`${project.path}/open`);
    assert.deepEqual(
      (await client.get<NodeBody[]>(`${project.path}/nodes`)).map(({ node_id }) => node_id),
      [node.node_id],
    );
  });

  test('reads bzip2 and LZMA as GNS3 writes them', async () => {
    const content = 'some text, '.repeat(5000);
    const packers = {
      bzip2: { method: 12, pack: 'bzip2 -c' },
      lzma: { method: 14, pack: 'xz -c --format=lzma' },
    };
    for (const [title, { method, pack }] of Object.entries(packers)) {
      const file = join(server.dataDir, `${title}.txt`);
      await writeFile(file, content);
      const { stdout } = await run('sh', ['-c', `${pack} < "$0"`, file], { encoding: 'buffer' });
      // A .lzma file: properties (5), length (8), data. In archives: version (2), length of the properties (2), properties, data.
      const packed =
        method === 12 ? stdout : Buffer.concat([Buffer.from([9, 4, 5, 0]), stdout.subarray(0, 5), stdout.subarray(13)]);
      const entry: HandEntry = { name: 'packed.txt', content, method, packed, flags: method === 14 ? 2 : 0 };
      const project = await imported(simple(freshName(title), [entry]));
      assert.equal(await readFile(join(project.path, 'packed.txt'), 'utf8'), content);
      const damaged = { ...entry, packed: Buffer.concat([packed.subarray(0, packed.length / 2), Buffer.alloc(packed.length / 2)]) };
      expectFault(await send(simple(freshName(title), [damaged])), 409);
    }
  });

  test('of a damaged archive, of another file, or of one with paths outside the folder is refused and leaves nothing', async () => {
    const good = simple('never made', [{ name: 'a', content: 'text', method: 8 }]);
    const link = (content: string, name = 'l'): HandEntry => ({ name, content, mode: 0o120777 });
    const bad: Record<string, Uint8Array> = {
      empty: Buffer.alloc(0),
      text: Buffer.from('not a zip'),
      torn: good.subarray(0, good.length - 30),
      'no project': zipByHand([{ name: 'a', content: 'b' }]),
      'project is a folder': zipByHand([{ name: 'project.gns3/', mode: 0o040755 }]),
      'no JSON': zipByHand([{ name: 'project.gns3', content: '{' }]),
      'no topology': zipByHand([{ name: 'project.gns3', content: '{"name": "x", "revision": 9}' }]),
      newer: simple('never made', [], { revision: 99 }),
      'name of a path': simple('../../x'),
      upwards: simple('never made', [{ name: '../out', content: 'x' }]),
      'upwards below': simple('never made', [{ name: 'a/../../out', content: 'x' }]),
      absolute: simple('never made', [{ name: '/tmp/out', content: 'x' }]),
      backslash: simple('never made', [{ name: '..\\out', content: 'x' }]),
      drive: simple('never made', [{ name: 'C:/out', content: 'x' }]),
      nul: simple('never made', [{ name: 'a\0b', content: 'x' }]),
      twice: simple('never made', [
        { name: 'a', content: 'x' },
        { name: 'a', content: 'y' },
      ]),
      'file and folder': simple('never made', [
        { name: 'a', content: 'x' },
        { name: 'a/b', content: 'y' },
      ]),
      'link out': simple('never made', [link('/etc/passwd')]),
      'link up': simple('never made', [link('../../x')]),
      'link up behind': simple('never made', [link('a/../../../x')]),
      'through a link': simple('never made', [link('project-files'), { name: 'l/x', content: 'y' }]),
      device: simple('never made', [{ name: 'null', mode: 0o020666 }]),
      'wrong sum': simple('never made', [{ name: 'a', content: 'text', claims: { crc: 1 } }]),
      'more than it says': simple('never made', [{ name: 'a', content: 'x'.repeat(9999), method: 8, claims: { sizeBytes: 10 } }]),
      bomb: simple(
        'never made',
        Array.from({ length: 300 }, (_, index) => ({
          name: `z${index}`,
          content: '',
          method: 8,
          claims: { sizeBytes: 0xfffffff0 },
        })),
      ),
      encrypted: simple('never made', [{ name: 'a', content: 'x', flags: 1 }]),
      'unknown method': simple('never made', [{ name: 'a', content: 'x', method: 97 }]),
      'snapshot that is none': simple('never made', [{ name: 'snapshots/s.gns3snapshot', content: 'nothing' }]),
    };
    const before = [await client.get('/v2/projects'), await readdir(projects), await readdir(server.dataDir)];
    for (const [what, archive] of Object.entries(bad)) {
      const reply = await send(archive);
      assert.ok(
        reply.status === 409 || (what === 'name of a path' && reply.status === 400),
        `${what}: ${reply.status} ${reply.text()}`,
      );
      assert.ok(!reply.text().includes(server.dataDir), reply.text());
    }
    assert.deepEqual([await client.get('/v2/projects'), await readdir(projects), await readdir(server.dataDir)], before);
  });

  test('leaves nothing when its client disconnects or its server is killed', async () => {
    const known = async () => [
      (await client.get<Project[]>('/v2/projects')).map(({ project_id }) => project_id).sort(),
      await readdir(projects),
    ];
    const before = await known();
    const half = simple('never made', [{ name: 'a', content: 'x'.repeat(100_000) }]).subarray(0, 50_000);
    const begin = () =>
      client.send(`POST /v2/projects/${randomUUID()}/import`, { raw: half, headers: { 'content-length': '200000' }, limitMs: 700 });
    await assert.rejects(begin());
    const clean = async () => (await readdir(projects)).every((name) => !name.startsWith('.'));
    await waitFor(clean, { what: 'the end of what was begun' });
    const broken = assert.rejects(begin());
    await waitFor(async () => !(await clean()), { what: 'the beginning of an import' });
    await server.kill9();
    await broken;
    await server.restart();
    assert.deepEqual(await known(), before);
  });
});
