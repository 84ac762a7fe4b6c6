/** Projects of other programs and older years: found on the disk, opened, run, saved, imported. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import type { Project } from '../../src/schema/project.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { oldProject, revisions } from '../projects/old-projects.ts';
import { listen } from '../support/notices.ts';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { openTelnet } from '../support/telnet.ts';
import { type NodeBody, tinyVm, withServer } from '../support/with-server.ts';
import { zipByHand } from '../support/zip-by-hand.ts';

interface Drawing {
  readonly svg: string;
}

const { server, client } = await withServer();
const folderOf = (revision: number) => join(server.dataDir, 'projects', `by hand ${revision}`);
for (const revision of revisions) {
  for (const [name, content] of Object.entries(oldProject(revision).files)) {
    await mkdir(dirname(join(folderOf(revision), name)), { recursive: true });
    await writeFile(join(folderOf(revision), name), content);
  }
}
// The server finds the projects of its folder when it starts.
await server.restart();

test('nodes without a size have that of their symbol, and what has no console keeps none', async () => {
  const symbols = ['hub', 'ethernet_switch', 'atm_switch', 'frame_relay_switch', 'cloud', 'computer'] as const;
  const types = ['ethernet_hub', 'ethernet_switch', 'atm_switch', 'frame_relay_switch', 'cloud', 'vpcs'] as const;
  const nodes = types.map((node_type, index) => ({
    ...{ compute_id: 'local', name: `n${index}`, node_id: randomUUID(), node_type, console_type: null, properties: {} },
    ...{ symbol: `:/symbols/${symbols[index]}.svg`, x: index * 100, y: 0, z: 1 },
  }));
  const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="123" height="45"/>';
  expectStatus(await client.send('POST /v2/symbols/own-wide.svg/raw', { raw: picture }), 204);
  const [hub] = nodes;
  const ofUsers = ['own-wide.svg', 'gone.svg'].map((symbol) => ({ ...hub, name: symbol, symbol }));
  for (const revision of [8, 9]) {
    const project_id = randomUUID();
    const own = [...nodes, ...ofUsers].map((node) => ({ ...node, node_id: randomUUID() }));
    const file = {
      ...{ auto_close: false, name: `sizes ${revision}`, project_id, revision, type: 'topology', version: '2.1.0' },
      topology: { computes: [], drawings: [], links: [], nodes: own },
    };
    const archive = zipByHand([{ name: 'project.gns3', content: JSON.stringify(file), method: 0 }]);
    expectStatus(await client.send(`POST /v2/projects/${project_id}/import?name=sizes${revision}`, { raw: archive }), 201);
    for (let times = 0; times < 2; times++) {
      await client.post(`/v2/projects/${project_id}/open`);
      const shown = await client.get<NodeBody[]>(`/v2/projects/${project_id}/nodes`);
      assert.deepEqual(
        types.map((type) => shown.find(({ node_type }) => node_type === type)).map((node) => [node?.width, node?.height]),
        [
          [72, 32],
          [72, 32],
          [51, 48],
          [51, 48],
          [159, 71],
          [65, 59],
        ],
      );
      assert.deepEqual(
        ofUsers.map(({ symbol }) => shown.find((node) => node.symbol === symbol)).map((node) => [node?.width, node?.height]),
        [
          [123, 45],
          [65, 59],
        ],
      );
      assert.deepEqual(
        types.map((type) => shown.find(({ node_type }) => node_type === type)?.console_type),
        [null, 'none', null, null, null, 'none'],
      );
      await client.post(`/v2/projects/${project_id}/close`, {}, 204);
    }
    await client.delete(`/v2/projects/${project_id}`);
  }
});

for (const revision of revisions) {
  describe(`a project of revision ${revision}`, () => {
    const { ids, files, name } = oldProject(revision);
    const path = `/v2/projects/${ids.project}`;
    const folder = folderOf(revision);
    const original = files['old lab.gns3'] ?? '';

    test('is listed, and opening it keeps a copy of the original file', async () => {
      const listed = (await client.get<Project[]>('/v2/projects')).find(({ project_id }) => project_id === ids.project);
      assert.deepEqual([listed?.name, listed?.status], [name, 'closed']);
      assert.deepEqual(
        (await client.get<NodeBody[]>(`${path}/nodes`)).slice(0, 2).map(({ name }) => name),
        ['pc', 'machine'],
      );
      await client.post(`${path}/open`);
      const names = await readdir(folder);
      assert.equal(names.includes(`old lab.gns3.backup${revision}`), revision < 9);
      if (revision < 9) assert.equal(await readFile(join(folder, `old lab.gns3.backup${revision}`), 'utf8'), original);
    });

    test('runs', async () => {
      const [pc, machine] = await client.get<NodeBody[]>(`${path}/nodes`);
      assert.ok(pc && machine);
      assert.deepEqual([pc.node_id, machine.node_id, pc.x, machine.x], [ids.pc, ids.machine, 10, 90]);
      assert.equal((await client.get<unknown[]>(`${path}/links`)).length, 1);
      for (const node of [pc, machine]) await client.post(`${path}/nodes/${node.node_id}/start`, {}, 200);
      const telnet = await openTelnet(pc.console as number);
      telnet.send('\nshow ip\n');
      await telnet.expect(/PC1 : 10\.0\.0\.1/);
      telnet.close();
      await client.post(`${path}/nodes/stop`, {}, 204);
      assert.equal(machine.properties.ram, tinyVm.ram);
      assert.equal(machine.properties.on_close, 'power_off');
    });

    test('is saved in the present revision, and is the same when it is opened again', async () => {
      await client.put(`${path}/nodes/${ids.pc}`, { x: 33 });
      const read = async () => (await client.get<NodeBody[]>(`${path}/nodes`)).map(({ command_line: _line, ...node }) => node);
      const before = await read();
      await client.post(`${path}/close`, {}, 204);
      const saved = JSON.parse(await readFile(join(folder, 'old lab.gns3'), 'utf8'));
      assert.deepEqual([saved.revision, saved.type, saved.topology.nodes[0].x], [9, 'topology', 33]);
      await client.post(`${path}/open`);
      assert.deepEqual(await read(), before);
    });

    test('is imported from an archive made by hand', async () => {
      const entries = Object.entries(files).map(([file, content]) => ({
        name: file.replace(/^[^/]*\.gns3$/, 'project.gns3'),
        content,
        method: 8,
      }));
      const reply = await client.send(`POST /v2/projects/${randomUUID()}/import?name=brought`, { raw: zipByHand(entries) });
      const copy = expectStatus(reply, 201).json<Project & { path: string }>();
      await client.post(`/v2/projects/${copy.project_id}/open`);
      const [pc] = await client.get<NodeBody[]>(`/v2/projects/${copy.project_id}/nodes`);
      assert.ok(pc && pc.node_id !== ids.pc);
      const script = await readFile(join(copy.path, 'project-files/vpcs', pc.node_id, 'startup.vpc'), 'utf8');
      assert.match(script, /ip 10\.0\.0\.1/);
      await client.post(`/v2/projects/${copy.project_id}/nodes/${pc.node_id}/start`, {}, 200);
      await client.post(`/v2/projects/${copy.project_id}/close`, {}, 204);
    });
  });
}

test('the special fields of each revision are kept', async () => {
  const nine = oldProject(9);
  const ninePath = `/v2/projects/${nine.ids.project}`;
  const project = await client.get<Project>(ninePath);
  assert.deepEqual([project.zoom, project.show_grid, project.variables], [70, true, [{ name: 'kept', value: 'x' }]]);
  const locked = await client.get<NodeBody>(`${ninePath}/nodes/${nine.ids.pc}`);
  assert.deepEqual([locked.locked, locked.template_id], [true, nine.ids.router]);

  const eight = await client.get<Project>(`/v2/projects/${oldProject(8).ids.project}`);
  assert.equal(eight.drawing_grid_size, 50);

  const { ids } = oldProject(4);
  const folder = folderOf(4);
  const path = `/v2/projects/${ids.project}`;
  const [pc, machine, router] = await client.get<NodeBody[]>(`${path}/nodes`);
  assert.deepEqual(pc?.label, {
    rotation: 0,
    style: 'font-family: Arial;font-size: 12;font-weight: bold;font-style: italic;fill: #ff0000;fill-opacity: 0.5;',
    text: 'pc',
    x: 3,
    y: -25,
  });
  assert.equal(machine?.symbol, ':/symbols/qemu_guest.svg');
  assert.deepEqual([router?.node_type, router?.properties.platform, router?.properties.ram], ['dynamips', 'c3600', 192]);
  const drawings = (await client.get<Drawing[]>(`${path}/drawings`)).map(({ svg }) => svg);
  assert.match(drawings[0] ?? '', /<ellipse cx="20" cy="10" rx="20" ry="10" fill="#00ff00" .*stroke-dasharray="25, 25"/);
  assert.match(drawings[1] ?? '', /<rect width="40" height="20" fill="#ffffff"\/>/);
  assert.match(drawings[2] ?? '', /<text .*fill="#112233".*>a &lt; b<\/text>/);
  assert.match(drawings[3] ?? '', /<circle r="3"/);
  assert.equal(await readFile(join(folder, 'README.txt'), 'utf8'), 'what to do');
  const own = join(folder, 'project-files/dynamips', ids.router);
  assert.deepEqual((await readdir(own)).sort(), ['c3600_i7_nvram', 'configs']);
  assert.deepEqual(await readdir(join(own, 'configs')), ['i7_startup-config.cfg']);
  const [snapshot] = await client.get<Snapshot[]>(`${path}/snapshots`);
  assert.deepEqual([snapshot?.name, snapshot?.created_at], ['first', Date.UTC(2016, 1, 1, 10, 11, 12) / 1000]);
  await client.post(`${path}/snapshots/${snapshot?.snapshot_id}/restore`);
  assert.equal((await client.get<NodeBody>(`${path}/nodes/${ids.pc}`)).x, 77);
  assert.equal(await readFile(join(folder, `project-files/vpcs/${ids.pc}/startup.vpc`), 'utf8'), 'set pcname then\n');
  assert.deepEqual(await client.get<Snapshot[]>(`${path}/snapshots`), [snapshot]);
});

test('parts of a 1.x file without a counterpart are warned of and listed in the folder, at the opening and at an import', async () => {
  const { files, ids } = oldProject(4);
  const lost = [
    'later_setting',
    'topology.notes[0].later_note',
    'links[1]: a node or port of it does not exist',
    'pc: later_key',
    'pc: ports[0].later_port',
  ];
  const report = (folder: string) => readFile(join(folder, 'upgrade-report.txt'), 'utf8');
  const expected = `Parts of the project file of GNS3 1.x that were not taken over:\n${lost.map((one) => `- ${one}\n`).join('')}`;
  assert.equal(await report(folderOf(4)), expected);
  const listener = await listen(`${server.url}/v2/notifications/ws`);
  const entries = Object.entries(files).map(([file, content]) => ({
    name: file.replace(/^[^/]*\.gns3$/, 'project.gns3'),
    content: content.replaceAll(ids.project, randomUUID()),
    method: 8,
  }));
  const reply = await client.send(`POST /v2/projects/${randomUUID()}/import?name=named`, { raw: zipByHand(entries) });
  const { path } = expectStatus(reply, 201).json<Project & { path: string }>();
  assert.equal(await report(path), expected);
  await listener.find(
    ({ action, event }) => action === 'log.warning' && /GNS3 1\.x: later_setting; topology\.notes/.test(String(event.message)),
    'a warning of the import',
  );
  await listener.close();
});

test('a newer file is refused with a clear error and stays unchanged', async () => {
  const newer = join(server.dataDir, 'projects', 'newer', 'x.gns3');
  await mkdir(dirname(newer));
  const { files, ids } = oldProject(9);
  const text = (files['old lab.gns3'] ?? '').replace('"revision":9', '"revision":11').replace(ids.project, randomUUID());
  await writeFile(newer, text);
  expectFault(await client.send('POST /v2/projects/load', { body: { path: newer } }), 409, /newer program \(revision 11/);
  await server.restart();
  assert.equal(await readFile(newer, 'utf8'), text);
  const listed = (await client.get<Project[]>('/v2/projects')).find(({ filename }) => filename === 'x.gns3');
  assert.equal(listed?.status, 'closed');
  expectFault(await client.send(`POST /v2/projects/${listed.project_id}/open`), 409, /newer program \(revision 11/);
});

test('a project outside of the projects folder is forgotten by its deletion, and its folder stays and can be loaded again', async () => {
  const { files, ids } = oldProject(9);
  const id = randomUUID();
  const [first, second] = ['there', 'a copy'].map((name) => join(server.dataDir, 'elsewhere', name, 'lab.gns3')) as [
    string,
    string,
  ];
  for (const file of [first, second]) {
    for (const [name, content] of Object.entries(files)) {
      const place = name === 'old lab.gns3' ? file : join(dirname(file), name);
      await mkdir(dirname(place), { recursive: true });
      await writeFile(
        place,
        name === 'old lab.gns3' ? content.replace(ids.project, id).replace(/"name":"old lab[^"]*"/, '"name":"far away"') : content,
      );
    }
  }
  const load = (path: string) => client.send('POST /v2/projects/load', { body: { path } });
  expectStatus(await load(first), 201);
  const named = new RegExp(
    `is a copy of the project "[^"]+" in ${dirname(first)}: open that one, delete it first, or load this as a copy`,
  );
  expectFault(await load(second), 409, named);
  // The copy has new ids, and its content is that of its own folder.
  await writeFile(join(dirname(second), `project-files/vpcs/${ids.pc}/startup.vpc`), 'set pcname copied\n');
  const copy = await client.post<Project>('/v2/projects/load', { path: second, copy: true });
  const copied = await client.get<NodeBody[]>(`/v2/projects/${copy.project_id}/nodes`);
  const pc = copied.find(({ node_type }) => node_type === 'vpcs');
  assert.notEqual(copy.project_id, id);
  assert.ok(pc && pc.node_id !== ids.pc);
  assert.deepEqual(
    [copy.name, copy.status, copy.path],
    ['far away-1', 'opened', join(server.dataDir, 'projects', copy.project_id)],
  );
  assert.match(await readFile(join(String(copy.path), `project-files/vpcs/${pc.node_id}/startup.vpc`), 'utf8'), /copied/);
  // A project that is open is copied as a duplicate is.
  const twin = await client.post<Project>('/v2/projects/load', { path: first, copy: true });
  assert.equal((await client.get<NodeBody[]>(`/v2/projects/${twin.project_id}/nodes`)).length, 2);
  const whole = { path: join(server.dataDir, 'all.gns3'), copy: true };
  await writeFile(whole.path, await readFile(second));
  expectFault(await client.send('POST /v2/projects/load', { body: whole }), 403, /copied into itself/);
  for (const { project_id } of [copy, twin]) expectStatus(await client.send(`DELETE /v2/projects/${project_id}`), 204);
  const before = await readFile(join(dirname(first), `project-files/vpcs/${ids.pc}/startup.vpc`), 'utf8');
  expectStatus(await client.send(`DELETE /v2/projects/${id}`), 204);
  expectStatus(await client.send(`GET /v2/projects/${id}`), 404);
  await server.restart();
  expectStatus(await client.send(`GET /v2/projects/${id}`), 404);
  assert.equal(await readFile(join(dirname(first), `project-files/vpcs/${ids.pc}/startup.vpc`), 'utf8'), before);
  expectStatus(await load(second), 201);
  expectStatus(await client.send(`DELETE /v2/projects/${id}`), 204);
  expectStatus(await load(first), 201);
  assert.equal((await client.get<NodeBody[]>(`/v2/projects/${id}/nodes`)).length, 2);
  expectStatus(await client.send(`DELETE /v2/projects/${id}`), 204);
});
