/** Snapshots with memory: machines run on, and continue where they were after a restore. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { access, mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { ServerClient } from '../../cli/server-client.ts';
import { applyPlan } from '../../lab/apply.ts';
import { exportFrom } from '../../lab/export.ts';
import { filesOf } from '../../lab/file/lab-files.ts';
import { loadLab } from '../../lab/file/load-lab.ts';
import { planOn } from '../../lab/open-lab.ts';
import { type LabPlan, linesOf } from '../../lab/plan/lab-plan.ts';
import { getProject } from '../../lab/state/lab-state.ts';
import type { Project } from '../../src/schema/project.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import type { Template } from '../../src/schema/template.ts';
import { atPrompt, setWord, showsWord } from '../support/ipxe.ts';
import { processesOf } from '../support/leftovers.ts';
import { expectFault } from '../support/raw-http.ts';
import { openTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, tinyVm, withServer } from '../support/with-server.ts';

const run = promisify(execFile);
const { server, client } = await withServer({ config: { Server: { auto_close_grace: 1, auto_close_running: true } } });

/** Limit for a test that hangs. */
const limitMs = 60_000;

const status = async (project: ProjectHandle) => (await client.get<NodeBody[]>(`${project.path}/nodes`)).map((node) => node.status);
const hidden = async (project: ProjectHandle) => {
  const { path } = await client.get<{ path: string }>(project.path);
  return (await readdir(path)).filter((name) => name.startsWith('.'));
};
const handle = (id: string): ProjectHandle => ({ id, path: `/v2/projects/${id}`, computePath: `/v2/compute/projects/${id}` });

/** A machine that remembers a word, a VPCS and an uplink. */
async function withLab() {
  const project = await createProject(client, { auto_close: false });
  await client.send('POST /v2/compute/qemu/img', {
    body: { qemu_img: 'qemu-img', path: 'warm.qcow2', format: 'qcow2', size: 64 },
  });
  const properties = { ...tinyVm, adapters: 2, hda_disk_image: 'warm.qcow2', hda_disk_interface: 'ide' };
  const vm = await createNode(client, project, 'qemu', { name: 'vm', properties });
  const pc = await createNode(client, project, 'vpcs', { name: 'pc' });
  const nat = await createNode(client, project, 'nat', { name: 'nat' });
  await client.post(`${project.path}/links`, { nodes: [end(vm), end(pc)], filters: { latency: [5] } });
  await client.post(`${project.path}/links`, { nodes: [end(vm, 1), end(nat)] });
  for (const node of [vm, pc]) await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
  const console = await atPrompt(vm);
  await setWord(console, 'kept');
  return { project, vm, pc, console };
}

test('a running lab is frozen and rewound, and forked; each goes its own way', async () => {
  const { project, vm, pc, console: before } = await withLab();
  const idle = await createNode(client, project, 'vpcs');
  const socket = await openWebSocket(`${server.url}${project.path}/notifications/ws`);
  const frozen = await client.post<Snapshot>(`${project.path}/snapshots`, { name: 'warm', memory: true });
  assert.equal(frozen.memory?.status, 'saving');
  assert.deepEqual(frozen.memory?.nodes.toSorted(), [vm.node_id, pc.node_id].toSorted());
  assert.deepEqual(frozen.memory?.cold, []);
  assert.deepEqual(await status(project), ['started', 'started', 'started', 'stopped']);
  const ready = JSON.parse(String(await socket.next((message) => message.includes('"snapshot.updated"')))) as { event: Snapshot };
  socket.close();
  assert.deepEqual(await client.get<Snapshot[]>(`${project.path}/snapshots`), [ready.event]);
  assert.deepEqual(
    { ...ready.event, memory: { ...ready.event.memory, status: 'saving', bytes: 0 } },
    {
      ...frozen,
      memory: { ...frozen.memory, bytes: 0 },
    },
  );
  assert.equal(ready.event.memory?.status, 'ready');
  // A snapshot without memory has no word of it, as in GNS3.
  const plain = await client.post<Snapshot>(`${project.path}/snapshots`, { name: 'plain' });
  assert.deepEqual(Object.keys(plain).sort(), ['created_at', 'description', 'filename', 'name', 'project_id', 'snapshot_id']);
  await setWord(before, 'later');
  await showsWord(before, 'later');
  before.close();
  await client.delete(`${project.path}/nodes/${idle.node_id}`);

  // The parent is deleted before the fork is looked at.
  const snapshotPath = `${project.path}/snapshots/${frozen.snapshot_id}`;
  const [fork] = await client.post<Project[]>(`${snapshotPath}/fork`, { name: 'a fork' });
  assert.deepEqual([fork?.name, fork?.status], ['a fork', 'opened']);
  assert.deepEqual(fork?.forked_from, {
    project_id: project.id,
    name: (await client.get<Project>(project.path)).name,
    snapshot_id: frozen.snapshot_id,
  });
  const copy = handle(String(fork?.project_id));
  assert.deepEqual(await status(copy), ['started', 'started', 'started', 'stopped']);
  const links = await client.get<{ suspend: boolean; filters: object }[]>(`${copy.path}/links`);
  assert.deepEqual(
    links.map(({ suspend, filters }) => [suspend, filters]),
    [
      [false, { latency: [5] }],
      [true, {}],
    ],
  );
  expectFault(await client.send(`POST ${snapshotPath}/fork`, { body: { name: 'a fork' } }), 409, /named "a fork" already/);
  for (const body of [{ count: 0 }, { count: 51 }, { count: '2' }, { name: 'a/b' }, { uplinks: 1 }])
    expectFault(await client.send(`POST ${snapshotPath}/fork`, { body }), 400);

  // The memory of a running machine is lost with it; the project that was closed meanwhile is rewound all the same.
  await client.post(`${snapshotPath}/restore`);
  assert.deepEqual(await status(project), ['started', 'started', 'started', 'stopped']);
  const after = await openTelnet(vm.console as number);
  await showsWord(after, 'kept');
  after.close();
  assert.deepEqual(await hidden(project), ['.kept-presents', '.memory']);
  await client.post(`${snapshotPath}/restore`, { memory: false });
  assert.deepEqual(await status(project), ['stopped', 'stopped', 'started', 'stopped']);
  await client.delete(snapshotPath);
  const { path } = await client.get<{ path: string }>(project.path);
  assert.deepEqual(await readdir(join(path, '.memory')), []);
  await client.delete(project.path);

  const twin = (await client.get<NodeBody[]>(`${copy.path}/nodes`)).find(({ name }) => name === 'vm') as NodeBody;
  const forked = await openTelnet(twin.console as number);
  await showsWord(forked, 'kept');
  forked.close();
  assert.deepEqual(await hidden(copy), []);

  // Two forks of the fork as it is now.
  const two = await client.post<Project[]>(`${copy.path}/fork`, { count: 2 });
  assert.deepEqual(
    two.map(({ name }) => name),
    ['a fork fork', 'a fork fork-1'],
  );
  for (const { project_id } of two)
    assert.deepEqual(await status(handle(project_id)), ['started', 'started', 'started', 'stopped']);
  assert.deepEqual(await client.get(`${copy.path}/snapshots`), []);
  await server.kill9();
  await server.restart();
  assert.deepEqual((await client.get<Project>(handle(String(two[0]?.project_id)).path)).forked_from?.name, 'a fork');
  for (const { project_id } of [...two, fork as Project]) await client.delete(handle(project_id).path);
});

test('memory that cannot be restored is refused before anything changes', async () => {
  const { project, vm, console: before } = await withLab();
  before.close();
  const { snapshot_id } = await client.post<Snapshot>(`${project.path}/snapshots`, { name: 'warm', memory: true });
  const snapshotPath = `${project.path}/snapshots/${snapshot_id}`;
  const { path } = await client.get<{ path: string }>(project.path);
  // An id in capitals is waited for, too. The memory is moved to its place soon afterwards.
  await client.post(`/v2/compute/projects/${project.id.toUpperCase()}/freeze/wait`, {}, 204);
  const inProject = join('project-files/qemu', vm.node_id, 'saved-memory/manifest.json');
  const complete = (place: string) => access(join(path, place, inProject));
  await complete(`.patchbay-memory-${snapshot_id}`).catch(() => complete(`.memory/${snapshot_id}`));
  // Deleting waits for what is being saved, and so does a fork.
  const [fork] = await client.post<Project[]>(`${snapshotPath}/fork`);
  await client.delete(handle(String(fork?.project_id)).path);
  const ram = join(path, '.memory', snapshot_id, 'project-files/qemu', vm.node_id, 'saved-memory/ram');
  const file = await open(ram, 'r+');
  await file.write(Buffer.from('damage'), 0, 6, 4096);
  await file.close();
  const count = (await client.get<Project[]>('/v2/projects')).length;
  expectFault(await client.send(`POST ${snapshotPath}/restore`), 409, /saved memory of vm cannot be restored: .*ram is damaged/);
  expectFault(await client.send(`POST ${snapshotPath}/fork`), 409, /is damaged/);
  const missing = { source_path: join(path, 'none'), destinations: [] };
  expectFault(await client.send(`POST ${project.computePath}/memory`, { body: missing }), 403, /it is not there/);
  assert.deepEqual(await status(project), ['started', 'started', 'started']);
  assert.deepEqual(await hidden(project), ['.memory']);
  assert.equal((await client.get<Project[]>('/v2/projects')).length, count);
  const projects = join(path, '..');
  assert.deepEqual(
    (await readdir(projects)).filter((name) => name.startsWith('.')),
    [],
  );
  await client.delete(project.path);
});

test('a project that freezes when it is closed continues when it is opened, or with the next server', async () => {
  const { project, vm, pc, console: before } = await withLab();
  before.close();
  assert.equal('on_close' in (await client.get<Project>(project.path)), false);
  expectFault(await client.send(`PUT ${project.path}`, { body: { on_close: 'keep' } }), 400);
  assert.equal((await client.put<Project>(project.path, { on_close: 'freeze' })).on_close, 'freeze');
  const recalls = async () => {
    assert.deepEqual(await status(project), ['started', 'started', 'started']);
    const console = await openTelnet(vm.console as number);
    await showsWord(console, 'kept');
    console.close();
    assert.deepEqual(await hidden(project), []);
  };
  const machines = () =>
    processesOf(server.dataDir, server.runtimeDirectory).filter(({ commandLine }) => /qemu-system|vpcs/.test(commandLine));
  // Opening answers before the nodes run.
  const continued = () =>
    waitFor(async () => (await status(project)).every((state) => state === 'started') && (await hidden(project)).length === 0, {
      what: 'the nodes, running again',
    });

  await client.post(`${project.path}/close`, {}, 204);
  assert.deepEqual(machines(), []);
  const { path, filename } = await client.get<Project>(project.path);
  assert.deepEqual(await hidden(project), ['.patchbay-links']);
  const file = JSON.parse(await readFile(join(String(path), String(filename)), 'utf8')) as Project;
  assert.deepEqual(['on_close' in file, file.variables], [false, [{ name: 'PATCHBAY_ON_CLOSE', value: 'freeze' }]]);
  await client.post(`${project.path}/open`, {}, 201);
  // Closed again before they run: nothing of it is lost.
  await client.post(`${project.path}/close`, {}, 204);
  await client.post(`${project.path}/open`, {}, 201);
  await continued();
  await recalls();

  // The memory of the machine has no place: the project stays open.
  const place = join(String(path), '.patchbay-keep');
  await mkdir(place);
  await run('mount', ['-t', 'tmpfs', 'tmpfs', place]);
  after(() => run('umount', [place]).catch(() => undefined));
  expectFault(await client.send(`POST ${project.path}/close`, { body: {} }), 409, /its memory could not be kept/);
  // The project stays open also when its last user leaves: the next one is sent the reason, and it is closed when that is possible.
  await client.put(project.path, { auto_close: true });
  const listen = () => openWebSocket(`${server.url}${project.path}/notifications/ws`);
  (await listen()).close();
  await waitFor(() => server.log().includes('could not be closed after its last user had left'), {
    what: 'a freeze that fails',
    limitMs,
  });
  assert.deepEqual(await status(project), ['started', 'started', 'started']);
  const next = await listen();
  await next.next((message) => /stays open, and its nodes run on.*could not be kept/.test(String(message)), limitMs);
  await run('umount', [place]);
  await rm(place, { recursive: true, force: true });
  next.close();
  const object = () => client.get<Project>(project.path);
  await waitFor(async () => (await object()).status === 'closed', { what: 'the project, closed', limitMs });
  await client.put(project.path, { auto_close: false });
  await client.post(`${project.path}/open`, {}, 201);
  await continued();
  await recalls();

  // The host may end, too: nothing runs.
  await server.terminate();
  assert.deepEqual(machines(), []);
  await server.restart();
  await continued();
  await recalls();

  // A machine whose memory was kept and that was then stopped by its user starts anew.
  await client.post(`${project.path}/nodes/${pc.node_id}/stop`, {}, 200);
  assert.equal('on_close' in (await client.put<Project>(project.path, { on_close: 'stop' })), false);
  await client.post(`${project.path}/close`, {}, 204);
  assert.deepEqual(await hidden(project), []);
  await client.post(`${project.path}/open`, {}, 201);
  assert.deepEqual(await status(project), ['stopped', 'stopped', 'started']);
  await client.delete(project.path);
});

/** Nodes of a lab file continue from the machine of a template, but for those that differ from it; its export says the same. */
async function labsNameTemplate({ name: template, template_id }: Template): Promise<void> {
  const api = new ServerClient({ url: server.url });
  const load = (text: string) => loadLab({ text, file: 'warm.yaml', files: filesOf({}) });
  const warmOf = ({ nodes }: LabPlan) => nodes.map(({ name, warm }) => [name, warm?.template, warm?.differs]);
  const lab = await load(`nodes:
  'R[1-2]': {template: ${template}, properties: {usage: here}}
  Small: {template: ${template}, memory: 64}
links: [[R1, R2]]
`);
  const plan = await planOn(api, lab);
  const expected = [
    ['R1', template, []],
    ['R2', template, []],
    ['Small', template, ['ram']],
  ];
  assert.deepEqual(warmOf(plan), expected);
  const made = await applyPlan(api, lab, plan, { start: true });
  const [one, two, small] = await client.get<NodeBody[]>(`/v2/projects/${made.project_id}/nodes`);
  for (const node of [one, two]) {
    const console = await openTelnet(node?.console as number);
    await showsWord(console, 'kept');
    console.close();
  }
  assert.equal(small?.status, 'started');
  assert.doesNotMatch(String(small?.command_line), /-incoming/);

  const text = await exportFrom(api, await getProject(api, made.project_id));
  assert.match(text, /^# Only this server has the booted machines that R1, R2, Small continue from/);
  const { x, y, ...exported } = parse(text).nodes.R1;
  const { mac_address } = one?.properties ?? {};
  assert.deepEqual(exported, { template, properties: { mac_address, usage: 'here' } });
  const again = await load(text);
  assert.deepEqual([linesOf(await planOn(api, lab)), linesOf(await planOn(api, again))], [[], []]);
  await client.delete(`/v2/projects/${made.project_id}`);
  assert.deepEqual(warmOf(await planOn(api, again)), expected);

  const { project_id } = await client.post<Project>('/v2/projects', { name: 'refused' });
  const cold = (await client.get<Template[]>('/v2/templates')).find(({ warm }) => !warm)?.template_id;
  for (const [fields, status, reason] of [
    [{ warm_template: project_id }, 404, /Template ID/],
    [{ warm_template: cold }, 400, /holds no machine/],
    [{ warm_template: template_id, node_type: 'vpcs' }, 400, /for nodes of the type qemu/],
    [{ warm_template: template_id, compute_id: 'auto' }, 400, /on the compute local/],
  ] as const) {
    const node = { name: 'x', node_type: 'qemu', compute_id: 'local', ...fields };
    expectFault(await client.send(`POST /v2/projects/${project_id}/bulk`, { body: { nodes: [node] } }), status, reason);
  }
  await client.delete(`/v2/projects/${project_id}`);
}

test('nodes made from the template of a running machine continue its memory, each with its own disks and, once cold, addresses', async () => {
  const { project, vm, pc, console: before } = await withLab();
  before.close();
  const templatePath = (id: string) => `/v2/templates/${id}`;
  const kept = join(server.dataDir, 'warm-machines');
  const warmPath = `${project.path}/nodes/${vm.node_id}/warm_template`;
  for (const body of [{ name: '' }, { name: 3 }, { template_id: 'x' }, { more: 1 }])
    expectFault(await client.send(`POST ${warmPath}`, { body }), 400);
  expectFault(await client.send(`POST ${warmPath}`, { body: { template_id: vm.node_id } }), 404, /Template ID/);
  const vpcs = `${project.path}/nodes/${pc.node_id}/warm_template`;
  expectFault(await client.send(`POST ${vpcs}`, { body: {} }), 409, /VPCS nodes cannot be kept as templates/);
  const template = await client.post<Template>(warmPath, { name: 'Booted' });
  assert.deepEqual(
    [template.name, template.template_type, template.ram, template.compute_id],
    ['Booted', 'qemu', tinyVm.ram, 'local'],
  );
  assert.equal(template.warm?.node_name, 'vm');
  assert.ok((template.warm?.bytes ?? 0) > 0);
  assert.deepEqual(await readdir(kept), [template.warm?.machine_id]);

  // A server that is killed while a machine is kept leaves nothing of it, nor of one that no template holds; the machine runs on.
  await mkdir(join(kept, crypto.randomUUID()));
  let isAnswered = false;
  const unanswered = client
    .send(`POST ${warmPath}`, { body: {} })
    .catch(() => undefined)
    .finally(() => {
      isAnswered = true;
    });
  await waitFor(async () => isAnswered || (await readdir(kept)).some((name) => name.startsWith('.')), {
    what: 'the machine that is being kept',
  });
  await server.kill9();
  await unanswered;
  await server.restart();
  const templates = await client.get<Template[]>('/v2/templates');
  const held = templates.flatMap(({ warm }) => (warm ? [warm.machine_id] : []));
  assert.deepEqual((await readdir(kept)).sort(), held.sort());
  // The machine may have been kept before the server died, on a slow host.
  for (const { template_id, warm } of templates)
    if (warm && template_id !== template.template_id) await client.delete(templatePath(template_id));
  assert.equal((await client.get<NodeBody>(`${project.path}/nodes/${vm.node_id}`)).status, 'started');
  // The node, and with it its project, may be deleted.
  await client.delete(project.path);
  assert.deepEqual(await client.get(templatePath(template.template_id)), template);
  assert.deepEqual(await readdir(kept), [template.warm?.machine_id]);
  // Fields of the machine that a client sends back change nothing of it.
  const sentBack = await client.put<Template>(templatePath(template.template_id), { ...template, warm: null, usage: 'log in' });
  assert.deepEqual(sentBack, { ...template, usage: 'log in' });

  const other = await createProject(client, { auto_close: false });
  const make = () => client.post<NodeBody>(`${other.path}/templates/${template.template_id}`, { x: 0, y: 0 });
  const [one, two, changed] = [await make(), await make(), await make()];
  const socket = await openWebSocket(`${server.url}${other.path}/notifications/ws`);
  const act = (node: NodeBody, verb: string) => client.post<NodeBody>(`${other.path}/nodes/${node.node_id}/${verb}`, {}, 200);
  // A node that never ran loses nothing when it is stopped.
  await act(one, 'stop');
  for (const node of [one, two]) assert.equal((await act(node, 'start')).status, 'started');
  const [first, second] = [await openTelnet(one.console as number), await openTelnet(two.console as number)];
  await showsWord(first, 'kept');
  await setWord(first, 'mine');
  await showsWord(second, 'kept');
  for (const console of [first, second]) console.close();
  const macs = [one, two].map(({ properties }) => properties?.mac_address);
  assert.notEqual(macs[0], macs[1]);
  const warning = String(await socket.next((message) => message.includes('continues from the memory of Booted')));
  assert.ok(warning.includes(String(macs[0])), warning);

  // Another machine than the one that was kept starts cold, and so does a node that ran.
  await client.put(`${other.path}/nodes/${changed.node_id}`, { properties: { ram: 64 } });
  await act(changed, 'start');
  await socket.next((message) => /starts cold.*the machine has changed/.test(String(message)));
  await act(one, 'stop');
  const cold = await act(one, 'start');
  assert.ok(String(cold.command_line).includes(`mac=${macs[0]}`) && !String(cold.command_line).includes('-incoming'));
  socket.close();

  await labsNameTemplate(template);

  // Refreshed: the template holds the machine of another node, and the old one is removed.
  const refreshed = await client.post<Template>(`${other.path}/nodes/${two.node_id}/warm_template`, {
    template_id: template.template_id,
  });
  assert.deepEqual([refreshed.template_id, refreshed.name], [template.template_id, 'Booted']);
  assert.deepEqual(await readdir(kept), [refreshed.warm?.machine_id]);
  const copy = await client.post<Template>(`${templatePath(template.template_id)}/duplicate`);
  await client.delete(templatePath(template.template_id));
  assert.deepEqual(await readdir(kept), [copy.warm?.machine_id]);
  // Damaged memory is left out, with a warning; the node is made.
  const ram = await open(join(kept, String(copy.warm?.machine_id), 'saved-memory/state'), 'r+');
  await ram.write(Buffer.from('damage'), 0, 6, 0);
  await ram.close();
  const damaged = await client.post<NodeBody>(`${other.path}/templates/${copy.template_id}`, { x: 0, y: 0 });
  assert.ok(!String((await act(damaged, 'start')).command_line).includes('-incoming'));
  await client.delete(templatePath(copy.template_id));
  assert.deepEqual(await readdir(kept), []);
  assert.equal((await act(two, 'stop')).status, 'stopped');
  await client.delete(other.path);
});
