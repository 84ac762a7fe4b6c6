/** A stock GNS3 controller's requests to this server as its compute: no answer and no event has a key that GNS3's schemas do not allow. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { type NodeBody, tinyVm, withServer } from '../support/with-server.ts';
import { clientProgram } from './client-program.ts';
import { answers, assertClosed, type ClosedShape, nodeAnswers } from './gns3-compute-answers.ts';

const { server, client } = await withServer();
const headers = { 'user-agent': 'Python/3.11 aiohttp/3.9.5', accept: '*/*' };
const speak = clientProgram(client, headers);
const project_id = randomUUID();
const project = `/v2/compute/projects/${project_id}`;
const socket = await openWebSocket(`${server.url}/v2/compute/notifications/ws`);
after(() => socket.close());

/** Bodies that a controller sends to make a node of each kind; Docker needs its engine: `test/integration/docker.test.ts`. */
const bodies: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  qemu: { qemu_path: 'qemu-system-x86_64', console_type: 'telnet', ...tinyVm },
  vpcs: { console_type: 'telnet' },
  dynamips: { platform: 'c7200', image: 'c7200.bin', ram: 512 },
  iou: { path: 'l3.bin', application_id: 1 },
  virtualbox: { vmname: 'vm' },
  vmware: { vmx_path: '/vm.vmx', linked_clone: true },
  traceng: {},
  cloud: {},
  nat: {},
  ethernet_switch: {},
  ethernet_hub: {},
  frame_relay_switch: {},
  atm_switch: {},
};

async function ask(path: string, shape: ClosedShape): Promise<void> {
  const answer: unknown = (await speak(`GET /v2/compute/${path}`, 200)).json();
  for (const each of Array.isArray(answer) ? answer : [answer]) assertClosed(each, shape, path);
}

test('what a compute says of itself', async () => {
  await ask('version', answers.version);
  await ask('capabilities', answers.capabilities);
  await ask('statistics', answers.statistics);
  await ask('network/ports', answers.ports);
  await ask('network/interfaces', answers.interface);
  await ask('qemu/capabilities', answers.kvm);
  for (const path of ['qemu/binaries', 'qemu/img-binaries']) await ask(path, answers.binary);
  for (const path of ['qemu/images', 'iou/images', 'dynamips/images']) await ask(path, answers.image);
});

test('nodes of every kind, made, changed and asked for', async () => {
  const made = (await speak('POST /v2/compute/projects', 201, { body: { name: 'closed', project_id, variables: null } })).json();
  assertClosed(made, answers.project, 'project');
  await ask('projects', answers.project);
  const kinds = Object.keys(nodeAnswers).filter((type) => type !== 'docker');
  assert.deepEqual(Object.keys(bodies).sort(), kinds.sort());
  for (const [type, body] of Object.entries(bodies)) {
    const shape = nodeAnswers[type] ?? {};
    const fields = { name: `${type}1`, node_id: randomUUID(), ...body };
    assertClosed((await speak(`POST ${project}/${type}/nodes`, 201, { body: fields })).json(), shape, type);
    const path = `${project}/${type}/nodes/${fields.node_id}`;
    assertClosed((await speak(`GET ${path}`, 200)).json(), shape, type);
    assertClosed((await speak(`PUT ${path}`, 200, { body: { name: `${type}2` } })).json(), shape, `changed ${type}`);
  }
  await ask(`projects/${project_id}/files`, answers.file);
});

test('a link with a filter and a capture that ends by itself; its events', async () => {
  const vpcs = (await speak(`POST ${project}/vpcs/nodes`, 201, { body: { name: 'end' } })).json<NodeBody>();
  const udp = (await speak(`POST ${project}/ports/udp`, 201)).json<{ udp_port: number }>();
  assertClosed(udp, answers.udpPort, 'UDP port');
  const node = `${project}/vpcs/nodes/${vpcs.node_id}`;
  const port = `${node}/adapters/0/ports/0`;
  const nio = { type: 'nio_udp', lport: udp.udp_port, rhost: '127.0.0.1', rport: 9, filters: {}, suspend: false };
  assertClosed((await speak(`POST ${port}/nio`, 201, { body: nio })).json(), answers.nio, 'NIO');
  const changed = await speak(`PUT ${port}/nio`, 201, { body: { ...nio, filters: { delay: [10, 0] } } });
  assertClosed(changed.json(), answers.nio, 'changed NIO');
  const started = (await speak(`POST ${node}/start`, 200)).json();
  assertClosed(started, nodeAnswers.vpcs ?? {}, 'started VPCS');
  const capture = { capture_file_name: 'closed.pcap', data_link_type: 'DLT_EN10MB' };
  assertClosed((await speak(`POST ${port}/start_capture`, 200, { body: capture })).json(), answers.capture, 'capture');
  // Ours, of another requester: its end is an event that GNS3 does not know.
  const own = { capture_id: randomUUID(), capture_file_name: 'own.pcap', data_link_type: 'DLT_EN10MB' };
  await client.post(`${port}/captures`, own);
  await speak(`POST ${node}/stop`, 204);
  const notices = () => socket.messages.map((message) => JSON.parse(String(message)) as Record<string, unknown>);
  const isStop = ({ action, event }: Record<string, unknown>) =>
    action === 'node.updated' && (event as NodeBody).node_id === vpcs.node_id && (event as NodeBody).status === 'stopped';
  await waitFor(
    () =>
      notices().some(
        (notice, at) =>
          isStop(notice) &&
          notices()
            .slice(at)
            .some(({ action }) => action === 'ping'),
      ),
    {
      what: 'the stop, and a ping after it',
    },
  );
  for (const notice of notices()) {
    assertClosed(notice, answers.notice, 'event');
    const { action, event } = notice as { action: string; event: Record<string, unknown> };
    if (action === 'ping') assertClosed(event, answers.ping, action);
    else if (action.startsWith('log.')) assertClosed(event, answers.log, action);
    else assert.match(action, /^node\.(updated|deleted)$/);
  }
});

test("GNS3's documented examples, one after the other: one UDP port and one capture file for each", async () => {
  const make = async () => {
    const { node_id } = (await speak(`POST ${project}/vpcs/nodes`, 201, { body: { name: 'doc' } })).json<NodeBody>();
    return `${project}/vpcs/nodes/${node_id}`;
  };
  const nodes = [await make(), await make()];
  const nio = { type: 'nio_udp', lport: 4242, rport: 4343, rhost: '127.0.0.1' };
  const capture = { capture_file_name: 'test.pcap', data_link_type: 'DLT_EN10MB' };
  const paths: unknown[] = [];
  for (const node of nodes) {
    await speak(`POST ${node}/adapters/0/ports/0/nio`, 201, { body: nio });
    paths.push((await speak(`POST ${node}/adapters/0/ports/0/start_capture`, 200, { body: capture })).json().pcap_file_path);
  }
  assert.deepEqual(
    paths.map((path) => String(path).split('/').at(-1)),
    ['test.pcap', 'test-2.pcap'],
  );
  // A request that would lose something is refused: the port of a node that runs.
  await speak(`POST ${nodes[1]}/start`, 200);
  await speak(`POST ${await make()}/adapters/0/ports/0/nio`, 409, { body: nio });
  const taken = async () => (await speak('GET /v2/compute/network/ports', 200)).json<{ udp_ports: number[] }>().udp_ports;
  for (const [index, node] of nodes.entries()) {
    assert.ok((await taken()).includes(4242));
    await speak(`DELETE ${node}/adapters/0/ports/0/nio`, 204);
    assert.equal((await taken()).includes(4242), index === 0);
  }
});

test('a compute of ours says more to a controller of ours', async () => {
  const reply = await client.send('GET /v2/compute/capabilities', { headers: { 'user-agent': 'Patchbay/2.2.60' } });
  assert.equal(reply.json().link_streams, true);
});
