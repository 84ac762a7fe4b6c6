/** What the controller does with its compute; the compute only remembers (see in-memory-compute.ts for why). */
import assert from 'node:assert/strict';
import { lstat, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { pino } from 'pino';
import { type FaultCode, isFault } from '../api/faults.ts';
import { LocalTransport } from '../api/local-transport.ts';
import type { Method } from '../api/route.ts';
import type { Link } from '../schema/link.ts';
import type { Settings } from '../schema/settings.ts';
import { Controller } from './controller.ts';
import { InMemoryCompute } from './in-memory-compute.ts';
import type { NodeObject } from './node.ts';
import type { Notice } from './project-host.ts';

interface ProjectAnswer {
  readonly project_id: string;
  readonly path: string;
  readonly filename: string;
  readonly status: string;
}

let folder: string;
let compute: InMemoryCompute;
let controller: Controller;
let api: LocalTransport;
let project: ProjectAnswer;
let seen: Notice[];

async function start(): Promise<void> {
  const Server = { host: '127.0.0.1', port: 3080, local: true, user: '', configs_path: folder, projects_path: join(folder, 'projects') };
  const settings = { Server, dataDirectory: folder } as unknown as Settings;
  controller = await Controller.open({ settings, log: pino({ level: 'silent' }), version: '2.2.60', compute });
  api = new LocalTransport({ routes: controller.routes(), events: compute.events, capabilities: { version: null, node_types: [] } });
}

/** A request, with its body validated, as it would come over HTTP. */
async function ask<T>(request: string, body: unknown = {}): Promise<T> {
  const [method, path = ''] = request.split(' ');
  const answer = await api.raw(method as Method, `/v2${path}`, Buffer.from(JSON.stringify(body)));
  assert.ok(answer.body instanceof Uint8Array);
  return answer.body.length === 0 ? (undefined as T) : JSON.parse(Buffer.from(answer.body).toString('utf8'));
}

const inProject = <T>(request: string, body?: unknown) => {
  const [method, path = ''] = request.split(' ');
  return ask<T>(`${method} /projects/${project.project_id}${path}`, body);
};
const addNode = (name: string, more = {}) =>
  inProject<NodeObject>('POST /nodes', { name, node_type: 'vpcs', compute_id: 'local', ...more });
const end = (node: NodeObject, port = 0) => ({ node_id: node.node_id, adapter_number: 0, port_number: port });
const addLink = (one: NodeObject, other: NodeObject, more = {}) => inProject<Link>('POST /links', { nodes: [end(one), end(other)], ...more });
const refusal = (code: FaultCode) => (error: unknown) => isFault(error, code);
const stats = () => inProject('GET /stats');
const actions = () => seen.map((notice) => notice.action);

async function restart(): Promise<void> {
  await controller.close();
  await start();
}

describe('controller', () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchbay-controller-'));
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    compute = new InMemoryCompute();
    await start();
    project = await ask<ProjectAnswer>('POST /projects', { name: `p${crypto.randomUUID()}` });
    seen = [];
    controller.projects.get(project.project_id).notices.subscribe((notice) => seen.push(notice));
  });
  afterEach(() => controller.close());

  describe('nodes', () => {
    it('are made with names of their own, also at the same time', async () => {
      const made = await Promise.all(Array.from({ length: 20 }, () => addNode('PC{0}')));
      assert.equal(new Set(made.map((node) => node.name)).size, 20);
      assert.equal(actions().filter((action) => action === 'node.created').length, 20);
    });

    it('that are refused leave nothing: name, node, event', async () => {
      compute.refused.add('/vpcs/nodes');
      await assert.rejects(addNode('PC1'), refusal('node_failed'));
      compute.refused.clear();
      assert.deepEqual([(await addNode('PC1')).name, compute.nodes.size, actions()], ['PC1', 1, ['node.created']]);
    });

    it('of a type that is not there are refused', () => assert.rejects(addNode('x', { node_type: 'iou' }), refusal('node_type_unavailable')));

    it('show their status at once, tell it once, and are not logged for it', async () => {
      const node = await addNode('PC1');
      seen = [];
      const started = await inProject<NodeObject>(`POST /nodes/${node.node_id}/start`);
      assert.equal(started.status, 'started');
      assert.deepEqual(actions(), ['node.updated']);
      compute.tell(node.node_id, { status: 'stopped' });
      assert.equal((await inProject<NodeObject>(`GET /nodes/${node.node_id}`)).status, 'stopped');
      const log = await readFile(join(project.path, `${project.filename}.log`), 'utf8');
      assert.equal(log.match(/"node\.updated"/g), null);
    });

    it('take a port that their compute reports, durably', async () => {
      const node = await addNode('PC1');
      compute.tell(node.node_id, { console: 7777 });
      // The change is made when nothing else is done with the node: a request for it comes after.
      await inProject(`PUT /nodes/${node.node_id}`, { x: 3 });
      await restart();
      const [found] = await inProject<NodeObject[]>('GET /nodes');
      assert.deepEqual([found?.console, found?.x], [7777, 3]);
    });

    it('move without a word to the compute; what did not change is not told', async () => {
      const node = await addNode('PC1');
      compute.calls.length = 0;
      seen = [];
      const moved = await inProject<NodeObject>(`PUT /nodes/${node.node_id}`, { ...node, x: 5, status: 'started', width: 1 });
      assert.deepEqual([moved.x, moved.status, moved.width, compute.calls, actions()], [5, 'stopped', 65, [], ['node.updated']]);
      await inProject(`PUT /nodes/${node.node_id}`, { x: 5, properties: {} });
      assert.equal(seen.length, 1);
    });

    it('are renamed: the label follows, the old name is free, a taken one is numbered', async () => {
      const [one, other] = [await addNode('PC1'), await addNode('PC2')];
      const renamed = await inProject<NodeObject>(`PUT /nodes/${one.node_id}`, { name: 'PC2', label: { text: 'x', x: 3 } });
      assert.deepEqual([renamed.name, renamed.label], ['PC1', { text: 'PC1', x: 3 }]);
      await inProject(`PUT /nodes/${other.node_id}`, { name: 'R1' });
      assert.equal((await addNode('PC2')).name, 'PC2');
      assert.equal(compute.nodes.get(other.node_id)?.name, 'R1');
    });

    it('go with their links, and are told to be gone once', async () => {
      const [one, other] = [await addNode('PC1'), await addNode('PC2')];
      await addLink(one, other);
      seen = [];
      await inProject(`DELETE /nodes/${one.node_id}`);
      assert.deepEqual(actions().filter((action) => action !== 'node.deleting'), ['link.deleted', 'node.deleted']);
      assert.deepEqual([compute.nodes.size, compute.nios.size, await stats()], [1, 0, { drawings: 0, links: 0, nodes: 1, snapshots: 0 }]);
      await restart();
      assert.equal((await inProject<NodeObject[]>('GET /nodes')).length, 1);
    });

    it('that are locked stay', async () => {
      const node = await addNode('PC1', { locked: true });
      await assert.rejects(inProject(`DELETE /nodes/${node.node_id}`), refusal('node_locked'));
    });

    it('are all attempted, then one error is told', async () => {
      const nodes = [await addNode('PC1'), await addNode('PC2'), await addNode('PC3')];
      compute.nodes.delete(nodes[0]?.node_id ?? '');
      await assert.rejects(inProject('POST /nodes/start'), refusal('node_not_found'));
      assert.deepEqual((await inProject<NodeObject[]>('GET /nodes')).map((node) => node.status), ['stopped', 'started', 'started']);
    });
  });

  describe('links', () => {
    let one: NodeObject;
    let other: NodeObject;
    beforeEach(async () => {
      [one, other] = [await addNode('PC1'), await addNode('PC2')];
      seen = [];
    });

    it('join both ends, with the filters at the first', async () => {
      const link = await addLink(one, other, { filters: { delay: [10, 0], packet_loss: [0] }, suspend: true });
      assert.deepEqual([link.filters, link.suspend, link.nodes[0]?.label?.text], [{ delay: [10, 0] }, true, '0/0']);
      const [a, b] = [compute.nios.get(`${one.node_id}/0/0`), compute.nios.get(`${other.node_id}/0/0`)];
      assert.deepEqual([a?.filters, b?.filters, a?.suspend, b?.suspend], [{ delay: [10, 0] }, {}, true, true]);
      assert.deepEqual([a?.lport, a?.rport, a?.rhost], [b?.rport, b?.lport, '127.0.0.1']);
      assert.deepEqual(actions(), ['link.created']);
    });

    const refusals: [string, () => unknown, FaultCode][] = [
      ['no ends', () => ({}), 'link_ends'],
      ['three ends', () => ({ nodes: [end(one), end(other), end(one)] }), 'link_ends'],
      ['one node twice', () => ({ nodes: [end(one), end(one, 1)] }), 'link_itself'],
      ['an unknown node', () => ({ nodes: [end(one), { ...end(other), node_id: project.project_id }] }), 'node_not_found'],
      ['an unknown port', () => ({ nodes: [end(one), end(other, 9)] }), 'port_not_found'],
      ['an unknown filter', () => ({ nodes: [end(one), end(other)], filters: { nonsense: [1] } }), 'filter_invalid'],
    ];
    for (const [what, body, code] of refusals) {
      it(`are refused with ${what}, and nothing is left`, async () => {
        await assert.rejects(inProject('POST /links', body()), refusal(code));
        assert.deepEqual([compute.nios.size, actions(), await inProject('GET /links')], [0, [], []]);
        await addLink(one, other);
      });
    }

    it('to the same port at once: one is made', async () => {
      const third = await addNode('PC3');
      const results = await Promise.allSettled([addLink(one, other), addLink(other, third), addLink(third, one)]);
      const refused = results.filter((result) => result.status === 'rejected');
      assert.equal(refused.length, 2);
      for (const { reason } of refused) assert.ok(isFault(reason, 'port_taken'));
      assert.equal(compute.nios.size, 2);
    });

    it('that one end refuses are taken back, and no UDP port is lost', async () => {
      const ports = compute.udpPort;
      compute.refused.add('/nio');
      await assert.rejects(addLink(one, other), refusal('node_failed'));
      compute.refused.clear();
      assert.equal(compute.nios.size, 0);
      await addLink(one, other);
      assert.equal(compute.udpPort, ports + 2);
    });

    it('take a whole link back, and only what may be changed is', async () => {
      const link = await addLink(one, other);
      seen = [];
      await inProject(`PUT /links/${link.link_id}`, link);
      assert.deepEqual(seen, []);
      const nodes = [{ ...end(other), label: { text: 'right' } }, { ...end(one, 7), label: { text: 'nowhere' } }];
      const changed = await inProject<Link>(`PUT /links/${link.link_id}`, { filters: { packet_loss: [3] }, nodes, suspend: true, capturing: true });
      assert.deepEqual(changed.nodes.map(({ label }) => label?.text), ['0/0', 'right']);
      assert.deepEqual([changed.filters, changed.suspend, changed.capturing], [{ packet_loss: [3] }, true, false]);
      assert.deepEqual(compute.nios.get(`${one.node_id}/0/0`)?.filters, { packet_loss: [3] });
      assert.deepEqual(actions(), ['link.updated']);
    });

    it('keep their filters when a compute refuses new ones', async () => {
      const link = await addLink(one, other, { filters: { delay: [1] } });
      compute.refused.add('PUT /projects/{project_id}/vpcs/nodes/{node_id}/adapters/{adapter_number}/ports/{port_number}/nio');
      await assert.rejects(inProject(`PUT /links/${link.link_id}`, { filters: { delay: [2] } }), refusal('node_failed'));
      assert.deepEqual((await inProject<Link>(`GET /links/${link.link_id}`)).filters, { delay: [1] });
    });

    it('are the same for the compute after the server died: ports, filters, suspension', async () => {
      await addLink(one, other, { filters: { delay: [10] }, suspend: true });
      const before = structuredClone([...compute.nios]);
      const ports = compute.udpPort;
      await inProject(`POST /nodes/${one.node_id}/start`);
      // Nothing is told to it: as after SIGKILL, but for the files' handles.
      await restart();
      const nodes = await inProject<NodeObject[]>('GET /nodes');
      assert.deepEqual([nodes[0]?.status, [...compute.nios], compute.udpPort], ['started', before, ports]);
    });

    it('come back with filters and suspension when the project is closed and opened', async () => {
      await addLink(one, other, { filters: { delay: [10] }, suspend: true });
      await inProject('POST /close');
      assert.equal(compute.nios.size, 0);
      const [stored] = await inProject<Link[]>('GET /links');
      assert.deepEqual([stored?.suspend, stored && 'capturing' in stored], [true, false]);
      await inProject('POST /open');
      const nio = compute.nios.get(`${one.node_id}/0/0`);
      assert.deepEqual([nio?.suspend, nio?.filters], [true, { delay: [10] }]);
    });

    it('that cannot be written are not made', async () => {
      const live = await controller.projects.get(project.project_id).live();
      await live.writeSnapshot();
      await inProject('POST /close');
      await rm(join(project.path, `${project.filename}.log`));
      await symlink('/dev/full', join(project.path, `${project.filename}.log`));
      await inProject('POST /open');
      await assert.rejects(addLink(one, other), refusal('storage_failed'));
      assert.deepEqual([compute.nios.size, await inProject('GET /links')], [0, []]);
      await assert.rejects(inProject(`DELETE /nodes/${one.node_id}`), refusal('storage_failed'));
      await assert.rejects(inProject(`PUT /nodes/${one.node_id}`, { x: 9 }), refusal('storage_failed'));
      assert.deepEqual([compute.nodes.size, (await inProject<NodeObject>(`GET /nodes/${one.node_id}`)).x], [2, 0]);
    });
  });

  describe('projects', () => {
    it('open although a node cannot be made, and say why', async () => {
      const node = await addNode('PC1');
      await inProject('POST /close');
      seen = [];
      compute.refused.add('/vpcs/nodes');
      assert.equal((await inProject<ProjectAnswer>('POST /open')).status, 'opened');
      assert.deepEqual(actions(), ['log.error']);
      compute.refused.clear();
      assert.equal((await inProject<NodeObject>(`POST /nodes/${node.node_id}/start`)).status, 'started');
    });

    it('are refused with names that cannot be files, and leave no folder', async () => {
      for (const name of ['a/b', '..', '.', 'a\\b', ' ', 'x'.repeat(250)]) {
        await assert.rejects(ask('POST /projects', { name }), refusal('project_name_invalid'), name);
      }
    });

    it('of one name: one is made, also at the same time', async () => {
      const results = await Promise.allSettled(Array.from({ length: 5 }, () => ask('POST /projects', { name: 'twice' })));
      assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1);
    });

    it('that are damaged are left out and left alone', async () => {
      const file = join(project.path, project.filename);
      await inProject('POST /close');
      await controller.close();
      await writeFile(file, '{ not a project');
      await start();
      await assert.rejects(inProject('GET '), refusal('project_not_found'));
      assert.equal(await readFile(file, 'utf8'), '{ not a project');
      const same = { name: 'another', project_id: project.project_id };
      await assert.rejects(ask('POST /projects', same), refusal('project_path_taken'));
    });

    it('go with their folder', async () => {
      await addNode('PC1');
      await inProject('DELETE ');
      await assert.rejects(lstat(project.path), { code: 'ENOENT' });
      await assert.rejects(inProject('GET '), refusal('project_not_found'));
    });
  });
});
