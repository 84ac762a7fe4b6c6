/** GNS3's desktop client: its requests in their order, with its headers. It renders WebSocket notifications, not responses. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Listener, listen, type Notice } from '../support/notices.ts';
import { openPcap } from '../support/pcap.ts';
import { waitFor } from '../support/wait-for.ts';
import { end, freshName, type NodeBody, withServer } from '../support/with-server.ts';
import { clientProgram, hasKeys } from './client-program.ts';

interface Template {
  template_id: string;
  name: string;
  symbol: string;
}

interface OfferedField {
  type: 'int' | 'text';
  choices?: string[];
}

interface OfferedFilter {
  type: string;
  parameters: OfferedField[];
}

const { server, client } = await withServer({ args: ['--local'] });
const ownVersion = '2.2.61';
const speak = clientProgram(client, {
  'user-agent': `GNS3 QT Client v${ownVersion} (Linux-x86_64)`,
  'content-type': 'application/json',
});
const json = async <T = Record<string, unknown>>(line: string, status: number, body?: unknown): Promise<T> =>
  (await speak(line, status, body === undefined ? {} : { body })).json<T>();

describe('connecting', () => {
  test('its version is that of the server, twice, and the server says whether it is local', async () => {
    for (const _ of [1, 2]) assert.deepEqual(await json('GET /v2/version', 200), { local: true, version: ownVersion });
  });

  test('the first frame arrives at once, and usage of the computes without a request', async () => {
    const listener = await listen(`${server.url}/v2/notifications/ws`);
    const { event } = await listener.find(({ action }) => action === 'compute.updated', 'usage of a compute');
    hasKeys(event, computeKeys);
    assert.equal(typeof listener.socket.messages[0], 'string');
    await listener.close();
  });

  test('a project in which nothing happens pings, so that the connection is known to live', async () => {
    const { project_id } = await json('POST /v2/projects', 201, { name: freshName('silent') });
    const listener = await listen(`${server.url}/v2/projects/${project_id}/notifications/ws`);
    const pings = () => listener.socket.messages.filter((message) => JSON.parse(String(message)).action === 'ping');
    await waitFor(() => pings().length >= 2, { what: 'a ping after silence' });
    assert.deepEqual(listener.notices(), []);
    await listener.close();
  });

  test('lists of templates, computes, appliances and projects have the keys that the client reads', async () => {
    const templates = await json<Template[]>('GET /v2/templates', 200);
    for (const template of templates)
      hasKeys(
        { ...template, compute_id: 0 },
        'builtin category compute_id default_name_format name symbol template_id template_type',
      );
    for (const compute of await json<Record<string, unknown>[]>('GET /v2/computes', 200)) hasKeys(compute, computeKeys);
    assert.ok(Array.isArray(await json('GET /v2/appliances?symbol_theme=Classic', 200)));
    assert.ok(Array.isArray(await json('GET /v2/projects', 200)));
    for (const { symbol } of templates) {
      const picture = await client.send(`GET /v2/symbols/${symbol}/raw`);
      assert.deepEqual([picture.status, picture.headers['content-type']], [200, 'image/svg+xml']);
    }
    hasKeys(await json('GET /v2/default_symbols', 200), 'Classic');
    hasKeys(await json('GET /v2/gns3vm', 200), 'enable engine when_exit headless');
    hasKeys(await json('GET /v2/iou_license', 200), 'iourc_content license_check');
  });

  test('with its experimental setting it reads the stream, one document a line', async () => {
    const outgoing = request(`${server.url}/v2/notifications`, { agent: false, headers: { 'content-type': 'application/json' } });
    const text = await new Promise<string>((resolve, reject) => {
      outgoing.on('error', reject);
      outgoing.on('response', (answer) => {
        assert.equal(answer.headers['content-type'], 'application/json');
        assert.equal(answer.headers['transfer-encoding'], 'chunked');
        answer.once('data', (chunk: Buffer) => resolve(chunk.toString()));
      });
      outgoing.end();
    });
    outgoing.destroy();
    assert.equal(JSON.parse(text.slice(0, text.indexOf('\n'))).action, 'ping');
  });
});

const computeKeys = 'compute_id name connected protocol host port user cpu_usage_percent memory_usage_percent capabilities';
const portKeys = 'name short_name adapter_number port_number link_type data_link_types';

describe('a project', () => {
  let path: string;
  let pc: string;
  let listener: Listener;
  let controller: Listener;
  const notified = async (action: string, accepts: (event: Notice['event']) => boolean) =>
    (await listener.find((notice) => notice.action === action && accepts(notice.event), action)).event;
  const nodeNotified = (action: string, node_id: unknown, accepts: (event: Notice['event']) => boolean = () => true) =>
    notified(action, (event) => event.node_id === node_id && accepts(event));
  /** Made of the template and never looked at in the answer. */
  const drop = async (x: number, y: number): Promise<NodeBody> => {
    const { node_id } = await json<NodeBody>(`POST ${path}/templates/${pc}`, 201, { x, y, compute_id: 'local' });
    return (await nodeNotified('node.created', node_id)) as NodeBody;
  };

  before(async () => {
    const name = freshName('lab');
    const fields = { grid_size: 75, drawing_grid_size: 25, show_grid: true, snap_to_grid: true, show_interface_labels: true };
    const folder = join(server.dataDir, 'projects', name);
    const project = await json('POST /v2/projects', 201, { name, path: folder, ...fields });
    assert.deepEqual([project.path, project.show_grid, project.status], [folder, true, 'opened']);
    path = `/v2/projects/${project.project_id}`;
    [listener, controller] = [
      // The client's WebSockets do not name it.
      await listen(`${server.url}${path}/notifications/ws`, { 'user-agent': '' }),
      await listen(`${server.url}/v2/notifications/ws`, { 'user-agent': '' }),
    ];
    pc = (await json<Template[]>('GET /v2/templates', 200)).find(({ name: one }) => one === 'VPCS')?.template_id ?? '';
  });
  after(async () => {
    await listener?.close();
    await controller?.close();
  });

  test('a node appears with its notification, with ports and all that the client renders', async () => {
    const node = await drop(-100, 20);
    hasKeys(node, 'compute_id console console_host console_type first_port_name label locked name node_directory node_type');
    hasKeys(node, 'port_name_format port_segment_size ports properties status symbol template_id width height x y z');
    for (const port of node.ports as Record<string, unknown>[]) hasKeys(port, portKeys);
    assert.deepEqual([node.x, node.y], [-100, 20]);
  });

  test('a change has its three ids and no properties, and is notified', async () => {
    const { node_id, label } = await drop(0, 0);
    const ids = { properties: {}, node_type: 'vpcs', node_id, compute_id: 'local' };
    await speak(`PUT ${path}/nodes/${node_id}`, 200, {
      body: { ...ids, x: 5, y: -6, z: 2, label, symbol: ':/symbols/router.svg' },
    });
    const moved = await nodeNotified('node.updated', node_id, ({ x }) => x === 5);
    assert.deepEqual([moved.y, moved.z, moved.symbol, moved.width], [-6, 2, ':/symbols/router.svg', 66]);
    await speak(`PUT ${path}/nodes/${node_id}`, 200, {
      body: { ...ids, name: 'Renamed', console_auto_start: false, custom_adapters: [] },
    });
    const renamed = await nodeNotified('node.updated', node_id, ({ name }) => name === 'Renamed');
    assert.equal((renamed.label as { text: string }).text, 'Renamed');
  });

  test('a link with its style, then its two labels; started nodes, a capture and its stream', async () => {
    const [one, other] = [await drop(10, 10), await drop(200, 10)];
    const created = {
      nodes: [end(one), end(other)],
      filters: {},
      link_style: { color: '#000000', width: 2, type: 1 },
      suspend: false,
    };
    const { link_id } = await json(`POST ${path}/links`, 201, created);
    await notified('link.created', (event) => event.link_id === link_id);
    const label = (text: string) => ({
      text,
      x: 3,
      y: -4,
      rotation: 0,
      style: 'font-family: TypeWriter;font-size: 10.0;fill: #000000;',
    });
    const labelled = [
      { ...end(one), label: label('e0') },
      { ...end(other), label: label('e0') },
    ];
    for (const nodes of [[labelled[0], end(other)], labelled])
      await speak(`PUT ${path}/links/${link_id}`, 201, { body: { ...created, nodes } });
    const link = await notified(
      'link.updated',
      (event) => event.link_id === link_id && JSON.stringify(event.nodes).split('"e0"').length === 3,
    );
    assert.deepEqual(link.link_style, created.link_style);
    await speak(`POST ${path}/nodes/${one.node_id}/start`, 200);
    await nodeNotified('node.updated', one.node_id, ({ status }) => status === 'started');
    const capture = { capture_file_name: 'PC1_Ethernet0_to_PC2_Ethernet0.pcap', data_link_type: 'DLT_EN10MB' };
    await speak(`POST ${path}/links/${link_id}/start_capture`, 201, { body: capture });
    await notified(
      'link.updated',
      (event) => event.link_id === link_id && event.capturing === true && event.capture_file_path !== null,
    );
    const stream = await openPcap(`${server.url}${path}/links/${link_id}/pcap`);
    assert.equal(stream.headers['content-type'], 'application/vnd.tcpdump.pcap');
    await waitFor(() => stream.bytes().length >= 24, { what: 'the header of the capture' });
    await speak(`POST ${path}/links/${link_id}/stop_capture`, 201, { raw: '' });
    await notified(
      'link.updated',
      (event) => event.link_id === link_id && event.capturing === false && event.capture_file_name !== null,
    );
    await stream.ended;
    await speak(`POST ${path}/nodes/${one.node_id}/reload`, 200);
    await speak(`POST ${path}/nodes/${one.node_id}/console/reset`, 204);
    await speak(`DELETE ${path}/links/${link_id}`, 204);
    await notified('link.deleted', (event) => event.link_id === link_id);
  });

  /** A link of two PCs, and the dialog of packet filters on it as the desktop runs it. */
  const openDialog = async () => {
    const ends = [end(await drop(10, 90)), end(await drop(200, 90))];
    const link = await json(`POST ${path}/links`, 201, { nodes: ends, filters: {}, link_style: {}, suspend: false });
    const line = `${path}/links/${link.link_id}`;
    const whole = { nodes: ends, filters: {}, link_style: {}, suspend: false };
    /** Reads the stored filters, in the form that other clients get. */
    const exact = async () => (await client.get<{ filters: Record<string, unknown[]> }>(line)).filters;
    /** Each field is filled from the first value of its filter, which it must be able to show. */
    const shown = async () => {
      const { filters } = await json<{ filters: Record<string, unknown[]> }>(`GET ${line}`, 200);
      const offers = (await speak(`GET ${line}/available_filters`, 200)).json<OfferedFilter[]>();
      const fields = offers.map(({ type, parameters }): [string, unknown[]] => {
        const [first] = filters[type] ?? [];
        for (const field of first === undefined ? [] : parameters) {
          if (field.type === 'int') assert.ok(Number.isInteger(first), `${type}: a field of numbers is given ${first}`);
          else assert.equal(typeof first, 'string', `${type}: a field of texts is given ${first}`);
        }
        return [type, parameters.map((field) => first ?? (field.type === 'int' ? 0 : ''))];
      });
      return { offers, form: Object.fromEntries(fields) };
    };
    const apply = (filters: Record<string, unknown>, fields: object = {}) =>
      json<{ filters: Record<string, unknown[]> }>(`PUT ${line}`, 201, { ...whole, filters, ...fields });
    return { line, exact, shown, apply };
  };

  test('the dialog of packet filters sets each field that it is offered', async () => {
    const { exact, shown, apply } = await openDialog();
    const { offers, form: nothing } = await shown();
    assert.deepEqual([nothing.jitter, nothing['jitter/1'], nothing.seed], [[''], [0], [0]]);
    await apply(nothing);
    assert.deepEqual(await exact(), {});
    for (const { type, parameters } of offers.filter((offer) => !offer.type.includes('/'))) {
      const set = parameters.map((field) => (field.type === 'int' ? 1 : (field.choices?.[1] ?? 'icmp')));
      const stored = { [type]: type === 'jitter' ? [0, ...set] : set };
      assert.deepEqual((await apply({ ...nothing, [type]: set })).filters[type], set);
      assert.deepEqual(await exact(), stored);
      // Suspended and resumed with the form that the dialog was left with.
      for (const suspend of [true, false]) {
        await apply((await shown()).form, { suspend });
        assert.deepEqual(await exact(), stored);
      }
      await apply({ ...nothing, [type]: parameters[0]?.type === 'text' ? [] : [0] });
      assert.deepEqual(await exact(), {}, type);
    }
    await apply({
      ...nothing,
      delay: [20],
      'delay/2': [5],
      jitter: ['pareto'],
      'jitter/1': [1],
      burst_loss: [3],
      'burst_loss/4': [50],
    });
    assert.deepEqual(await exact(), { delay: [20, 5], jitter: [1, 'pareto'], burst_loss: [3, 0, 0, 50] });
    await apply({});
    assert.deepEqual(await exact(), {}, 'the reset of the dialog');
  });

  test('the dialog opens on filters of every other client and leaves what was not changed in it exact', async () => {
    const { line, exact, shown, apply } = await openDialog();
    const all: Record<string, unknown[]>[] = [
      { jitter: [1, 'normal'], delay: [12.5, 0] },
      { packet_loss: [0.5] },
      { packet_loss: [0.001], corrupt: [99.9] },
      { delay: [0.25, 0.5], bandwidth: [64.5, 3000], reorder: [2.5, 4] },
      { burst_loss: [0.1, 20, 0, 80.5], duplicate: [1.5], seed: [7] },
      { latency: [30] },
      { latency_ba: [30], packet_loss_ab: [0.25], jitter_ab: [1, 'pareto'], delay_ab: [3.5, 1.5] },
      { frequency_drop: [-1], bpf: ['arp'], match: ['icmp'] },
    ];
    for (const filters of all) {
      await client.put(line, { filters }, 201);
      await notified('link.updated', (event) => path.length > 0 && line.endsWith(String(event.link_id)));
      await apply((await shown()).form);
      assert.deepEqual(await exact(), filters);
      // A change of one field leaves all others.
      const { form } = await shown();
      await apply({ ...form, seed: [99] });
      assert.deepEqual(await exact(), { ...filters, seed: [99] });
      await apply({ ...form, seed: [0] });
    }
    await client.put(line, { filters: { delay: [12.5, 3.5] } }, 201);
    await apply({ ...(await shown()).form, delay: [20] });
    assert.deepEqual(await exact(), { delay: [20, 3.5] });
    await client.put(line, { filters: { latency: [12] } }, 201);
    await apply({ ...(await shown()).form, delay: [20] });
    assert.deepEqual(await exact(), { delay: [20] });
  });

  test('notifications show filters of other clients in numbers that its fields can show', async () => {
    const { line } = await openDialog();
    const isOfLink = (event: Notice['event']) => line.endsWith(String(event.link_id)) && 'packet_loss' in (event.filters as object);
    await client.put(line, { filters: { packet_loss: [0.5], jitter: [1, 'normal'] } }, 201);
    const { filters } = await notified('link.updated', isOfLink);
    assert.deepEqual(filters, { packet_loss: [1], jitter: ['normal'], 'jitter/1': [1] });
    const other = await listen(`${server.url}${path}/notifications/ws`, { 'user-agent': 'Mozilla/5.0' });
    await client.put(line, { filters: { packet_loss: [0.25] } }, 201);
    const event = (await other.find(({ event: of }) => isOfLink(of), 'the change')).event;
    assert.deepEqual(event.filters, { packet_loss: [0.25] });
    await other.close();
  });

  test('a copy of a node has the requested position', async () => {
    const { node_id } = await drop(30, 30);
    await speak(`POST ${path}/nodes/${node_id}/duplicate`, 201, { body: { x: 80, y: 80, z: 1 } });
    await notified('node.created', ({ x, node_type }) => x === 80 && node_type === 'vpcs');
  });

  test('drawings: put, moved, deleted', async () => {
    const svg =
      '<svg height="100" width="200"><rect fill="#ffffff" height="100" stroke="#000000" stroke-width="2" width="200" /></svg>';
    const drawing = { drawing_id: randomUUID(), x: 1, y: 2, z: 0, rotation: 0, locked: false, svg };
    await speak(`POST ${path}/drawings`, 201, { body: drawing });
    await notified('drawing.created', ({ drawing_id }) => drawing_id === drawing.drawing_id);
    await speak(`PUT ${path}/drawings/${drawing.drawing_id}`, 201, { body: { ...drawing, x: 50 } });
    await notified('drawing.updated', ({ x }) => x === 50);
    await speak(`DELETE ${path}/drawings/${drawing.drawing_id}`, 204);
    await notified('drawing.deleted', ({ drawing_id }) => drawing_id === drawing.drawing_id);
  });

  test('snapshots are created, restored with a notification, and deleted', async () => {
    const { snapshot_id } = await json(`POST ${path}/snapshots`, 201, { name: 'before' });
    await speak(`POST ${path}/snapshots/${snapshot_id}/restore`, 201);
    await notified('snapshot.restored', (event) => event.snapshot_id === snapshot_id);
    hasKeys(
      (await json<Record<string, unknown>[]>(`GET ${path}/snapshots`, 200))[0] ?? {},
      'snapshot_id name created_at project_id',
    );
    await speak(`DELETE ${path}/snapshots/${snapshot_id}`, 204);
  });

  test('changed settings of the scene notify the server-wide listener', async () => {
    const project = await json(`GET ${path}`, 200);
    await speak(`PUT ${path}`, 200, {
      body: { name: project.name, auto_close: false, scene_width: 3000, zoom: 90, show_layers: true },
    });
    await controller.find(({ action, event }) => action === 'project.updated' && event.scene_width === 3000, 'the new size');
  });

  test('a command for all nodes has no body; closing is notified; loading the file opens the project again', async () => {
    await speak(`POST ${path}/nodes/stop`, 204);
    const { path: folder, filename } = await json(`GET ${path}`, 200);
    await speak(`POST ${path}/close`, 204, { body: {} });
    await controller.find(({ action, event }) => action === 'project.closed' && path.endsWith(String(event.project_id)), 'its end');
    const loaded = await json('POST /v2/projects/load', 201, { path: join(String(folder), String(filename)) });
    assert.deepEqual([loaded.status, `/v2/projects/${loaded.project_id}`], ['opened', path]);
  });
});

describe('its forms for templates', () => {
  test('a GET with a body asks for the programs of some architectures', async () => {
    const binaries = await json<{ path: string }[]>('GET /v2/computes/local/qemu/binaries', 200, { archs: ['x86_64'] });
    assert.ok(binaries.length > 0 && binaries.every(({ path }) => path.includes('x86_64')));
    assert.ok(Array.isArray((await json('GET /v2/computes/local/qemu/capabilities', 200)).kvm));
    await speak('GET /v2/computes/local/qemu/img-binaries', 200);
    await speak('GET /v2/computes/local/qemu/images', 200);
    await speak('GET /v2/computes/local/network/interfaces', 200);
  });

  test('an image goes to the compute, or to the address that the server names for it', async () => {
    const raw = new Uint8Array(64);
    const headers = { 'content-type': 'application/octet-stream' };
    await speak('POST /v2/computes/local/qemu/images/one.img', 200, { raw, headers });
    const { endpoint } = await json<{ endpoint: string }>('GET /v2/computes/endpoint/local/qemu/images/two.img', 200);
    await speak(`POST ${new URL(endpoint).pathname}`, 204, { raw, headers });
    const images = await json<{ filename: string }[]>('GET /v2/computes/local/qemu/images', 200);
    assert.deepEqual(images.map(({ filename }) => filename).sort(), ['one.img', 'two.img']);
  });

  test('a symbol is uploaded, and a template with it is created, changed and deleted, each with a notification', async () => {
    const controller = await listen(`${server.url}/v2/notifications/ws`);
    await speak('POST /v2/symbols/own.svg/raw', 204, { raw: '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>' });
    const template_id = randomUUID();
    const fields = { name: 'Own', compute_id: 'local', category: 'guest', symbol: 'own.svg', default_name_format: 'Own{0}' };
    const made = await json('POST /v2/templates', 201, {
      template_id,
      template_type: 'vpcs',
      base_script_file: 'vpcs_base_config.txt',
      ...fields,
    });
    const changed = await json(`PUT /v2/templates/${template_id}`, 200, { ...made, name: 'Other' });
    assert.equal(changed.name, 'Other');
    await speak(`DELETE /v2/templates/${template_id}`, 204);
    for (const action of ['template.created', 'template.updated', 'template.deleted'])
      await controller.find((notice) => notice.action === action && notice.event.template_id === template_id, action);
    await controller.close();
  });
});
