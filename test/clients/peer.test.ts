/** A stock GNS3 controller that uses this server as a compute: its requests, and the keys that it reads. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { type NodeBody, withServer } from '../support/with-server.ts';
import { clientProgram, hasKeys } from './client-program.ts';

const { server, client } = await withServer();
const speak = clientProgram(client, {
  'user-agent': 'Python/3.11 aiohttp/3.9.5',
  accept: '*/*',
  'content-type': 'application/json',
});

interface Notice {
  action: string;
  event: Record<string, unknown>;
  project_id?: string;
}

test('it connects: capabilities with an equal version, then notifications with a first frame', async () => {
  const capabilities = (await speak('GET /v2/compute/capabilities', 200)).json();
  hasKeys(capabilities, 'version node_types platform');
  assert.equal(String(capabilities.version).split('-')[0], '2.2.60');
  const socket = await openWebSocket(`${server.url}/v2/compute/notifications/ws`);
  const first = JSON.parse(String(await socket.next((message) => typeof message === 'string'))) as Notice;
  assert.equal(first.action, 'ping');
  hasKeys(first.event, 'cpu_usage_percent memory_usage_percent');
  socket.close();
  await socket.closed;
});

describe('a link of two nodes', () => {
  const project_id = randomUUID();
  const project = `/v2/compute/projects/${project_id}`;

  test('creates a project, two nodes, two datagram ports and two NIOs; starts are notified', async () => {
    const socket = await openWebSocket(`${server.url}/v2/compute/notifications/ws`);
    const notices = () => socket.messages.map((message) => JSON.parse(String(message)) as Notice);
    await speak('POST /v2/compute/projects', 201, { body: { name: 'peer', project_id, variables: null } });
    const make = async (name: string) =>
      (
        await speak(`POST ${project}/vpcs/nodes`, 201, { body: { name, node_id: randomUUID(), console_type: 'telnet' } })
      ).json<NodeBody>();
    const nodes = [await make('PC1'), await make('PC2')];
    const ports = await Promise.all(
      nodes.map(async () => (await speak(`POST ${project}/ports/udp`, 201, { raw: '' })).json<{ udp_port: number }>().udp_port),
    );
    for (const [index, { node_id }] of nodes.entries()) {
      const nio = {
        lport: ports[index],
        rhost: '127.0.0.1',
        rport: ports[1 - index],
        type: 'nio_udp',
        filters: {},
        suspend: false,
      };
      await speak(`POST ${project}/vpcs/nodes/${node_id}/adapters/0/ports/0/nio`, 201, { body: nio });
      await speak(`PUT ${project}/vpcs/nodes/${node_id}/adapters/0/ports/0/nio`, 201, {
        body: { ...nio, filters: { latency: [5] } },
      });
      await speak(`POST ${project}/vpcs/nodes/${node_id}/start`, 200, { raw: '' });
    }
    for (const { node_id } of nodes) {
      const isStart = ({ action, event }: Notice) =>
        action === 'node.updated' && event.node_id === node_id && event.status === 'started';
      const { project_id: of } = await waitFor(() => notices().find(isStart), { what: 'the start of a node' });
      assert.equal(of, project_id);
    }
    for (const { node_id } of nodes) {
      await speak(`DELETE ${project}/vpcs/nodes/${node_id}/adapters/0/ports/0/nio`, 204);
      await speak(`POST ${project}/vpcs/nodes/${node_id}/stop`, 204, { raw: '' });
      await speak(`DELETE ${project}/vpcs/nodes/${node_id}`, 204);
    }
    await speak(`POST ${project}/close`, 204);
    socket.close();
    await socket.closed;
  });
});

test('the first VPCS of two computes of ours have different MAC addresses', async () => {
  const numbers = [];
  for (const number_from of [0, 100]) {
    const project_id = randomUUID();
    const headers = { 'user-agent': 'Patchbay/2.2.60' };
    await speak('POST /v2/compute/projects', 201, { headers, body: { name: 'numbers', project_id, number_from } });
    const project = `/v2/compute/projects/${project_id}`;
    const { node_id } = (await speak(`POST ${project}/vpcs/nodes`, 201, { body: { name: 'PC' } })).json<NodeBody>();
    const { command_line } = (await speak(`POST ${project}/vpcs/nodes/${node_id}/start`, 200, { raw: '' })).json<NodeBody>();
    numbers.push(/ -m (\d+)/.exec(String(command_line))?.[1]);
    await speak(`DELETE ${project}`, 204);
  }
  assert.deepEqual(numbers, ['0', '100']);
});
