/** Storage-only kinds: a project keeps its nodes completely, and commands that need the emulator name what is missing. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { expectFault } from '../support/raw-http.ts';
import { createProject, end, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';

const bench = await withServer();
const { client } = bench;

interface Row {
  readonly type: string;
  readonly properties: Record<string, unknown>;
  /** A change, as the node's properties show it. */
  readonly change: Record<string, unknown>;
  readonly exception: string;
  /** Statuses of verbs that are the kind's own, besides those all kinds have. */
  readonly own: Record<string, number>;
  readonly startBody?: Record<string, unknown>;
}

const rows: readonly Row[] = [
  {
    type: 'virtualbox',
    properties: { vmname: 'old', adapters: 2, ram: 1024 },
    change: { headless: true, adapters: 4 },
    exception: 'VirtualBoxError',
    own: { 'POST suspend': 204, 'POST resume': 409, 'POST reload': 204, 'POST console/reset': 204 },
  },
  {
    type: 'vmware',
    properties: { vmx_path: '/gone/a.vmx', linked_clone: true, adapters: 1 },
    change: { on_close: 'save_vm_state', use_any_adapter: true },
    exception: 'VMwareError',
    own: { 'POST suspend': 204, 'POST resume': 409, 'POST reload': 204, 'POST interfaces/vmnet': 409 },
  },
  {
    type: 'traceng',
    properties: { ip_address: '10.0.0.1' },
    change: { default_destination: 'example.net' },
    exception: 'TraceNGError',
    own: { 'POST suspend': 204, 'POST reload': 204 },
    startBody: { destination: '10.0.0.2' },
  },
];
const hasCopies = ({ type }: Row) => type !== 'virtualbox' && type !== 'vmware';

let project: ProjectHandle;
const nodes = new Map<string, NodeBody>();
const nodeOf = (row: Row) => nodes.get(row.type) as NodeBody;
const computeNode = (row: Row) => `${project.computePath}/${row.type}/nodes/${nodeOf(row).node_id}`;

before(async () => {
  const configs = join(bench.server.dataDir, 'configs');
  await mkdir(configs, { recursive: true });
  await writeFile(join(configs, 'router.txt'), 'hostname %h\nend\n');
  project = await createProject(client);
  for (const { type, properties } of rows) {
    const body = { name: `${type}{0}`, node_type: type, compute_id: 'local', properties, x: 7 };
    nodes.set(type, await client.post<NodeBody>(`${project.path}/nodes`, body));
  }
});

test('a machine of VirtualBox has a folder only when it is a linked clone', async () => {
  const row = rows.find(({ type }) => type === 'virtualbox') as Row;
  const path = `${project.path}/nodes/${nodeOf(row).node_id}`;
  assert.equal((await client.get<NodeBody>(path)).node_directory, null);
  const clone = await client.put<NodeBody>(path, { properties: { linked_clone: true } });
  assert.match(String(clone.node_directory), /project-files\/virtualbox\//);
  assert.equal((await client.put<NodeBody>(path, { properties: { linked_clone: false } })).node_directory, null);
});

describe('a node of a kind that is not run here', () => {
  for (const row of rows) {
    test(`${row.type}: is made and changed with all its properties, and linked`, async () => {
      const given = row.properties;
      const node = nodeOf(row);
      for (const [key, value] of Object.entries(given)) assert.deepEqual(node.properties[key], value, key);
      const changed = await client.put<NodeBody>(`${project.path}/nodes/${node.node_id}`, { properties: row.change });
      for (const [key, value] of Object.entries({ ...given, ...row.change })) {
        assert.deepEqual(changed.properties[key], value, key);
      }
      const peer = await client.post<NodeBody>(`${project.path}/nodes`, { name: 'PC{0}', node_type: 'vpcs', compute_id: 'local' });
      const link = await client.post(`${project.path}/links`, { nodes: [end(node), end(peer)], filters: { latency: [5] } });
      assert.deepEqual(link.filters, { latency: [5] });
    });

    test(`${row.type}: a start names what is missing, to clients and to controllers`, async () => {
      const start = `/nodes/${nodeOf(row).node_id}/start`;
      const said = expectFault(await client.send(`POST ${project.path}${start}`, { body: row.startBody ?? {} }), 409);
      assert.match(String(said.message), /^This compute cannot start .*: .+\. .+$/);
      const compute = expectFault(await client.send(`POST ${computeNode(row)}/start`, { body: row.startBody ?? {} }), 409);
      assert.equal(compute.exception, row.exception);
      const node = await client.get<NodeBody>(`${project.path}/nodes/${nodeOf(row).node_id}`);
      assert.equal(node.status, 'stopped');
    });

    test(`${row.type}: has the routes that clients know`, async () => {
      const port = '/adapters/0/ports/0';
      const wanted: Record<string, number> = {
        ...row.own,
        'POST stop': 204,
        [`POST ${port}/start_capture`]: 200,
        [`POST ${port}/stop_capture`]: 204,
        [`GET ${port}/pcap`]: 409,
      };
      for (const [line, status] of Object.entries(wanted)) {
        const [method, verb = ''] = line.split(' ');
        const body = verb.endsWith('start_capture') ? { capture_file_name: `${row.type}.pcap` } : {};
        const path = `${computeNode(row)}/${verb}`.replace('//', '/');
        const { status: got, text } = await client.send(`${method} ${path}`, method === 'GET' ? {} : { body });
        assert.equal(got, status, `${line}: ${text}`);
      }
    });
  }

  test('lists of missing emulators are refused; images are listed, uploaded and downloaded', async () => {
    for (const path of ['/v2/compute/virtualbox/vms', '/v2/compute/vmware/vms']) expectFault(await client.send(`GET ${path}`), 409);
    const ios = Buffer.concat([Buffer.from('7f454c46010201', 'hex'), Buffer.alloc(64)]);
    const iou = Buffer.concat([Buffer.from('7f454c46010101', 'hex'), Buffer.alloc(64)]);
    for (const [type, content] of [
      ['dynamips', ios],
      ['iou', iou],
    ] as const) {
      assert.equal((await client.send(`POST /v2/compute/${type}/images/${type}.bin`, { raw: content })).status, 204);
      const list = await client.get<{ filename: string; filesize: number }[]>(`/v2/compute/${type}/images`);
      assert.deepEqual(
        list.map(({ filename, filesize }) => [filename, filesize]),
        [[`${type}.bin`, content.length]],
      );
      assert.equal((await client.send(`GET /v2/compute/${type}/images/${type}.bin`)).status, 200);
    }
  });

  test('copies have files and properties of their own where the kind has copies', async () => {
    for (const row of rows) {
      const path = `POST ${project.path}/nodes/${nodeOf(row).node_id}/duplicate`;
      if (!hasCopies(row)) {
        expectFault(await client.send(path, { body: { x: 1, y: 1 } }), 409);
        continue;
      }
      const copy = await client.post<NodeBody>(path.slice('POST '.length), { x: 1, y: 1 });
      assert.equal(copy.name, `${row.type}2`);
    }
  });

  test('after closing and opening, the project is unchanged', async () => {
    const read = async () => ({
      nodes: await client.get<NodeBody[]>(`${project.path}/nodes`),
      links: await client.get(`${project.path}/links`),
    });
    const was = await read();
    for (const verb of ['close', 'open']) await client.send(`POST ${project.path}/${verb}`);
    const byId = (list: NodeBody[]) => [...list].sort((one, other) => (one.node_id < other.node_id ? -1 : 1));
    const is = await read();
    assert.deepEqual(byId(is.nodes), byId(was.nodes));
    assert.deepEqual(is.links, was.links);
  });
});
