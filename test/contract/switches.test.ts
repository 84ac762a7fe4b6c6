/** Switches and hubs as clients see them: properties, responses, refusals. Traffic is in `switch-traffic.test.ts`. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  createNode,
  createProject,
  end,
  freshName,
  type NodeBody,
  type ProjectHandle,
  withServer,
} from '../support/with-server.ts';

const bench = await withServer();
const { client } = bench;
let project: ProjectHandle;
before(async () => {
  project = await createProject(client);
});

interface PortBody {
  name: string;
  short_name: string;
  port_number: number;
  adapter_number: number;
  link_type: string;
  data_link_types: Record<string, string>;
}
const portsOf = (node: NodeBody) => node.ports as PortBody[];
const make = (node_type: string, properties: Record<string, unknown> = {}) =>
  client.post<NodeBody>(`${project.path}/nodes`, { name: freshName('S'), node_type, compute_id: 'local', properties });
const nodePath = ({ node_id }: NodeBody) => `${project.path}/nodes/${node_id}`;

const builtIn = {
  ethernet_switch: '1966b864-93e7-32d5-965f-001384eec461',
  ethernet_hub: 'b4503ea9-d6b6-3695-9fe4-1db3b39290b0',
  frame_relay_switch: 'dd0f6f3a-ba58-3249-81cb-a1dd88407a47',
  atm_switch: 'aaa764e2-b383-300f-8a0e-3493bbfdb7d2',
} as const;
const types = Object.keys(builtIn) as (keyof typeof builtIn)[];

describe('a switch of the controller', () => {
  for (const type of types) {
    test(`${type}: is made of the built-in template, started, and stays so`, async () => {
      const made = await client.post<NodeBody>(`${project.path}/templates/${builtIn[type]}`, { x: 1, y: 2, compute_id: 'local' });
      const node = await client.get<NodeBody>(`${project.path}/nodes/${made.node_id}`);
      const isSwitch = type === 'ethernet_switch';
      assert.deepEqual(
        [node.status, node.node_directory, node.command_line, node.console_type, typeof node.console],
        ['started', null, null, isSwitch ? 'none' : null, isSwitch ? 'number' : 'object'],
      );
      assert.equal(portsOf(node).length, type.startsWith('ethernet') ? 8 : 0);
      for (const verb of ['start', 'stop', 'suspend']) {
        const answer = expectStatus(await client.send(`POST ${nodePath(node)}/${verb}`), 200);
        assert.equal(answer.json<NodeBody>().status, 'started', verb);
      }
      for (const verb of ['reload', 'console/reset']) expectFault(await client.send(`POST ${nodePath(node)}/${verb}`), 404);
    });
  }

  test('a template of a client’s own brings its ports', async () => {
    const ports_mapping = [{ name: 'up', port_number: 0, type: 'dot1q', vlan: 1, ethertype: '' }];
    const template = { name: freshName('T'), template_type: 'ethernet_switch', compute_id: 'local', ports_mapping };
    const { template_id } = await client.post<{ template_id: string }>('/v2/templates', template);
    const { node_id } = await client.post<NodeBody>(`${project.path}/templates/${template_id}`, { x: 0, y: 0 });
    const node = await client.get<NodeBody>(`${project.path}/nodes/${node_id}`);
    assert.deepEqual(node.properties.ports_mapping, ports_mapping);
    assert.deepEqual(
      portsOf(node).map(({ name, short_name }) => [name, short_name]),
      [['up', 'e0']],
    );
  });

  test('its ports have the names that they were given, and standard ones after a change', async () => {
    const port = (name: string, type: string, more: object = {}) => ({ name, port_number: 7, type, vlan: 1, ...more });
    const ports_mapping = [port('a', 'access'), port('b', 'dot1q'), port('c', 'qinq', { ethertype: '0x88A8', vlan: 7 })];
    const node = await make('ethernet_switch', { ports_mapping });
    assert.deepEqual(node.properties.ports_mapping, ports_mapping);
    assert.deepEqual(
      portsOf(node).map(({ name, short_name, port_number, adapter_number }) => [name, short_name, port_number, adapter_number]),
      [
        ['a', 'e0', 0, 0],
        ['b', 'e1', 1, 0],
        ['c', 'e2', 2, 0],
      ],
    );
    const wanted = [port('x', 'access', { vlan: 10 })];
    const changed = await client.put<NodeBody>(nodePath(node), { properties: { ports_mapping: wanted } });
    assert.deepEqual(changed.properties.ports_mapping, [{ name: 'Ethernet0', port_number: 0, type: 'access', vlan: 10 }]);
    assert.deepEqual(
      portsOf(changed).map(({ name }) => name),
      ['Ethernet0'],
    );
    const hub = await make('ethernet_hub', { ports_mapping: [{ name: 'E0', port_number: 0 }] });
    assert.deepEqual(
      portsOf(hub).map(({ name }) => name),
      ['E0'],
    );
  });

  test('ports of circuits are those in the mappings', async () => {
    const fr = await make('frame_relay_switch', { mappings: { '1:101': '10:202', '2:5': '1:102' } });
    assert.deepEqual(
      portsOf(fr).map(({ name, short_name, port_number, link_type, data_link_types }) => [
        ...[name, short_name, port_number, link_type],
        data_link_types,
      ]),
      [1, 2, 10].map((number) => [`${number}`, `${number}`, number, 'serial', { 'Frame Relay': 'DLT_FRELAY' }]),
    );
    const atm = await make('atm_switch', { mappings: { '1:10': '10:20', '3:0:100': '4:1:200' } });
    assert.deepEqual(
      portsOf(atm).map(({ port_number }) => port_number),
      [1, 3, 4, 10],
    );
    assert.deepEqual(portsOf(atm)[0]?.data_link_types, { ATM: 'DLT_ATM_RFC1483' });
    const link = await client.post<{ link_id: string; link_type: string }>(`${project.path}/links`, {
      nodes: [end(fr, 0, 1), end(atm, 0, 1)],
    });
    assert.equal(link.link_type, 'serial');
    // A change of such a link failed in 2.2.
    await client.put(`${project.path}/links/${link.link_id}`, { suspend: true, filters: { delay: [5] } }, 201);
    expectFault(await client.send(`PUT ${nodePath(fr)}`, { body: { properties: { mappings: { '2:5': '10:102' } } } }), 409);
    const changed = await client.put<NodeBody>(nodePath(fr), { properties: { mappings: { '1:7': '3:8' } } });
    assert.deepEqual(
      portsOf(changed).map(({ port_number }) => port_number),
      [1, 3],
    );
  });

  test('what cannot be is refused, and changes nothing', async () => {
    const entry = { name: 'E0', port_number: 0, type: 'access', vlan: 1 };
    const mappings = (text: string, to = '2:20') => ({ mappings: { [text]: to } });
    const wrong: [string, Record<string, unknown>][] = [
      ...['trunk', '', null, 7].map((type): [string, Record<string, unknown>] => [
        'ethernet_switch',
        { ports_mapping: [{ ...entry, type }] },
      ]),
      ...[0, -1, 4095, 1.5, '1'].map((vlan): [string, Record<string, unknown>] => [
        'ethernet_switch',
        { ports_mapping: [{ ...entry, vlan }] },
      ]),
      ['ethernet_switch', { ports_mapping: [{ ...entry, ethertype: '0x88a9' }] }],
      ['ethernet_switch', { ports_mapping: [{ ...entry, more: 1 }] }],
      ['ethernet_switch', { mappings: { '1:1': '2:2' } }],
      ['ethernet_hub', { ports_mapping: [entry] }],
      ['ethernet_hub', { ports_mapping: [{ port_number: 0 }] }],
      ...['1', '1:1024', 'a:1', '1:2:3', '1:-1', '', '70000:1'].map((text): [string, Record<string, unknown>] => [
        'frame_relay_switch',
        mappings(text),
      ]),
      ['frame_relay_switch', mappings('1:10', '1:10')],
      ['frame_relay_switch', { mappings: { '1:10': '2:20', '3:30': '2:20' } }],
      ['frame_relay_switch', { mappings: { '1:10': 7 } }],
      ...['1', '1:256', '1:0:65536', '1:2:3:4', '1:0:1'].map((text): [string, Record<string, unknown>] => [
        'atm_switch',
        mappings(text),
      ]),
    ];
    const nodes = await client.get<unknown[]>(`${project.path}/nodes`);
    for (const [node_type, properties] of wrong) {
      const body = { name: 'wrong', node_type, compute_id: 'local', properties };
      expectFault(await client.send(`POST ${project.path}/nodes`, { body }), 400);
    }
    assert.deepEqual(await client.get(`${project.path}/nodes`), nodes);
  });

  test('a port with a link stays; others can come and go', async () => {
    const [one, other] = [await make('ethernet_switch'), await make('ethernet_hub')];
    await client.post(`${project.path}/links`, { nodes: [end(one, 0, 2), end(other, 0, 7)] });
    const ports = (count: number) =>
      Array.from({ length: count }, (_, number) => ({ name: 'x', port_number: number, type: 'access', vlan: 2 }));
    expectFault(await client.send(`PUT ${nodePath(one)}`, { body: { properties: { ports_mapping: ports(2) } } }), 409, /0\/2/);
    assert.equal(portsOf(await client.get<NodeBody>(nodePath(one))).length, 8);
    for (const count of [12, 3]) {
      const changed = await client.put<NodeBody>(nodePath(one), { properties: { ports_mapping: ports(count) } });
      assert.equal(portsOf(changed).length, count);
    }
    expectFault(await client.send(`POST ${project.path}/links`, { body: { nodes: [end(one, 0, 3), end(other, 0, 0)] } }), 404);
    expectFault(await client.send(`POST ${project.path}/links`, { body: { nodes: [end(one, 0, 2), end(other, 0, 0)] } }), 409);
  });

  test('its copy is another one, alone and with its project', async () => {
    const node = await make('ethernet_switch', { ports_mapping: [{ name: 'up', port_number: 0, type: 'dot1q', vlan: 3 }] });
    const copy = await client.post<NodeBody>(`${nodePath(node)}/duplicate`, { x: 5, y: 6 });
    assert.deepEqual([copy.properties, copy.status], [node.properties, 'started']);
    assert.notEqual(copy.console, node.console);
    const pair = await createProject(client);
    const [one, other] = [await createNode(client, pair, 'ethernet_switch'), await createNode(client, pair, 'ethernet_hub')];
    await client.post(`${pair.path}/links`, { nodes: [end(one), end(other)], filters: { delay: [5] } });
    const { project_id } = await client.post<{ project_id: string }>(`${pair.path}/duplicate`, { name: freshName('copy') });
    await client.post(`/v2/projects/${project_id}/open`);
    const nodes = await client.get<NodeBody[]>(`/v2/projects/${project_id}/nodes`);
    assert.deepEqual(
      nodes.map(({ status }) => status),
      ['started', 'started'],
    );
    assert.equal((await client.get<unknown[]>(`/v2/projects/${project_id}/links`)).length, 1);
    for (const id of [project_id, pair.id]) await client.post(`/v2/projects/${id}/close`, {}, 204);
    await client.post(`${pair.path}/open`);
    const [again] = await client.get<NodeBody[]>(`${pair.path}/nodes`);
    assert.deepEqual([again?.status, again?.properties, again?.console], ['started', one.properties, one.console]);
    for (const id of [project_id, pair.id]) await client.delete(`/v2/projects/${id}`);
  });

  test('only an Ethernet switch has a table of addresses', async () => {
    const [one, hub, pc] = [await make('ethernet_switch'), await make('ethernet_hub'), await make('vpcs')];
    assert.deepEqual(await client.get(`${nodePath(one)}/mac_table`), []);
    expectStatus(await client.send(`DELETE ${nodePath(one)}/mac_table`), 204);
    for (const node of [one, hub]) assert.deepEqual(await client.get(`${nodePath(node)}/port_stats`), []);
    for (const node of [hub, pc]) expectFault(await client.send(`GET ${nodePath(node)}/mac_table`), 404);
    expectFault(await client.send(`GET ${nodePath(pc)}/port_stats`), 404);
    expectFault(await client.send(`GET ${project.path}/nodes/${randomUUID()}/mac_table`), 404);
  });
});

describe('traffic between stations', () => {
  const station = (last: number) => ({ address: `10.0.0.${last}`, next_hop: `10.0.0.${last === 1 ? 2 : 1}` });
  const flow = ({ node_id }: NodeBody, gaps_us: number[]) => ({
    ...{ source: station(1), sink: { node_id, ...station(2) }, gaps_us, sizes: [60] },
  });
  interface Figures {
    traffic_id: string;
    state: string;
  }

  test('a flow too many is refused by name; stations are not listed as ports', async () => {
    const one = await make('ethernet_switch');
    // Flows wait for minutes before their first packet.
    const long = flow(one, [500_000_000]);
    const flows = await Promise.all(Array.from({ length: 64 }, () => client.post<Figures>(`${nodePath(one)}/traffic`, long)));
    expectFault(await client.send(`POST ${nodePath(one)}/traffic`, { body: long }), 409, /64 flows of traffic/);
    const [first] = flows;
    await waitFor(async () => (await client.get<Figures>(`${nodePath(one)}/traffic/${first?.traffic_id}`)).state === 'running', {
      what: 'stations that found each other',
    });
    assert.deepEqual([await client.get(`${nodePath(one)}/mac_table`), await client.get(`${nodePath(one)}/port_stats`)], [[], []]);
    for (const { traffic_id } of flows) expectStatus(await client.send(`DELETE ${nodePath(one)}/traffic/${traffic_id}`), 204);
    const { traffic_id } = await client.post<Figures>(`${nodePath(one)}/traffic`, long);
    expectStatus(await client.send(`DELETE ${nodePath(one)}/traffic/${traffic_id}`), 204);
  });

  test('more than ten minutes are refused, by controller and compute', async () => {
    const one = await make('ethernet_switch');
    const [longest, tooLong] = [flow(one, [300_000_000, 300_000_000]), flow(one, [300_000_000, 300_000_001])];
    const onCompute = `${project.computePath}/ethernet_switch/nodes/${one.node_id}/traffic`;
    for (const path of [`${nodePath(one)}/traffic`, onCompute]) {
      expectFault(await client.send(`POST ${path}`, { body: tooLong }), 400, /at most 10 minutes/);
      const { traffic_id } = await client.post<Figures>(path, longest);
      expectStatus(await client.send(`DELETE ${path}/${traffic_id}`), 204);
    }
  });
});

test('a switch of a remote compute is queried there', async () => {
  const [user, password] = ['admin', 'something'];
  const remote = await startServer({ config: { Server: { auth: true, user, password } } });
  try {
    const { port } = remote;
    const compute = {
      compute_id: randomUUID(),
      name: freshName('away'),
      protocol: 'http',
      host: '127.0.0.1',
      port,
      user,
      password,
    };
    await client.post('/v2/computes', compute);
    const there = await createProject(client);
    const make = (type: string) => createNode(client, there, type, { compute_id: compute.compute_id });
    const [one, other] = [await make('ethernet_switch'), await make('ethernet_hub')];
    const path = `${there.path}/nodes/${one.node_id}`;
    const { link_id } = await client.post<{ link_id: string }>(`${there.path}/links`, { nodes: [end(one, 0, 6), end(other)] });
    await client.put(`${there.path}/links/${link_id}`, { filters: { delay: [5] } }, 201);
    assert.deepEqual(await client.get(`${path}/mac_table`), []);
    expectStatus(await client.send(`DELETE ${path}/mac_table`), 204);
    const [counted] = await client.get<{ port_number: number; received: number }[]>(`${path}/port_stats`);
    assert.deepEqual([counted?.port_number, counted?.received], [6, 0]);
    expectFault(await client.send(`GET ${there.path}/nodes/${other.node_id}/mac_table`), 404);
    await client.delete(there.path);
  } finally {
    await remote.stop();
  }
});
