/** Nodes that leave a slice which is lost or drained, and nodes for which the server chooses a compute. */
import assert from 'node:assert/strict';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { readProject } from '../../src/controller/log/project-state.ts';
import type { ProjectPlacement } from '../../src/controller/placement/placement-request.ts';
import { diskGuestImage, diskGuestProperties, readDisk, untouched, writeDisk } from '../support/disk-guest.ts';
import { killProcesses, processesOf } from '../support/leftovers.ts';
import { listen } from '../support/notices.ts';
import { pcsOfFabric } from '../support/pcs-of-fabric.ts';
import { clientOfSlice, startSlice, type TestSlice, untilSlice } from '../support/slices.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';

const { server: controller, client } = await withServer({ config: { Cluster: { lease_seconds: 5, copy_seconds: 1 } } });
let slices: [TestSlice, TestSlice];
let project: ProjectHandle;
let nodes: [NodeBody, NodeBody];
/** Path of the link between the two. */
let link: string;

before(async () => {
  slices = await Promise.all([startSlice(client, controller.url), startSlice(client, controller.url)]);
  project = await createProject(client);
  const pc = (number: number) => ({ properties: { startup_script: `set pcname PC${number}\nip 10.0.0.${number}/24\n` } });
  nodes = [
    await createNode(client, project, 'vpcs', { compute_id: slices[0].id, ...pc(1) }),
    await createNode(client, project, 'vpcs', { compute_id: slices[1].id, ...pc(2) }),
  ];
  const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: nodes.map((node) => end(node)) });
  link = `${project.path}/links/${link_id}`;
  await client.post(`${project.path}/nodes/start`, {}, 204);
});
after(() => Promise.all(slices?.map(({ server }) => server.stop()) ?? []));

/** The captures of the link are written on a compute, or are again in a moment. */
const untilCaptured = (of: string) =>
  waitFor(
    async () => {
      const others = await client.get<{ capturing: boolean }[]>(`${link}/captures`);
      return others.length === 1 && [await client.get<{ capturing: boolean }>(link), ...others].every(({ capturing }) => capturing);
    },
    { what: `both captures after ${of}`, everyMs: 200 },
  );
const placement = () => client.get<ProjectPlacement>(`${project.path}/placement`);
const placementOf = async ({ node_id }: NodeBody) => (await placement()).nodes.find((node) => node.node_id === node_id);
const read = (node: NodeBody) =>
  client.get<NodeBody & { compute_id: string; command_line: string }>(`${project.path}/nodes/${node.node_id}`);
const untilOn = (node: NodeBody, wanted: (computeId: string) => boolean) =>
  waitFor(
    async () => {
      const { compute_id, status } = await read(node);
      return wanted(compute_id) && status === 'started' ? compute_id : undefined;
    },
    { what: 'a node that runs on another compute', everyMs: 200, limitMs: 120_000 },
  );

/** Tried until it is answered: the first frames of a link may be lost. */
async function untilReached(): Promise<void> {
  const console = await openWebSocket(`${client.base.origin}${project.path}/nodes/${nodes[0].node_id}/console/ws`);
  try {
    await waitFor(
      () => {
        console.send(Buffer.from('ping 10.0.0.2 -c 1 -w 500\r'));
        return console.messages.map(String).join('').includes('ttl=');
      },
      { what: 'a ping that is answered', everyMs: 1_000 },
    );
  } finally {
    console.close();
  }
}

test('nodes of a slice that is drained move with their configuration, are reached again, and captures of their links continue', async () => {
  await untilReached();
  await client.post(`${link}/start_capture`, { capture_file_name: 'drained.pcap' });
  await client.post(`${link}/captures`, { capture_file_name: 'other.pcap' });
  const { capture_compute_id } = await client.get<{ capture_compute_id: string }>(link);
  assert.equal(capture_compute_id, slices[0].id);
  const [drained] = slices;
  await client.post(`/v2/slices/${drained.id}/drain`, {}, 202);
  await untilOn(nodes[0], (id) => id !== drained.id);
  await waitFor(async () => (await untilSlice(client, drained.id, 'draining')).reason === 'its nodes have been moved', {
    what: 'the end of the drain',
    everyMs: 100,
  });
  await untilReached();
  await untilCaptured('a drain');
  assert.deepEqual(await pcsOfFabric(drained.server), []);
  // Nothing is placed there while it is drained.
  const placed = await createNode(client, project, 'vpcs', { compute_id: 'auto' });
  assert.notEqual(placed.compute_id, drained.id);
  assert.notEqual(placed.compute_id, 'auto');
  const { computes } = await placement();
  assert.match(computes.find(({ compute_id }) => compute_id === drained.id)?.reason ?? '', /being drained/);
  assert.ok((computes.find(({ compute_id }) => compute_id === placed.compute_id)?.used.memory ?? 0) >= 16);
  await client.post(`/v2/slices/${drained.id}/drain`, { drain: false }, 202);
  await untilSlice(client, drained.id, 'joined');
});

test('a drain that is ended leaves the nodes that have not moved yet, and can be begun again', async () => {
  const [{ id }] = slices;
  const many = await createProject(client);
  for (let count = 0; count < 24; count++) await createNode(client, many, 'vpcs', { compute_id: id });
  const left = async () =>
    (await client.get<{ compute_id: string }[]>(`${many.path}/nodes`)).filter(({ compute_id }) => compute_id === id).length;
  await client.post(`/v2/slices/${id}/drain`, {}, 202);
  await client.post(`/v2/slices/${id}/drain`, { drain: false }, 202);
  const counts: number[] = [];
  await waitFor(async () => counts.push(await left()) > 8 && new Set(counts.slice(-8)).size === 1, {
    what: 'nodes that stay',
    everyMs: 200,
  });
  assert.ok(Number(counts.at(-1)) > 0, 'some had not moved');
  await client.post(`/v2/slices/${id}/drain`, {}, 202);
  await controller.kill9();
  await controller.restart();
  assert.ok((await left()) > 0, 'the controller died before all had moved');
  await waitFor(async () => (await left()) === 0, {
    what: 'the second drain, by the next controller',
    everyMs: 200,
    limitMs: 120_000,
  });
  await client.delete(many.path);
  await client.post(`/v2/slices/${id}/drain`, { drain: false }, 202);
  await untilSlice(client, id, 'joined');
});

test('nodes that their users stop, delete or close while they are moved away stay so', async () => {
  const [{ id }] = slices;
  const labs = [await createProject(client, { auto_close: false }), await createProject(client, { auto_close: false })] as const;
  const made = new Map<ProjectHandle, NodeBody[]>();
  for (const lab of labs) {
    const pcs: NodeBody[] = [];
    for (let count = 0; count < 6; count++) pcs.push(await createNode(client, lab, 'vpcs', { compute_id: id }));
    made.set(lab, pcs);
    // The lease of the slice may be over on a busy machine.
    const isDone = async () => (await client.send(`POST ${lab.path}/nodes/start`)).status === 204;
    await waitFor(isDone, { what: 'nodes that start', everyMs: 1_000, limitMs: 120_000 });
  }
  const [open, closed] = labs;
  const [deleted] = made.get(open) ?? [];
  await client.post(`/v2/slices/${id}/drain`, {}, 202);
  await client.delete(`${open.path}/nodes/${deleted?.node_id}`);
  await client.post(`${open.path}/nodes/stop`, {}, 204);
  await client.post(`${closed.path}/close`, {}, 204);
  await waitFor(async () => /have been moved|stay/.test((await untilSlice(client, id, 'draining')).reason ?? ''), {
    what: 'the end of the drain',
    everyMs: 100,
    limitMs: 120_000,
  });
  await client.post(`${closed.path}/open`, {}, 201);
  for (const lab of labs) {
    const left = await client.get<NodeBody[]>(`${lab.path}/nodes`);
    assert.equal(left.length, lab === open ? 5 : 6);
    assert.deepEqual(
      left.filter(({ status }) => status !== 'stopped'),
      [],
    );
    await client.delete(lab.path);
  }
  await client.post(`/v2/slices/${id}/drain`, { drain: false }, 202);
  await untilSlice(client, id, 'joined');
});

test('nodes of a slice that is lost are started again on another compute, and are gone from it when it returns', async () => {
  const [, lost] = slices;
  const before = await untilOn(nodes[1], () => true);
  assert.equal(before, lost.id);
  const numberOf = async (node: NodeBody) => / -m (\d+)/.exec((await read(node)).command_line)?.[1];
  const number = await numberOf(nodes[1]);
  assert.ok(number);
  // A compute that is named is obeyed, full or not. The others have room for PCs only.
  const large = await createNode(client, project, 'qemu', { compute_id: lost.id, properties: { ram: 512 } });
  assert.equal((await placementOf(large))?.state, 'placed');
  const fillers: NodeBody[] = [];
  for (const { compute_id, size, used } of (await placement()).computes) {
    if (compute_id === lost.id) continue;
    const ram = Math.floor(0.9 * (size.memory ?? 4096) - used.memory) - 64 - 200;
    fillers.push(await createNode(client, project, 'qemu', { compute_id, properties: { ram } }));
  }
  process.kill(lost.server.pid, 'SIGSTOP');
  try {
    const now = await untilOn(nodes[1], (id) => id !== lost.id);
    // The lease was over first.
    assert.deepEqual(await pcsOfFabric(lost.server), []);
    assert.ok(now === 'local' || now === slices[0].id);
    // The node's hardware address is the same.
    assert.equal(await numberOf(nodes[1]), number);
    assert.equal((await placementOf(nodes[1]))?.compute_id, now);
    const pending = await waitFor(
      async () => {
        const found = await placementOf(large);
        return found?.state === 'pending' ? found : undefined;
      },
      { what: 'a node that waits', everyMs: 200 },
    );
    assert.equal(pending.compute_id, lost.id);
    assert.match(pending.reason, /is lost.*No compute has room/);
    await controller.kill9();
    await controller.restart();
    for (const { node_id } of fillers) await client.delete(`${project.path}/nodes/${node_id}`);
    await waitFor(async () => (await placementOf(large))?.compute_id !== lost.id, {
      what: 'a node that is moved when there is room',
      everyMs: 200,
    });
    await untilReached();
    await untilCaptured('the loss of a slice');
  } finally {
    process.kill(lost.server.pid, 'SIGCONT');
  }
  await untilSlice(client, lost.id, 'joined');
  await untilOn(nodes[1], (id) => id !== lost.id);
  await untilCaptured('the return of the slice');
  await client.post(`${link}/stop_capture`);
});

test('why a node of a lost slice cannot be moved is said once, and it moves when it can', async () => {
  const [, lost] = slices;
  const lab = await createProject(client, { auto_close: false });
  const properties = { startup_script: 'set pcname PC1\n' };
  const pc = await createNode(client, lab, 'vpcs', { compute_id: lost.id, properties });
  const statePath = `${lab.path}/nodes/${pc.node_id}`;
  await client.post(`${statePath}/start`, {}, 200);
  const at = async () => (await client.get<ProjectPlacement>(`${lab.path}/placement`)).nodes[0];
  await waitFor(async () => (await at())?.copied_at, { what: 'a copy', everyMs: 100 });
  // A file stands where the node's files are sent from, so that they cannot be put there.
  const { path: folder } = await client.get<{ path: string }>(lab.path);
  const inTheWay = join(folder, 'project-files', 'vpcs');
  await rm(inTheWay, { recursive: true, force: true });
  await mkdir(dirname(inTheWay), { recursive: true });
  await writeFile(inTheWay, '');
  const listener = await listen(`${client.base.origin}${lab.path}/notifications/ws`);
  const messages = () => listener.notices().flatMap(({ event }) => (typeof event.message === 'string' ? event.message : []));
  const reports = () => messages().filter((message) => message.startsWith(`Node ${pc.name}: `));
  process.kill(lost.server.pid, 'SIGSTOP');
  try {
    await waitFor(() => reports().length > 0, { what: 'the reason', limitMs: 120_000 });
    // The move is tried every two seconds.
    await new Promise((resolve) => setTimeout(resolve, 7_000));
    assert.equal(reports().length, 1, messages().join('\n'));
    assert.match(reports()[0] ?? '', /EEXIST/);
    assert.deepEqual(
      messages().filter((message) => message.startsWith('0 nodes')),
      [],
    );
    const waits = await at();
    assert.equal(waits?.compute_id, lost.id);
    assert.match(waits?.waiting_for ?? '', /EEXIST/);
    assert.ok((waits?.attempts ?? 0) >= 1 && Date.parse(waits?.since ?? '') < Date.now());
    await rm(inTheWay);
    await waitFor(
      async () => {
        const { compute_id, status } = await client.get<{ compute_id: string; status: string }>(statePath);
        return compute_id !== lost.id && status === 'started';
      },
      { what: 'a PC that runs on another compute', limitMs: 120_000 },
    );
  } finally {
    process.kill(lost.server.pid, 'SIGCONT');
    await listener.close();
  }
  await untilSlice(client, lost.id, 'joined');
  await client.delete(lab.path);
});

test('a lab is planned on the computes that there are', async () => {
  const pcs = ['A', 'B', 'C'].map((ref) => ({ ref, node_type: 'vpcs' }));
  const links = [{ nodes: ['A', 'B'], delay: 10 }, { nodes: ['B', 'C'] }];
  type Plan = { cut: number; nodes: { ref: string; compute_id: string | null }[] };
  const together = await client.post<Plan>('/v2/placement', { nodes: pcs, links }, 200);
  assert.equal(together.cut, 0);
  const [{ id }] = slices;
  const apart = [{ ...pcs[0], compute_id: 'local' }, pcs[1], { ...pcs[2], compute_id: id }];
  const planned = await client.post<Plan>('/v2/placement', { nodes: apart, links }, 200);
  assert.equal(planned.cut, 1);
  assert.deepEqual(planned.nodes, [
    { ref: 'A', compute_id: 'local' },
    { ref: 'B', compute_id: id },
    { ref: 'C', compute_id: id },
  ]);
  for (const body of [
    { nodes: [pcs[0], pcs[0]] },
    { nodes: pcs, links: [{ nodes: ['A', 'X'] }] },
    { nodes: [{ ref: 'A', node_type: 'x' }] },
  ])
    assert.equal((await client.send('POST /v2/placement', { body })).status, 400);
});

test('a lab file with placement has its new nodes together on a compute, beside those that it names a compute for', async () => {
  const pc = { kind: 'vpcs' };
  const lab = {
    name: 'placed',
    placement: 'auto',
    nodes: { A: pc, B: pc, C: { ...pc, compute: slices[0].id } },
    links: [['A', 'W'], ['B', 'W'], { ends: ['W', 'S'], filters: { delay: '10ms' } }],
  };
  const file = {
    ...lab,
    nodes: { ...lab.nodes, W: { kind: 'ethernet_switch' }, S: { kind: 'ethernet_switch', compute: 'local' } },
  };
  const apply = async () => (await client.send('POST /v2/labs/apply', { body: { lab: file } })).text();
  const answer = await apply();
  const { project_id = answer } = JSON.parse(answer.trim().split('\n').at(-1) ?? '') as { project_id?: string };
  assert.match(project_id, /^[0-9a-f-]{36}$/, answer);
  const made = await client.get<{ name: string; compute_id: string }[]>(`/v2/projects/${project_id}/nodes`);
  const on = new Map(made.map(({ name, compute_id }) => [name, compute_id]));
  assert.deepEqual([on.get('C'), on.get('S')], [slices[0].id, 'local']);
  assert.equal(new Set(['A', 'B', 'W'].map((name) => on.get(name))).size, 1);
  assert.notEqual(on.get('A'), 'auto');
  // Nothing is left to do.
  const plan = await client.post<{ steps: unknown[] }>('/v2/labs/plan', { lab: file }, 200);
  assert.deepEqual(plan.steps, []);
  await client.delete(`/v2/projects/${project_id}`);
});

test('a node for which no compute has room is refused', async () => {
  const body = { name: 'large', node_type: 'qemu', compute_id: 'auto', properties: { ram: 2_000_000_000 } };
  const reply = await client.send(`POST ${project.path}/nodes`, { body });
  assert.equal(reply.status, 409);
  assert.match(reply.text(), /No compute has room/);
});

test('a machine of a slice that has lost its power together with the controller starts elsewhere with what was copied of its disk', async () => {
  const [lost, other] = slices;
  const image = 'copied-disk.img';
  assert.equal((await client.send(`POST /v2/compute/qemu/images/${image}`, { raw: diskGuestImage() })).status, 204);
  const lab = await createProject(client, { auto_close: false });
  const properties = { ...diskGuestProperties, hda_disk_image: image };
  const vm = await createNode(client, lab, 'qemu', { compute_id: lost.id, properties });
  // The other slice has more room.
  await createNode(client, lab, 'qemu', { compute_id: 'local', properties: { ram: 1_024 } });
  const node = `${lab.path}/nodes/${vm.node_id}`;
  const console = `${client.base.origin}${node}/console/ws`;
  const placed = async () => {
    const { nodes: all } = await client.get<ProjectPlacement>(`${lab.path}/placement`);
    return all.find(({ node_id }) => node_id === vm.node_id);
  };
  const untilCopied = (since: number) =>
    waitFor(
      async () => {
        const at = (await placed())?.copied_at;
        return at && Date.parse(at) >= since && at;
      },
      { what: 'a copy', everyMs: 100, limitMs: 120_000 },
    );
  await client.post(`${node}/start`, {}, 200);
  assert.equal(await readDisk(console), untouched);
  await untilCopied(Date.now());
  let copiedAt = '';
  // The first character is in the copy after its write, the second among the changes since.
  for (const character of ['a', 'b']) {
    await writeDisk(console, character);
    copiedAt = await untilCopied(Date.now());
  }
  assert.equal((await stat(join(controller.dataDir, 'node-copies'))).mode & 0o777, 0o700);
  // The source of the copies is shown nowhere.
  const onSlice = await clientOfSlice(lost);
  const listed = await onSlice.get<{ path: string }[]>(`${lab.computePath}/files`);
  onSlice.close();
  assert.deepEqual(
    listed.map(({ path }) => path).filter((path) => !path.endsWith('.log')),
    [`project-files/qemu/${vm.node_id}/hda_disk.qcow2`],
  );
  const pc = await createNode(client, lab, 'vpcs', { compute_id: lost.id });
  const statusOf = async () => (await client.get<NodeBody>(`${lab.path}/nodes/${pc.node_id}`)).status;
  const processes = () => processesOf(lost.server.dataDir, lost.server.runtimeDirectory);
  await client.post(`${lab.path}/nodes/${pc.node_id}/start`, {}, 200);
  const typing = await openWebSocket(`${client.base.origin}${lab.path}/nodes/${pc.node_id}/console/ws`);
  typing.send(Buffer.from('quit\r'));
  await waitFor(async () => (await statusOf()) === 'stopped', { what: 'a PC that was quit' });
  typing.close();
  // The change of its status waits for no disk.
  const { path, filename } = await client.get<{ path: string; filename: string }>(lab.path);
  const isNoted = async () => {
    const { wanted } = await readProject(join(path, filename));
    return wanted.get(pc.node_id)?.by === 'guest';
  };
  await waitFor(isNoted, { what: 'the note that it has ended' });
  await controller.kill9();
  killProcesses(processes());
  await lost.server.kill9();
  await controller.restart();
  await waitFor(
    async () => {
      const { compute_id, status } = await client.get<{ compute_id: string; status: string }>(node);
      return compute_id !== lost.id && status === 'started';
    },
    { what: 'a machine that runs on another compute', everyMs: 200, limitMs: 120_000 },
  );
  assert.equal(await readDisk(console), 'b');
  const now = await placed();
  assert.equal(now?.compute_id, other.id);
  assert.ok(Date.parse(now?.started_from ?? '') >= Date.parse(copiedAt), `${now?.started_from} is not after ${copiedAt}`);
  assert.equal(await statusOf(), 'stopped', 'it had ended by itself');
  await client.delete(lab.path);
});
