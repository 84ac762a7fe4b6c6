/** Switches and hubs of the compute's API: GNS3's objects and responses, and refusals. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { createProject, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';

const { client } = await withServer();
let project: ProjectHandle;
before(async () => {
  project = await createProject(client);
  await client.post('/v2/compute/projects', { name: 'here', project_id: project.id });
});

describe('a switch of the compute', () => {
  const place = (type: string) => `${project.computePath}/${type}/nodes`;
  const mapping = (more: object) => Array.from({ length: 8 }, (_, n) => ({ name: `Ethernet${n}`, port_number: n, ...more }));
  const objects = {
    ethernet_switch: { ports_mapping: mapping({ type: 'access', vlan: 1 }), console_type: 'none', console: 0 },
    ethernet_hub: { ports_mapping: mapping({}) },
    frame_relay_switch: { mappings: {} },
    atm_switch: { mappings: {} },
  };
  for (const type of Object.keys(objects) as (keyof typeof objects)[]) {
    test(`${type}: has GNS3’s object and responses`, async () => {
      const node = await client.post<NodeBody>(place(type), { name: 'SW' });
      const { node_id } = node;
      const console = type === 'ethernet_switch' ? { console: node.console } : {};
      assert.deepEqual(node, { name: 'SW', node_id, project_id: project.id, status: 'started', ...objects[type], ...console });
      for (const verb of ['start', 'stop', 'suspend'])
        expectStatus(await client.send(`POST ${place(type)}/${node_id}/${verb}`), 204);
      assert.equal((await client.send(`POST ${place(type)}/${node_id}/reload`)).status, 404);
      assert.equal((await client.send(`GET ${place(type)}/${node_id}/console/ws`)).status, 404);
      const sent = { ...node, name: 'SW2' };
      assert.deepEqual(await client.put(`${place(type)}/${node_id}`, sent), sent);
      const copy = await client.post<NodeBody>(place(type), { name: 'copy' });
      const asked = { destination_node_id: copy.node_id };
      assert.deepEqual(await client.post(`${place(type)}/${node_id}/duplicate`, asked), copy);
      for (const id of [node_id, copy.node_id]) expectStatus(await client.send(`DELETE ${place(type)}/${id}`), 204);
      expectFault(await client.send(`GET ${place(type)}/${node_id}`), 404);
    });
  }

  test('a console type is kept while it is started, and a port that is joined stays', async () => {
    const node = await client.post<NodeBody>(place('ethernet_switch'), { name: 'SW' });
    const path = `${place('ethernet_switch')}/${node.node_id}`;
    const changed = await client.put<NodeBody>(path, { console_type: 'telnet', console: 1234 });
    assert.deepEqual([changed.console_type, changed.console, changed.status], ['telnet', node.console, 'started']);
    const { udp_port: lport } = await client.post<{ udp_port: number }>(`${project.computePath}/ports/udp`);
    const nio = { type: 'nio_udp', lport, rhost: '127.0.0.1', rport: 9 };
    const port = (number: number) => `${path}/adapters/0/ports/${number}`;
    assert.deepEqual(await client.post(`${port(3)}/nio`, nio), nio);
    expectFault(await client.send(`POST ${port(8)}/nio`, { body: nio }), 409);
    expectFault(await client.send(`PUT ${path}`, { body: { ports_mapping: mapping({ type: 'access' }).slice(0, 3) } }), 409);
    await client.put(path, { ports_mapping: mapping({ type: 'access' }).slice(0, 4) });
    assert.deepEqual(
      (await client.get<{ port_number: number }[]>(`${path}/port_stats`)).map(({ port_number }) => port_number),
      [3],
    );
    expectStatus(await client.send(`DELETE ${port(3)}/nio`), 204);
    expectFault(await client.send(`DELETE ${port(3)}/nio`), 409);
    expectFault(await client.send(`POST ${port(3)}/start_capture`, { body: { capture_file_name: 'x.pcap' } }), 409);
  });

  test('another link at the same port is not mirrored to where the one before it was', async () => {
    const { node_id } = await client.post<NodeBody>(place('ethernet_switch'), { name: 'SW' });
    const port = (number: number) => `${place('ethernet_switch')}/${node_id}/adapters/0/ports/${number}/nio`;
    const freePort = async () => (await client.post<{ udp_port: number }>(`${project.computePath}/ports/udp`)).udp_port;
    const nioAt = (lport: number) => ({ type: 'nio_udp', lport, rhost: '127.0.0.1', rport: 9 });
    const [first, mirrors, second] = [await freePort(), await freePort(), await freePort()];
    await client.post(port(0), nioAt(first));
    const mirror_to = { node_id, adapter_number: 0, port_number: 7, lport: mirrors, rhost: '127.0.0.1', rport: 9 };
    await client.put(port(0), { ...nioAt(first), mirror_to }, 201);
    await client.post(port(0), nioAt(first));
    expectFault(await client.send(`POST ${port(1)}`, { body: nioAt(mirrors) }), 409, new RegExp(String(mirrors)));
    await client.post(port(0), nioAt(second));
    for (const [number, lport] of [first, mirrors].entries()) await client.post(port(1 + number), nioAt(lport));
  });
});
