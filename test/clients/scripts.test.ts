/** Libraries and command lines: gns3fy, Ansible, Terraform, curl, a proxy, and clients that parse the text instead of JSON. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { before, describe, test } from 'node:test';
import type { Link } from '../../src/schema/link.ts';
import { expectStatus } from '../support/raw-http.ts';
import { createNode, createProject, freshName, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';
import { clientProgram, hasKeys } from './client-program.ts';

const { server, client } = await withServer();
type Body = Record<string, unknown>;

describe('gns3fy and the Ansible collection', () => {
  const credentials = `Basic ${Buffer.from('admin:secret').toString('base64')}`;
  const python = { 'user-agent': 'python-requests/2.31.0', accept: 'application/json', authorization: credentials };
  const speak = clientProgram(client, python);
  const json = async <T = Body>(line: string, status: number, body?: unknown): Promise<T> =>
    (await speak(line, status, body === undefined ? {} : { body })).json<T>();
  const nodeTypes =
    'cloud nat ethernet_hub ethernet_switch frame_relay_switch atm_switch docker dynamips vpcs traceng virtualbox vmware iou qemu';
  const consoleTypes = ['vnc', 'telnet', 'http', 'https', 'spice', 'spice+agent', 'none', null];
  let project: Body;
  let path: string;

  /**
   * Creates a node as the library does: the template by its name, the node of it, and then all it knows about the node again.
   */
  async function create(template_name: string): Promise<NodeBody> {
    const templates = await json<{ name: string; template_id: string }[]>('GET /v2/templates', 200);
    const template = templates.find(({ name }) => name === template_name)?.template_id;
    const made = await json<NodeBody>(`POST ${path}/templates/${template}`, 201, { x: 0, y: 0, compute_id: 'local' });
    const known = 'name node_type console console_type console_auto_start compute_id custom_adapters first_port_name label locked';
    const rest =
      'port_name_format port_segment_size properties symbol x y z node_directory status template_id node_id project_id ports';
    const cached = Object.fromEntries(`${known} ${rest}`.split(' ').map((key) => [key, made[key]]));
    return json<NodeBody>(`PUT ${path}/nodes/${made.node_id}`, 200, cached);
  }

  before(async () => {
    hasKeys(await json('GET /v2/version', 200), 'version local');
    project = await json('POST /v2/projects', 201, { name: freshName('gns3fy') });
    path = `/v2/projects/${project.project_id}`;
  });

  test('a lab: nodes of templates by name, links by names of ports, values within its lists', async () => {
    const [pc, hub] = [await create('VPCS'), await create('Ethernet hub')];
    for (const node of await json<NodeBody[]>(`GET ${path}/nodes`, 200)) {
      assert.ok(nodeTypes.split(' ').includes(String(node.node_type)));
      assert.ok(consoleTypes.includes(node.console_type as string | null));
      assert.ok(['stopped', 'started', 'suspended'].includes(node.status));
    }
    const port = (node: NodeBody, name: string) => {
      const found = (node.ports as Body[]).find((one) => one.name === name) ?? assert.fail(`${name} is no port`);
      const { adapter_number, port_number } = found;
      return { node_id: node.node_id, adapter_number, port_number, label: { text: name } };
    };
    const link = await json(`POST ${path}/links`, 201, { nodes: [port(pc, 'Ethernet0'), port(hub, 'Ethernet1')] });
    assert.equal(link.link_type, 'ethernet');
    const of = await json<Body[]>(`GET ${path}/nodes/${pc.node_id}/links`, 200);
    // Labels in a list always have a style, also one created without it.
    const ends = (one: unknown) =>
      (one as Link).nodes.map(({ label, ...end }) => ({ ...end, label: { ...label, style: typeof label?.style } }));
    assert.deepEqual(of.map(ends), [ends(link).map((end) => ({ ...end, label: { ...end.label, style: 'string' } }))]);
    assert.deepEqual({ ...of[0], nodes: null }, { ...link, nodes: null });
    const became = async (verb: string) => (await json<NodeBody>(`POST ${path}/nodes/${pc.node_id}/${verb}`, 200)).status;
    // A VPCS cannot be suspended and keeps running, as in GNS3.
    for (const verb of ['start', 'suspend', 'reload']) assert.equal(await became(verb), 'started', verb);
    assert.equal(await became('stop'), 'stopped');
    for (const verb of ['start', 'stop', 'reload', 'suspend', 'stop']) await speak(`POST ${path}/nodes/${verb}`, 204);
    await speak(`DELETE ${path}/links/${link.link_id}`, 204);
    await speak(`DELETE ${path}/nodes/${hub.node_id}`, 204);
  });

  test('a project is sent back whole, counted, kept and restored; closing it is 204', async () => {
    const { path: _path, filename: _filename, status: _status, ...settings } = await json(`GET ${path}`, 200);
    const { name, auto_close, auto_open, auto_start, scene_width, zoom } = settings;
    assert.deepEqual((await json(`PUT ${path}`, 200, { name, auto_close, auto_open, auto_start, scene_width, zoom })).name, name);
    const { snapshot_id } = await json(`POST ${path}/snapshots`, 201, { name: 'kept' });
    const count = await json(`GET ${path}/stats`, 200);
    assert.deepEqual(count, { drawings: 0, links: 0, nodes: 1, snapshots: 1 });
    await speak(`POST ${path}/snapshots/${snapshot_id}/restore`, 201);
    assert.equal((await json(`GET ${path}`, 200)).status, 'opened');
    const file = `${path}/files/notes.txt`;
    expectStatus(await client.send(`POST ${file}`, { raw: 'a note', headers: python }), 201);
    assert.equal(expectStatus(await client.send(`GET ${file}`, { headers: python }), 200).text(), 'a note');
    await speak(`POST ${path}/close`, 204);
    assert.equal((await json(`POST ${path}/open`, 201)).status, 'opened');
  });

  test('whatever is refused is JSON with status and message', async () => {
    const unknownId = randomUUID();
    const refused: [string, number, unknown?][] = [
      [`GET /v2/projects/${unknownId}`, 404],
      [`GET ${path}/nodes/${unknownId}`, 404],
      [`POST ${path}/nodes/${unknownId}/start`, 404],
      [`POST ${path}/templates/${unknownId}`, 404, { x: 0, y: 0 }],
      [`GET /v2/templates/${unknownId}`, 404],
      [`POST /v2/projects`, 409, { name: project.name }],
      [`POST /v2/projects`, 400, { nothing: 1 }],
      [`POST ${path}/nodes`, 400, {}],
      [`POST ${path}/links`, 400, { nodes: 7 }],
      [`GET /v2/computes/none`, 404],
    ];
    for (const [line, status, body] of refused) {
      const answer = await json(line, status, body);
      assert.deepEqual([answer.status, typeof answer.message], [status, 'string'], line);
    }
  });

  test("Ansible's modules for files look for two spellings in the message of a missing one", async () => {
    const { node_id } = await create('VPCS');
    for (const line of [`GET ${path}/files/none.txt`, `GET ${path}/nodes/${node_id}/files/none.txt`]) {
      const { status, message } = await json(line, 404);
      assert.equal(status, 404);
      for (const words of ['Not Found', 'not found']) assert.ok(String(message).includes(words), String(message));
    }
  });

  test('Ansible asks for computes, their images and ports', async () => {
    const computes = await json<{ compute_id: string }[]>('GET /v2/computes', 200);
    for (const { compute_id } of computes) {
      hasKeys(await json(`GET /v2/computes/${compute_id}/ports`, 200), 'console_ports console_port_range udp_ports udp_port_range');
      for (const emulator of ['qemu', 'iou', 'dynamips'])
        assert.ok(Array.isArray(await json(`GET /v2/computes/${compute_id}/${emulator}/images`, 200)));
    }
  });
});

describe('the Terraform provider', () => {
  const speak = clientProgram(client, { 'user-agent': 'Go-http-client/1.1', 'accept-encoding': 'gzip' });
  const typed = { 'content-type': 'application/json' };

  test('a project is made on the controller, then on the compute, then opened by an empty body', async () => {
    const name = freshName('terraform');
    const { project_id } = (await speak('POST /v2/projects', 201, { body: { name }, headers: typed })).json();
    for (const _ of [1, 2]) {
      const twice = (await speak('POST /v2/compute/projects', 201, { body: { name, project_id }, headers: typed })).json();
      assert.deepEqual([twice.name, twice.project_id], [name, project_id]);
    }
    await speak(`POST /v2/projects/${project_id}/open`, 201);
    await speak(`POST /v2/projects/${project_id}/open`, 201, { raw: '', headers: typed });
    await speak(`DELETE /v2/projects/${project_id}`, 204);
  });

  test('a machine without the path of QEMU, read and put back whole; a link; all started', async () => {
    const project = await createProject(client);
    const properties = {
      adapter_type: 'e1000',
      adapters: 1,
      bios_image: '',
      cdrom_image: '',
      ram: 16,
      cpus: 1,
      platform: 'x86_64',
      options: '-nodefaults -machine accel=tcg,graphics=off',
      hda_disk_image: '',
      hda_disk_interface: 'virtio',
    };
    const body = { name: 'vm', node_type: 'qemu', compute_id: 'local', console_type: 'telnet', x: 1, y: 2, properties };
    const node = (await speak(`POST ${project.path}/nodes`, 201, { body, headers: typed })).json<NodeBody>();
    assert.match(String(node.properties.qemu_path), /qemu-system-x86_64$/);
    const path = `${project.path}/nodes/${node.node_id}`;
    const shown = (await speak(`GET ${path}`, 200)).json<NodeBody>();
    const changed = { name: 'vm', properties: { ...shown.properties, ram: 24 } };
    const updated = (await speak(`PUT ${path}`, 200, { body: changed, headers: typed })).json<NodeBody>();
    assert.equal(updated.properties.ram, 24);
    const pc = await createNode(client, project);
    const end = (node_id: string) => ({ node_id, adapter_number: 0, port_number: 0 });
    const nodes = [end(node.node_id), end(pc.node_id)];
    const { link_id } = (await speak(`POST ${project.path}/links`, 201, { body: { nodes }, headers: typed })).json();
    await speak(`POST ${project.path}/nodes/start`, 204, { body: {}, headers: typed });
    for (const { status } of (await speak(`GET ${project.path}/nodes`, 200)).json<NodeBody[]>()) assert.equal(status, 'started');
    await speak(`POST ${path}/stop`, 200, { raw: '', headers: typed });
    await speak(`DELETE ${project.path}/links/${link_id}`, 204);
    await speak(`DELETE ${project.path}`, 204);
  });
});

describe('bodies without a Content-Type', () => {
  const forms: [string, Record<string, string>][] = [
    ['curl -d', { 'user-agent': 'curl/7.88.1', accept: '*/*', 'content-type': 'application/x-www-form-urlencoded' }],
    ['requests.post(data=text)', { 'user-agent': 'python-requests/2.31.0' }],
    ['a client that sends bytes', { 'content-type': 'application/octet-stream' }],
    ['one that names a charset', { 'content-type': 'application/json; charset=utf-8' }],
  ];
  for (const [who, headers] of forms) {
    test(`${who}: a project with a node, started without a body`, async () => {
      const speak = clientProgram(client, headers);
      const { project_id } = (await speak('POST /v2/projects', 201, { body: { name: freshName('form') } })).json();
      const path = `/v2/projects/${project_id}`;
      await speak(`POST ${path}/open`, 201, { raw: '' });
      const body = { name: 'PC', node_type: 'vpcs', compute_id: 'local' };
      const node = (await speak(`POST ${path}/nodes`, 201, { body })).json<NodeBody>();
      await speak(`POST ${path}/nodes/${node.node_id}/start`, 200);
      await speak(`POST ${path}/nodes/${node.node_id}/stop`, 200, { raw: '' });
      await speak(`DELETE ${path}`, 204);
    });
  }
});

describe('programs that read text', () => {
  let project: ProjectHandle;
  before(async () => {
    project = await createProject(client);
    await createNode(client, project);
  });

  test('a proxy knows routes by their template, and looks for the console in the bytes', async () => {
    const speak = clientProgram(client, { via: '1.1 gns3-proxy', connection: 'close' });
    const list = await speak('GET /v2/projects', 200);
    assert.equal(list.headers['x-route'], '/v2/projects');
    const nodes = await speak(`GET ${project.path}/nodes`, 200);
    assert.equal(nodes.headers['x-route'], '/v2/projects/{project_id}/nodes');
    assert.ok(nodes.text().includes('"console_host": "127.0.0.1",'));
  });

  test('gns3-proxy looks for the names of headers literally', async () => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(server.url).port) });
    socket.write('GET /v2/version HTTP/1.1\r\nHost: 127.0.0.1\r\nVia: 1.1 gns3-proxy\r\nConnection: close\r\n\r\n');
    const answer = await text(socket);
    for (const name of ['Content-Length', 'Content-Type', 'X-Route']) assert.ok(answer.includes(`\r\n${name}: `), answer);
  });

  test('a reader of projects ends each at its last key', async () => {
    const list = (await client.send('GET /v2/projects')).text();
    const [first = ''] = list.split('}', 1);
    const keys = Array.from(first.matchAll(/^ {8}"(\w+)":/gm), ([, key]) => key);
    assert.equal(keys.at(-1), 'zoom');
    assert.deepEqual(keys, keys.toSorted());
  });
});
