/** GNS3's web client: its requests in their order, including whole objects that it sends back. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { listen } from '../support/notices.ts';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { freshName, type NodeBody, withServer } from '../support/with-server.ts';
import { clientProgram, hasKeys } from './client-program.ts';

const { server, client } = await withServer({ config: { Server: { auto_close_grace: 600 } } });
const agent = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36', accept: 'application/json, text/plain, */*' };
const own = { origin: server.url, referer: `${server.url}/static/web-ui/server/1/projects` };
const speak = clientProgram(client, { ...agent, ...own, 'content-type': 'application/json' });
const json = async <T = Record<string, unknown>>(line: string, status: number, body?: unknown): Promise<T> =>
  (await speak(line, status, body === undefined ? {} : { body })).json<T>();

type Body = Record<string, unknown>;

describe('the list of servers', () => {
  const elsewhere = { ...agent, origin: 'https://gns3.github.io' };

  test('accepts the version as 2.2, also from the page of another server, with credentials', async () => {
    const reply = expectStatus(await client.send('GET /v2/version', { headers: elsewhere }), 200);
    const [major, minor] = reply.json<{ version: string }>().version.split('.').map(Number);
    assert.ok(major === 2 && minor !== undefined && minor >= 2);
    assert.equal(reply.headers['access-control-allow-origin'], elsewhere.origin);
    assert.equal(reply.headers['access-control-allow-credentials'], 'true');
    assert.equal(reply.headers['content-type'], 'application/json');
  });

  test('preflights a change on another server', async () => {
    const asks = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type' };
    const reply = expectStatus(await client.send('OPTIONS /v2/projects', { headers: { ...elsewhere, ...asks } }), 200);
    assert.equal(reply.headers['access-control-allow-headers'], asks['access-control-request-headers']);
    const refused = await client.send('POST /v2/projects', {
      headers: { ...elsewhere, origin: 'http://evil.example' },
      body: { name: 'x' },
    });
    expectFault(refused, 403, /evil\.example/);
  });
});

test('the addresses of older versions redirect to a page', async () => {
  for (const path of [
    '/static/web-ui/bundled',
    '/static/web-ui/server/1/projects',
    `/static/web-ui/server/1/project/${randomUUID()}`,
  ]) {
    const { headers } = expectStatus(await client.send(`GET ${path}`, { headers: agent }), 302);
    const page = expectStatus(await client.send(`GET ${headers.location}`, { headers: agent }), 200);
    assert.match(page.headers['content-type'] ?? '', /^text\/html/);
  }
});

test('the status page has figures of each compute', async () => {
  const [first] = await json<{ compute_id: string; compute_name: string; statistics: Body }[]>('GET /v2/statistics', 200);
  hasKeys(
    first?.statistics ?? {},
    'memory_total memory_free memory_used swap_total cpu_usage_percent disk_usage_percent load_average_percent',
  );
  assert.equal(first?.compute_id, 'local');
});

describe('the page of a project', () => {
  let path: string;
  let nodes: NodeBody[];
  let link: Body & { nodes: Body[] };

  before(async () => {
    const project_id = randomUUID();
    const made = await json('POST /v2/projects', 201, { name: freshName('web'), project_id });
    assert.equal(made.project_id, project_id);
    path = `/v2/projects/${project_id}`;
    await speak(`POST ${path}/close`, 204, { body: {} });
  });

  test('opens it and reads all of its objects', async () => {
    assert.equal((await json(`GET ${path}`, 200)).status, 'closed');
    assert.equal((await json(`POST ${path}/open`, 201, {})).status, 'opened');
    for (const what of ['nodes', 'links', 'drawings']) assert.deepEqual(await json(`GET ${path}/${what}`, 200), []);
    assert.deepEqual(await json(`GET ${path}/stats`, 200), { nodes: 0, links: 0, drawings: 0, snapshots: 0 });
    hasKeys(await json(`GET ${path}`, 200), 'scene_width scene_height grid_size drawing_grid_size snap_to_grid show_grid zoom');
    await speak('GET /v2/computes', 200);
    for (const { symbol } of await json<{ symbol: string }[]>('GET /v2/templates', 200)) {
      const reply = expectStatus(await client.send(`GET /v2/symbols/${symbol}/raw`, { headers: agent }), 200);
      assert.match(reply.text(), /width="/, symbol);
    }
  });

  test('a symbol that was dragged has two slashes, and an unknown one is a picture', async () => {
    const raw = async (id: string) => expectStatus(await client.send(`GET /v2/symbols/${id}/raw`, { headers: agent }), 200);
    assert.equal((await raw('/symbols/router.svg')).text(), (await raw(':/symbols/router.svg')).text());
    const unknown = await raw(':/symbols/none.svg');
    assert.match(unknown.text(), /width="/);
    assert.equal(unknown.headers['content-type'], 'image/svg+xml');
  });

  test('nodes are dropped, moved, renamed and labelled, and its listener is notified', async () => {
    const listener = await listen(`${server.url}${path}/notifications/ws`);
    const templates = await json<{ name: string; template_id: string }[]>('GET /v2/templates', 200);
    const template = templates.find(({ name }) => name === 'VPCS')?.template_id;
    const drop = (x: number) => json<NodeBody>(`POST ${path}/templates/${template}`, 201, { x, y: 0, compute_id: 'local' });
    nodes = [await drop(0), await drop(100)];
    const [one, other] = nodes as [NodeBody, NodeBody];
    hasKeys(one, 'node_id name node_type status console console_host console_type ports symbol width height x y z label locked');
    const node = `PUT ${path}/nodes/${one.node_id}`;
    assert.equal((await json<NodeBody>(node, 200, { x: 33, y: 44 })).x, 33);
    const edited = { console_type: 'telnet', console_auto_start: true, locked: false, name: 'Edited', properties: one.properties };
    assert.equal((await json<NodeBody>(node, 200, { ...edited, custom_adapters: [] })).name, 'Edited');
    const label = { rotation: 0, style: 'font-size: 10; font-style: Verdana', text: 'of its own', x: -7, y: 3 };
    // The text of a label is the name, whatever is sent.
    assert.deepEqual((await json<NodeBody>(node, 200, { label })).label, { ...label, text: 'Edited' });
    await listener.find(({ action, event }) => action === 'node.updated' && (event.label as Body).x === -7, 'the label');
    assert.equal(other.status, 'stopped');
    // The client sends the node back unchanged.
    const shown = await json<NodeBody>(`GET ${path}/nodes/${one.node_id}`, 200);
    assert.deepEqual(await json(node, 200, shown), shown);
    await listener.close();
  });

  test('a link is sent back whole, with zeros for unset filters', async () => {
    const label = { rotation: 0, style: 'font-size: 10; font-style: Verdana', text: 'e0', x: 5, y: 5 };
    const ends = nodes.map(({ node_id }) => ({ node_id, port_number: 0, adapter_number: 0, label }));
    await speak(`POST ${path}/links`, 201, { body: { nodes: ends } });
    [link] = (await json<(Body & { nodes: Body[] })[]>(`GET ${path}/links`, 200)) as [Body & { nodes: Body[] }];
    hasKeys(link, 'link_id link_type nodes capturing filters suspend');
    const zeros = { bpf: [], corrupt: [0], delay: [0, 0], frequency_drop: [0], packet_loss: [0] };
    const line = `PUT ${path}/links/${link.link_id}`;
    assert.deepEqual((await json(line, 201, { ...link, filters: zeros })).filters, {});
    const filters = { ...zeros, delay: [20, 0] };
    assert.deepEqual((await json(line, 201, { ...link, filters, suspend: true })).filters, { delay: [20, 0] });
    const unknown = { bandwidth: [64.5], packet_loss_ab: [0.5], jitter: [1, 'normal'], latency_ba: [7] };
    await json(line, 201, { filters: { ...unknown, corrupt: [3] } });
    const kept = await json(line, 201, { ...link, filters: { ...zeros, packet_loss: [4] } });
    assert.deepEqual(kept.filters, { packet_loss: [4], ...unknown }, 'a filter without a field in the form is not deleted by it');
    assert.deepEqual((await json(line, 201, { filters: { packet_loss: [1] } })).filters, { packet_loss: [1] });
    await json(line, 201, { filters: { latency: [7] } });
    assert.deepEqual((await json(line, 201, { ...link, filters })).filters, { delay: [20, 0] }, 'latency is a delay');
    assert.deepEqual(await json(line, 201, { ...link, filters: zeros, suspend: false }), link);
    expectFault(await client.send(line, { body: { ...link, own: 1 } }), 400, /own/);
  });

  test('a started node has its console in the page; a capture is of a port with a name', async () => {
    const [one] = nodes as [NodeBody];
    assert.equal((await json<NodeBody>(`POST ${path}/nodes/${one.node_id}/start`, 200, {})).status, 'started');
    const socket = await openWebSocket(`${server.url}${path}/nodes/${one.node_id}/console/ws`);
    await waitFor(() => socket.messages.length > 0, { what: 'what the console shows' });
    assert.ok(Buffer.isBuffer(socket.messages[0]));
    const text = () => Buffer.concat(socket.messages as Buffer[]).toString();
    await waitFor(
      () => {
        socket.send('echo typed\r');
        return waitFor(() => text().includes('typed'), { what: 'an echo', limitMs: 1500 });
      },
      { what: 'an answer to what was typed as text' },
    );
    socket.close();
    await socket.closed;
    assert.equal(typeof (one.ports as { name: string }[])[0]?.name, 'string');
    const capture = { capture_file_name: 'web', data_link_type: 'DLT_EN10MB' };
    assert.equal((await json(`POST ${path}/links/${link.link_id}/start_capture`, 201, capture)).capturing, true);
    assert.equal((await json(`POST ${path}/links/${link.link_id}/stop_capture`, 201, {})).capturing, false);
    for (const verb of ['suspend', 'reload', 'stop']) await speak(`POST ${path}/nodes/${one.node_id}/${verb}`, 200, { body: {} });
    for (const verb of ['start', 'stop', 'reload', 'suspend', 'stop']) await speak(`POST ${path}/nodes/${verb}`, 204, { body: {} });
  });

  test('drawings, files, snapshots, a copy', async () => {
    const drawing = { svg: '<svg height="10" width="20"><text>hi</text></svg>', x: 1, y: 2, z: 1, rotation: 0, locked: false };
    const { drawing_id } = await json(`POST ${path}/drawings`, 201, drawing);
    const shown = await json(`GET ${path}/drawings/${drawing_id}`, 200);
    assert.equal((await json(`PUT ${path}/drawings/${drawing_id}`, 201, { ...shown, x: 9 })).x, 9);
    await speak(`DELETE ${path}/drawings/${drawing_id}`, 204);
    const readme = `${path}/files/README.txt`;
    expectStatus(
      await client.send(`POST ${readme}`, { raw: 'about', headers: { ...agent, ...own, 'content-type': 'text/plain' } }),
      201,
    );
    assert.equal(expectStatus(await client.send(`GET ${readme}`, { headers: agent }), 200).text(), 'about');
    const { snapshot_id } = await json(`POST ${path}/snapshots`, 201, { name: 'web' });
    await speak(`POST ${path}/snapshots/${snapshot_id}/restore`, 201, { body: {} });
    await speak(`DELETE ${path}/snapshots/${snapshot_id}`, 204);
    const copy = await json(`POST ${path}/duplicate`, 201, { name: freshName('copy') });
    await speak(`DELETE /v2/projects/${copy.project_id}`, 204);
  });

  test('an exported archive is imported as a form', async () => {
    const archive = expectStatus(await client.send(`GET ${path}/export`, { headers: agent }), 200).bytes;
    const boundary = '----WebKitFormBoundaryS4gXs3J2kWgq0Q1b';
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="lab.gns3project"\r\nContent-Type: application/octet-stream\r\n\r\n`;
    const raw = Buffer.concat([Buffer.from(head), archive, Buffer.from(`\r\n--${boundary}--\r\n`)]);
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
    const name = freshName('imported');
    const reply = await speak(`POST /v2/projects/${randomUUID()}/import?name=${name}`, 201, { raw, headers });
    assert.equal(reply.json().name, name);
  });
});

test('an image is uploaded unchanged, and a file too small for an image is not listed', async () => {
  const upload = (line: string, size: number) =>
    client.send(line, { raw: new Uint8Array(size), headers: { ...agent, ...own, 'content-type': 'application/octet-stream' } });
  expectStatus(await upload('POST /v2/compute/qemu/images/web.img', 64), 204);
  expectStatus(await upload('POST /v2/compute/qemu/images/tiny.img', 1), 204);
  const images = await json<{ filename: string }[]>('GET /v2/compute/qemu/images', 200);
  assert.deepEqual(
    images.map(({ filename }) => filename),
    ['web.img'],
  );
});
