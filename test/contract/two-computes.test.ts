/** Two servers on loopback: one is a compute of the other. Links between them; a compute that is lost and found. */
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { imageBytes, withImageServer } from '../support/image-server.ts';
import { atPrompt, showsLink, type } from '../support/ipxe.ts';
import { listen } from '../support/notices.ts';
import { Pc } from '../support/pc.ts';
import { expectFault, expectStatus, RawClient } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
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

interface ComputeBody {
  readonly compute_id: string;
  readonly connected: boolean;
  readonly last_error: string | null;
}

const [user, password] = ['teacher', 'correct-horse'];
const source = await withImageServer();
const bench = await withServer({ config: { Server: { image_hosts: source.origin } } });
const { client } = bench;
const computeId = randomUUID();
let away: RunningServer;

const address = () => ({ protocol: 'http', host: '127.0.0.1', port: away.port, user, password });
before(async () => {
  away = await startServer({ config: { Server: { auth: true, user, password }, Qemu: { acceleration: 'off' } } });
  await client.post('/v2/computes', { compute_id: computeId, name: 'away', ...address() });
});
after(() => away?.stop());

const isConnected = async (wanted: boolean) => {
  const what = `the compute ${wanted ? 'connected' : 'lost'}`;
  await waitFor(async () => (await client.get<ComputeBody>(`/v2/computes/${computeId}`)).connected === wanted, {
    what,
  });
};
const problems = (project: ProjectHandle) => client.get<{ id: string; message: string }[]>(`${project.path}/problems`);
const untilUsable = (project: ProjectHandle) =>
  waitFor(async () => (await problems(project)).length === 0, { what: 'usable nodes and links' });
const getNode = (project: ProjectHandle, { node_id }: { node_id: string }) =>
  client.get<NodeBody>(`${project.path}/nodes/${node_id}`);

describe('the state of a link between two computes', () => {
  test('a machine sees when the node at the other end starts and stops, and the outages of its schedule', async () => {
    const project = await createProject(client, { replicate_link_state: true });
    const vm = await createNode(client, project, 'qemu', { properties: tinyVm });
    const pc = await createNode(client, project, 'vpcs', { compute_id: computeId });
    const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(pc), end(vm)] });
    await client.post(`${project.path}/nodes/${vm.node_id}/start`, {}, 200);
    const console = await atPrompt(vm);
    await type(console, 'ifopen net0');
    await showsLink(console, 'down');
    await client.post(`${project.path}/nodes/${pc.node_id}/start`, {}, 200);
    await showsLink(console, 'up');
    // The compute of the PC, the first node, runs it.
    const schedule = `${project.path}/links/${link_id}/schedule`;
    const down = { at: 0, suspend: true, filters: { delay: [5] } };
    await client.put(schedule, { steps: [down] });
    await showsLink(console, 'down');
    await client.put(schedule, { steps: [down, { at: 1_000, suspend: false }] });
    await showsLink(console, 'up');
    await client.put(schedule, { steps: [down] });
    await showsLink(console, 'down');
    await client.delete(schedule);
    await showsLink(console, 'up');
    await client.post(`${project.path}/nodes/${pc.node_id}/stop`, {}, 200);
    await showsLink(console, 'down');
    await client.put(project.path, { replicate_link_state: false });
    await showsLink(console, 'up');
    console.close();
    await client.delete(project.path);
  });
});

async function twoPcs() {
  const project = await createProject(client);
  const [here, there] = [await Pc.make(client, project, 1), await Pc.make(client, project, 2, computeId)];
  const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(here.node), end(there.node)] });
  await client.post(`${project.path}/nodes/start`, {}, 204);
  return { project, here, there, link: `${project.path}/links/${link_id}` };
}

/** Waits until the other PC is reached; a failure reports what the link has carried, and how. */
async function untilReached({ project, here, there }: { project: ProjectHandle; here: Pc; there: Pc }, what: string) {
  try {
    await waitFor(() => here.reaches(there), { what });
  } catch (cause) {
    const figures = await client.get(`${project.path}/link_stats`);
    const nodes = [await getNode(project, here.node), await getNode(project, there.node)];
    throw new Error(`${what}: ${JSON.stringify({ figures, nodes, problems: await problems(project) })}`, { cause });
  }
}

describe('a link from one server to the other', () => {
  test('carries frames, and filters and captures work at both ends', async () => {
    const { project, here, there, link } = await twoPcs();
    await untilReached({ project, here, there }, 'an answer from the other server');
    await client.post(`${link}/start_capture`, { capture_file_name: 'across.pcap' });
    await client.put(link, { filters: { frequency_drop: [-1] } }, 201);
    assert.equal(await here.reaches(there), false);
    await client.put(link, { filters: {} }, 201);
    await client.put(link, { suspend: true }, 201);
    assert.equal(await there.reaches(here), false);
    await client.put(link, { suspend: false }, 201);
    assert.equal(await there.reaches(here), true);
    // The other end captures when the first one does not run.
    await client.post(`${link}/stop_capture`, {});
    await client.post(`${project.path}/nodes/${here.node.node_id}/stop`, {}, 200);
    const captured = await client.post<{ capture_compute_id: string }>(`${link}/start_capture`, {});
    assert.equal(captured.capture_compute_id, computeId);
    here.close();
    there.close();
    await client.delete(project.path);
  });
});

describe('a mirror on the other server', () => {
  test('is sent the frames, also after kills of both servers, until it is removed', async () => {
    const project = await createProject(client);
    const pcs = [
      await Pc.make(client, project, 1),
      await Pc.make(client, project, 2),
      await Pc.make(client, project, 3, computeId),
    ];
    const [one, two, far] = pcs as [Pc, Pc, Pc];
    const made = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(one.node), end(two.node)] });
    const link = `${project.path}/links/${made.link_id}`;
    const port = { node_id: far.node.node_id, adapter_number: 0, port_number: 0 };
    await client.post(`${project.path}/nodes/start`, {}, 204);
    assert.deepEqual(await client.put(`${link}/mirror`, port), port);
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    /** Figures of the mirror's port, as its compute sees it; undefined when it has no link. */
    const received = async () => {
      using direct = new RawClient(away.url, { authorization });
      const [figures] = await direct.get<{ carrier: string; to_node: { frames: number } }[]>(
        `/v2/compute/projects/${project.id}/link_stats`,
      );
      return figures;
    };
    const mirrors = async (carrier: string) => {
      /** A server that starts again counts anew; frames may arrive after the ping was answered. */
      let before: number | undefined;
      await waitFor(
        async () => {
          const now = await received();
          const frames = now?.to_node.frames;
          if (frames === undefined) return false;
          if (before === undefined || frames < before) before = frames;
          if (now?.carrier === carrier && frames > before + 1) return true;
          await one.reaches(two);
          return false;
        },
        { what: `frames at the mirror by ${carrier}`, limitMs: 120_000 },
      );
    };
    await mirrors('stream');
    const { mirrors: figures = [] } = await client.get<{ mirrors?: { node_id: string; frames: number }[] }>(`${link}/stats`);
    assert.deepEqual([figures.length, figures[0]?.node_id], [1, far.node.node_id]);
    assert.ok((figures[0]?.frames ?? 0) > 1);
    await client.put(link, { filters: { delay: [1] } }, 201);
    await mirrors('stream');
    await away.kill9();
    await away.restart();
    await isConnected(true);
    await untilUsable(project);
    await mirrors('stream');
    await client.delete(`${link}/mirror`);
    assert.equal(await received(), undefined, 'the port of the mirror is free');
    await client.post(`${project.path}/undo`, {}, 200);
    await mirrors('stream');
    await bench.server.kill9();
    await bench.server.restart();
    await isConnected(true);
    await untilUsable(project);
    assert.deepEqual(await client.get(`${link}/mirror`), port);
    await mirrors('stream');
    assert.equal(await one.reaches(far), false, 'it is no end of the link');
    await client.delete(link);
    assert.equal(await received(), undefined);
    for (const pc of pcs) pc.close();
    await client.delete(project.path);
  });
});

test('the first PCs of two computes have addresses of their own: behind one switch they hear each other', async () => {
  const project = await createProject(client);
  const hub = await createNode(client, project, 'ethernet_switch');
  const pcs = [await Pc.make(client, project, 1), await Pc.make(client, project, 2, computeId)] as const;
  for (const [port, { node }] of pcs.entries())
    await client.post(`${project.path}/links`, { nodes: [end(node), end(hub, 0, port)] });
  await client.post(`${project.path}/nodes/start`, {}, 204);
  await waitFor(() => pcs[0].reaches(pcs[1]), { what: 'an answer through the switch' });
  for (const pc of pcs) pc.close();
  await client.delete(project.path);
});

test('a project that runs on the other server only is closed and continues, whatever is to be kept', async () => {
  const project = await createProject(client);
  const pc = await createNode(client, project, 'vpcs', { compute_id: computeId });
  await client.put(project.path, { on_close: 'freeze' });
  await client.post(`${project.path}/nodes/${pc.node_id}/start`, {}, 200);
  await client.post(`${project.path}/close`, {}, 204);
  await client.post(`${project.path}/open`, {}, 201);
  await waitFor(async () => (await getNode(project, pc)).status === 'started', { what: 'the node, running again' });
  await client.delete(project.path);
});

describe('a compute that goes and comes back', () => {
  test('its nodes are shown as unavailable, the other nodes work, and its nodes recover automatically', async () => {
    const { project, here, there } = await twoPcs();
    const listener = await listen(`${bench.server.url}${project.path}/notifications/ws`);
    await away.terminate();
    await isConnected(false);
    const [problem] = await problems(project);
    assert.equal(problem?.id, there.node.node_id);
    assert.match(problem.message, /The compute away is not connected/);
    assert.match(String((await getNode(project, there.node)).command_line), /Not usable/);
    await listener.find(({ action, event }) => action === 'log.error' && /not connected/.test(String(event.message)), 'the reason');
    expectFault(await client.send(`POST ${project.path}/nodes/${there.node.node_id}/start`, { body: {} }), 409, /away/);
    await client.post(`${project.path}/nodes/${here.node.node_id}/stop`, {}, 200);
    await client.post(`${project.path}/nodes/${here.node.node_id}/start`, {}, 200);
    const alone = await createNode(client, project);

    await away.restart();
    await untilUsable(project);
    await listener.find(
      ({ action, event }) => action === 'node.updated' && event.node_id === there.node.node_id && event.status === 'stopped',
      'the status that it has now',
    );
    await client.post(`${project.path}/nodes/${there.node.node_id}/start`, {}, 200);
    await untilReached({ project, here, there }, 'frames as before');
    await client.delete(`${project.path}/nodes/${alone.node_id}`);
    here.close();
    there.close();
    await listener.close();
    await client.delete(project.path);
  });

  test('one that has lost its state has its nodes and links made again', async () => {
    const { project, here, there } = await twoPcs();
    await away.terminate();
    await Promise.all(['state', 'projects'].map((folder) => rm(join(away.dataDir, folder), { recursive: true })));
    await away.restart();
    await isConnected(true);
    await untilUsable(project);
    // The node is wanted, and its run ended with what the compute has lost.
    const isStarted = async () => (await getNode(project, there.node)).status === 'started';
    await waitFor(isStarted, { what: 'the node that was made again, and started' });
    await untilReached({ project, here, there }, 'frames on the link that was made again');
    here.close();
    there.close();
    await client.delete(project.path);
  });

  test('a project is opened without it, and complete when it is back', async () => {
    const { project, here, there } = await twoPcs();
    await client.post(`${project.path}/close`, {}, 204);
    await away.terminate();
    await isConnected(false);
    expectStatus(await client.send(`POST ${project.path}/open`), 201);
    assert.deepEqual(
      (await problems(project)).map(({ id }) => id),
      [there.node.node_id],
    );
    expectStatus(await client.send(`POST ${project.path}/nodes/${here.node.node_id}/start`, { body: {} }), 200);
    await away.restart();
    await untilUsable(project);
    await client.post(`${project.path}/nodes/${there.node.node_id}/start`, {}, 200);
    await untilReached({ project, here, there }, 'frames on a link that could not be made at the opening');
    here.close();
    there.close();
    await client.delete(project.path);
  });

  test('a project that is closed meanwhile is closed there when it is back', async () => {
    const { project, here, there } = await twoPcs();
    here.close();
    there.close();
    // The compute dies; its emulators keep running.
    await away.kill9();
    await isConnected(false);
    await client.post(`${project.path}/close`, {}, 204);
    await away.restart();
    await isConnected(true);
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    using direct = new RawClient(away.url, { authorization });
    const open = () => direct.get<{ project_id: string }[]>('/v2/compute/projects');
    await waitFor(async () => !(await open()).some(({ project_id }) => project_id === project.id), {
      what: 'the end of the project there',
    });
    await client.delete(project.path);
  });

  test('wrong credentials are reported at once, and correcting them recovers the compute', async () => {
    const path = `/v2/computes/${computeId}`;
    await client.put(path, { password: 'wrong' });
    const reason = async () => (await client.get<ComputeBody>(path)).last_error ?? '';
    assert.match(
      await waitFor(async () => /does not accept/.test(await reason()) && reason(), { what: 'a reason' }),
      /user and password/,
    );
    await client.put(path, { password });
    await isConnected(true);
    assert.equal((await client.get<ComputeBody>(path)).last_error, null);
  });
});

describe('computes that a project file names', () => {
  test('are not registered by opening the project; after a client registers them, their nodes can be used', async () => {
    const otherId = randomUUID();
    const project = await createProject(client);
    const node = await createNode(client, project);
    await client.post(`${project.path}/close`, {}, 204);
    const { path, filename } = await client.get<{ path: string; filename: string }>(project.path);
    const file = JSON.parse(await readFile(join(path, filename), 'utf8'));
    file.topology.nodes[0].compute_id = otherId;
    file.topology.computes = [{ compute_id: otherId, host: '127.0.0.1', name: 'silently', port: away.port, protocol: 'http' }];
    await writeFile(join(path, filename), JSON.stringify(file));
    await rm(join(path, `${filename}.log`), { force: true });
    expectStatus(await client.send(`POST ${project.path}/open`), 201);
    expectStatus(await client.send(`GET /v2/computes/${otherId}`), 404);
    assert.deepEqual(
      (await problems(project)).map(({ id }) => id),
      [node.node_id],
    );
    expectFault(await client.send(`POST ${project.path}/nodes/${node.node_id}/start`, { body: {} }), 404, new RegExp(otherId));

    await client.post('/v2/computes', { compute_id: otherId, name: 'asked-for', ...address() });
    await untilUsable(project);
    await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
    await client.delete(project.path);
    await client.delete(`/v2/computes/${otherId}`);
  });
});

describe('an image that only the controller has', () => {
  const qemu = (hda_disk_image: string, more = {}) => ({ compute_id: computeId, properties: { hda_disk_image, ...more } });
  const imageOf = async (size: number) => {
    const name = `${freshName('image')}.img`;
    const content = Buffer.alloc(size, name);
    await mkdir(join(bench.server.dataDir, 'images/QEMU'), { recursive: true });
    await writeFile(join(bench.server.dataDir, 'images/QEMU', name), content);
    return { name, content, md5sum: createHash('md5').update(content).digest('hex') };
  };

  test('is sent once to each compute that needs it, and listeners receive its progress', async () => {
    const project = await createProject(client);
    const listener = await listen(`${bench.server.url}${project.path}/notifications/ws`);
    const { name, content, md5sum } = await imageOf(3_000_000);
    const nodes = await Promise.all([1, 2, 3].map(() => createNode(client, project, 'qemu', qemu(name))));
    for (const node of nodes) assert.equal(node.properties.hda_disk_image_md5sum, md5sum);
    assert.deepEqual(await readFile(join(away.dataDir, 'images/QEMU', name)), content);
    const isSaid = ({ action, event }: { action: string; event: Record<string, unknown> }) =>
      action === 'log.info' && String(event.message).startsWith(`Sending the missing image ${name}`);
    assert.equal(listener.notices().filter(isSaid).length, 1);
    const last = { compute_id: computeId, image: name, done_bytes: content.length, total_bytes: content.length };
    assert.deepEqual(listener.notices().findLast(({ action }) => action === 'image.progress')?.event, last);
    const other = await imageOf(2000);
    const [node] = nodes;
    await client.put(`${project.path}/nodes/${node?.node_id}`, { properties: { hdb_disk_image: other.name } });
    assert.ok((await readdir(join(away.dataDir, 'images/QEMU'))).includes(other.name));
    await listener.close();
    await client.delete(project.path);
  });

  test('stays here when it is another one than the project means, and names lead nowhere else', async () => {
    const project = await createProject(client);
    const { name } = await imageOf(5000);
    const sum = { hda_disk_image_md5sum: '0'.repeat(32) };
    const reply = await client.send(`POST ${project.path}/nodes`, { body: { name: 'X', node_type: 'qemu', ...qemu(name, sum) } });
    expectFault(reply, 409, new RegExp(name));
    await writeFile(join(bench.server.dataDir, 'secret.img'), 'secret content of another folder');
    for (const way of ['../../secret.img', '../secret.img', 'nowhere.img', '..'])
      expectStatus(await client.send(`POST ${project.path}/nodes`, { body: { name: 'X', node_type: 'qemu', ...qemu(way) } }), 409);
    assert.deepEqual(
      (await readdir(join(away.dataDir, 'images/QEMU'))).filter((file) => file === name || file.includes('secret')),
      [],
    );
    await client.delete(project.path);
  });
});

/** Kinds whose computes make a node without its image: a property that names one, and the first bytes of an image. */
const madeWithout = [
  { node_type: 'iou', property: 'path', properties: {}, head: '7f454c46010101' },
  { node_type: 'dynamips', property: 'image', properties: { platform: 'c3725', ram: 128 }, head: '7f454c46010201' },
] as const;
for (const { node_type, property, properties, head } of madeWithout)
  test(`an image of ${node_type} that only the controller has is sent, and one that neither has is named`, async () => {
    const project = await createProject(client, { auto_close: false });
    const name = `${freshName('image')}.bin`;
    const raw = Buffer.concat([Buffer.from(head, 'hex'), Buffer.alloc(600)]);
    expectStatus(await client.send(`POST /v2/compute/${node_type}/images/${name}`, { raw }), 204);
    const make = (image: string) =>
      createNode(client, project, node_type, { compute_id: computeId, properties: { ...properties, [property]: image } });
    const complete = await make(name);
    assert.doesNotMatch(String((await getNode(project, complete)).command_line), /not found/);
    assert.deepEqual(await problems(project), []);
    const lacking = await make('nowhere.bin');
    assert.deepEqual(
      (await problems(project)).map(({ id }) => id),
      [lacking.node_id],
    );
    assert.match(String((await getNode(project, lacking)).command_line), /"nowhere\.bin" was not found/);
  });

test('a node there that lacks its image is copied with its project, with its files and links, open or closed, and alone', async () => {
  const project = await createProject(client);
  const properties = { hda_disk_image: 'nowhere.qcow2', ram: 64 };
  const lacking = await createNode(client, project, 'qemu', { compute_id: computeId, properties, strict: false });
  const pc = await createNode(client, project);
  await client.post(`${project.path}/links`, { nodes: [end(lacking), end(pc)] });
  const file = 'files/config/user-data';
  expectStatus(await client.send(`POST ${project.path}/nodes/${lacking.node_id}/${file}`, { raw: 'of A' }), 201);
  const holds = async (path: string) => {
    const nodes = await client.get<NodeBody[]>(`${path}/nodes`);
    const copy = nodes.find(({ node_type }) => node_type === 'qemu');
    assert.deepEqual([copy?.compute_id, copy?.properties.hda_disk_image, nodes.length], [computeId, 'nowhere.qcow2', 2]);
    assert.equal((await client.get<unknown[]>(`${path}/links`)).length, 1);
    assert.equal((await client.send(`GET ${path}/nodes/${copy?.node_id}/${file}`)).text(), 'of A');
    assert.match(JSON.stringify(await client.get(`${path}/problems`)), /nowhere\.qcow2/);
  };
  const copies: string[] = [];
  for (const isOpen of [true, false]) {
    if (!isOpen) await client.post(`${project.path}/close`, {}, 204);
    const { project_id } = await client.post<{ project_id: string }>(`${project.path}/duplicate`, { name: freshName('twin') });
    copies.push(`/v2/projects/${project_id}`);
    await client.post(`/v2/projects/${project_id}/open`);
    await holds(`/v2/projects/${project_id}`);
  }
  await client.post(`${project.path}/open`);
  const copy = await client.post<NodeBody>(`${project.path}/nodes/${lacking.node_id}/duplicate`, { x: 5, y: 6 });
  assert.deepEqual([copy.compute_id, copy.properties.hda_disk_image], [computeId, 'nowhere.qcow2']);
  assert.equal((await client.send(`GET ${project.path}/nodes/${copy.node_id}/${file}`)).text(), 'of A');
  // A container image or an engine is lacking there like a disk image.
  const container = { name: 'C', node_type: 'docker', compute_id: computeId, properties: { image: 'absent.invalid/none:1' } };
  expectStatus(await client.send(`POST ${project.path}/nodes`, { body: container, limitMs: 60_000 }), 409);
  const { nodes: made } = await client.post<{ nodes: NodeBody[] }>(`${project.path}/bulk`, { nodes: [container] });
  const said = (await problems(project)).find(({ id }) => id === made[0]?.node_id)?.message;
  assert.match(String(said), /Docker engine|absent\.invalid/);
  for (const path of [project.path, ...copies]) await client.delete(path);
});

test('an image is downloaded to the compute by way of this server, whole or not at all', async () => {
  const folder = join(away.dataDir, 'images/QEMU');
  const path = `/v2/computes/${computeId}/image_downloads`;
  const wanted = (place: string, fields: object = {}) => ({
    body: { node_type: 'qemu', url: `${source.origin}${place}`, filename: 'fetched.img', ...fields },
  });
  const last = async (place: string, fields?: object) =>
    expectStatus(await client.send(`POST ${path}`, wanted(place, fields)), 200)
      .text()
      .trim()
      .split('\n')
      .at(-1) ?? '';
  const unfinished = async () => (await readdir(folder)).filter((name) => name.endsWith('.tmp'));
  assert.match(await last('/disk.img', { sha256: '0'.repeat(64) }), /SHA-256 checksum is not 0/);
  assert.match(await last('/cut'), /the connection failed/);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'short.img'), 'x');
  assert.match(await last('/disk.img', { filename: 'short.img' }), /file of this name already/);
  const half = await fetch(`${bench.server.url}${path}`, { method: 'POST', body: JSON.stringify(wanted('/half').body) });
  await waitFor(async () => (await unfinished()).length === 1, { what: 'a part of the image' });
  await half.body?.cancel();
  await waitFor(async () => (await unfinished()).length === 0, { what: 'the end of the download' });
  assert.deepEqual(JSON.parse(await last('/disk.img', { filename: 'whole.img' })), {
    filename: 'whole.img',
    filesize: imageBytes.length,
  });
  assert.deepEqual(await readFile(join(folder, 'whole.img')), imageBytes);
  assert.ok(!(await readdir(folder)).includes('fetched.img'));
});
