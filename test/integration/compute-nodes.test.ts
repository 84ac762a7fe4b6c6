/** vpcs nodes and their consoles through the compute API of a real server: telnet, WebSocket, reset, links, kill -9 and adoption. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { RawClient } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { command, openTelnet, type TelnetClient, withoutTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';

interface NodeObject {
  node_id: string;
  name: string;
  status: string;
  console: number;
  console_type: string;
  command_line: string;
  node_directory: string;
}

let server: RunningServer;
let client: RawClient;
let project: string;
before(async () => {
  server = await startServer();
  client = new RawClient(server.url);
  const project_id = randomUUID();
  await client.post('/v2/compute/projects', { name: 'consoles', project_id });
  project = `/v2/compute/projects/${project_id}`;
});
after(async () => {
  client?.close();
  await server?.stop();
});

const pathOf = (node: NodeObject) => `${project}/vpcs/nodes/${node.node_id}`;
async function started(name: string, more: Record<string, unknown> = {}): Promise<NodeObject> {
  const body = { name, startup_script: 'set pcname %h\n', ...more };
  const node = await client.post<NodeObject>(`${project}/vpcs/nodes`, body);
  assert.equal(node.status, 'stopped');
  return await client.post<NodeObject>(`${pathOf(node)}/start`, {}, 200);
}
/** A console at its prompt; after an adoption the console shows it only on request. */
async function atPrompt(node: NodeObject): Promise<TelnetClient> {
  const console = await openTelnet(node.console);
  const prompt = new RegExp(`${node.name}> $`);
  await console.expect(prompt, 1500).catch(() => command(console, '', prompt));
  return console;
}
async function pings(console: TelnetClient): Promise<void> {
  await command(console, 'ping 10.0.5.2 -c 2', /10\.0\.5\.2 icmp_seq=1 /);
  await console.expect(/icmp_seq=2 ttl=\d+ time=.*> $/s);
}
async function join(one: NodeObject, two: NodeObject): Promise<void> {
  const port = async () => (await client.post<{ udp_port: number }>(`${project}/ports/udp`)).udp_port;
  const [left, right] = [await port(), await port()];
  const nio = (lport: number, rport: number) => ({
    type: 'nio_udp',
    lport,
    rhost: '127.0.0.1',
    rport,
    filters: {},
    suspend: false,
  });
  await client.post(`${pathOf(one)}/adapters/0/ports/0/nio`, nio(left, right));
  await client.post(`${pathOf(two)}/adapters/0/ports/0/nio`, nio(right, left));
}

test('telnet: negotiation, several clients, the past for a new one, reset, and the end at stop', async () => {
  const node = await started('PC1');
  assert.match(node.command_line, /^vpcs -m \d+$/);
  const one = await atPrompt(node);
  assert.equal(one.received().subarray(0, 12).toString('hex'), 'fffb01fffb03fffb00fffd00');
  const two = await openTelnet(node.console);
  await two.expect(/Virtual PC Simulator.*PC1> $/s);
  await Promise.all([command(one, 'show ip', /NAME\s+: PC1/), two.expect(/NAME\s+: PC1/)]);
  await client.post(`${pathOf(node)}/console/reset`, {}, 204);
  await Promise.all([one.closed, two.closed]);
  const three = await atPrompt(node);
  await client.post(`${pathOf(node)}/stop`, {}, 204);
  await three.closed;
  await assert.rejects(openTelnet(node.console), /ECONNREFUSED/);
  await client.post(`${pathOf(node)}/console/reset`, {}, 204);
});

test('WebSocket: binary frames with the negotiation, text and binary in, closed when the node stops; refused when it is stopped', async () => {
  const node = await started('PC2');
  const address = `${server.url}${pathOf(node)}/console/ws`;
  const socket = await openWebSocket(address);
  const shown = () => Buffer.concat(socket.messages.map((message) => Buffer.from(message)));
  await waitFor(
    () => {
      socket.send('\r');
      return withoutTelnet(shown()).toString().includes('PC2> ');
    },
    { what: 'the prompt', everyMs: 200 },
  );
  assert.ok(socket.messages.every((message) => typeof message !== 'string'));
  assert.equal(shown().subarray(0, 12).toString('hex'), 'fffb01fffb03fffb00fffd00');
  await waitFor(
    () => {
      socket.send(new Uint8Array(Buffer.from('version\r')));
      return /> version\r\n.*Virtual PC/s.test(shown().toString('latin1'));
    },
    { what: 'an answer to binary input', everyMs: 500 },
  );
  await client.post(`${pathOf(node)}/stop`, {}, 204);
  await socket.closed;
  await assert.rejects(openWebSocket(address));
});

test('quit on the console ends the node, and it can be started again with the same MAC address', async () => {
  const node = await started('PC3');
  const console = await atPrompt(node);
  await waitFor(
    () => {
      console.send('quit\r');
      return console.socket.destroyed;
    },
    { what: 'the end of the console', everyMs: 200 },
  );
  const status = async () => (await client.get<NodeObject>(pathOf(node))).status;
  await waitFor(async () => (await status()) === 'stopped', { what: 'the status "stopped"' });
  const again = await client.post<NodeObject>(`${pathOf(node)}/start`, {}, 200);
  const macId = (object: NodeObject) => / -m (\d+)$/.exec(object.command_line)?.[1];
  assert.equal(macId(again), macId(node));
  assert.equal(again.console, node.console);
  (await atPrompt(again)).close();
  await client.delete(pathOf(node));
});

test('a renamed node has its new name at the prompt after a reload', async () => {
  const node = await started('PC4');
  const renamed = await client.put<NodeObject>(pathOf(node), { name: 'PC44' });
  await client.post(`${pathOf(node)}/reload`, {}, 204);
  (await atPrompt(renamed)).close();
  await client.delete(pathOf(node));
});

test('kill -9 and a restart leave nodes, link and consoles unchanged', async () => {
  const one = await started('PC5', { startup_script: 'set pcname %h\nip 10.0.5.1/24\n' });
  const two = await started('PC6', { startup_script: 'set pcname %h\nip 10.0.5.2/24\n' });
  await join(one, two);
  const before = await atPrompt(one);
  await pings(before);
  await server.kill9();
  await before.closed;
  await server.restart();
  for (const node of [one, two]) {
    const now = await client.get<NodeObject>(pathOf(node));
    assert.deepEqual([now.status, now.console, now.command_line], ['started', node.console, node.command_line]);
  }
  const after = await atPrompt(one);
  await pings(after);
  for (const node of [one, two]) await client.delete(pathOf(node));
  await after.closed;
});
