/** The trace of a packet: its way link by link, with the times of captures, and the reason where it is lost. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { PacketTrace } from '../../src/schema/frame-trace.ts';
import type { HistoryEntry } from '../../src/schema/history.ts';
import type { Link } from '../../src/schema/link.ts';
import type { NodeProbe, NodeProbeAnswer } from '../../src/schema/pc-probe.ts';
import { parsePcap } from '../support/pcap.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, withServer } from '../support/with-server.ts';

const { client } = await withServer();
const project = await createProject(client, { auto_close: false });
const pc = (name: string, last: number) =>
  createNode(client, project, 'vpcs', { name, properties: { startup_script: `ip 10.0.0.${last}/24 10.0.0.254\n` } });
const [one, two, three] = [await pc('PC1', 1), await pc('PC2', 2), await pc('PC3', 3)];
const [left, right] = [await createNode(client, project, 'ethernet_switch'), await createNode(client, project, 'ethernet_hub')];
const join2 = (a: NodeBody, b: NodeBody, port: number, other = 0) =>
  client.post<Link>(`${project.path}/links`, { nodes: [end(a, 0, other), end(b, 0, port)] });
const links = [await join2(one, left, 0), await join2(left, right, 0, 1), await join2(two, right, 1)] as const;
const dead = await join2(three, left, 2);
const names = new Map([one, two, three, left, right].map(({ node_id, name }) => [node_id, name]));
const impair = ({ link_id }: Link, filters: Record<string, unknown>) =>
  client.put(`${project.path}/links/${link_id}`, { filters }, 201);
const trace = (from: NodeBody, to: NodeBody, more: Record<string, unknown> = {}) =>
  client.post<PacketTrace>(`${project.path}/trace`, { from_node_id: from.node_id, to_node_id: to.node_id, ...more }, 200);
const refused = async (body: Record<string, unknown>) => {
  const { status, json } = await client.send(`POST ${project.path}/trace`, { body });
  return `${status} ${json<{ message: string }>().message}`;
};
const asked = (from: NodeBody, to: NodeBody) => ({ from_node_id: from.node_id, to_node_id: to.node_id });
/** `PC1>N1 N1>N2`, with what became of the packet. */
const described = ({ ways }: PacketTrace) =>
  ways.map(({ packet, is_answer, hops, end: how }) => {
    const way = hops.map(({ from_node_id, to_node_id, lost }) => {
      return `${names.get(from_node_id)}>${names.get(to_node_id)}${lost ? `:${lost}` : ''}`;
    });
    return `${packet}${is_answer ? ' answer' : ''} ${how}: ${way.join(' ')}`;
  });
const [sw, hub] = [left.name, right.name];

test('a trace that cannot be is refused, with what to do', async () => {
  assert.match(await refused(asked(one, two)), /409 Node PC1 is not started/);
  await client.post(`${project.path}/nodes/${one.node_id}/start`, {}, 200);
  assert.match(await refused(asked(one, two)), /409 Node PC2 is not started/);
  await client.post(`${project.path}/nodes/start`, {}, 204);
  assert.match(await refused(asked(one, one)), /400 .*PC1 is both/);
  assert.match(await refused({ from_node_id: one.node_id, to_node_id: crypto.randomUUID() }), /404 .*doesn't exist/);
  const alone = await pc('ALONE', 9);
  assert.match(await refused(asked(one, alone)), /409 No links lead from PC1 to ALONE/);
  assert.match(await refused(asked(one, left)), new RegExp(`409 ${sw} has no address`));
  assert.match(await refused({ ...asked(one, two), address: 'pc2' }), /400 .*"pc2" is not an IP address/);
  assert.match(await refused({ ...asked(one, two), wait_seconds: 61 }), /400 /);
  assert.match(await refused({ ...asked(one, two), more: 1 }), /400 /);
  const other = await createProject(client, { auto_close: false });
  const stranger = await createNode(client, other);
  assert.match(await refused(asked(one, stranger)), /404 .*doesn't exist/);
});

/** Most time between the notes of a trace and of a capture in one turn: less than the delay of the link. */
const apartMs = 15;

test('a packet is followed to the other node and back, with delays as captures have them', async () => {
  const ask = (probe: NodeProbe) => client.post<NodeProbeAnswer>(`${project.path}/nodes/${one.node_id}/probe`, probe, 200);
  await waitFor(async () => (await ask({ type: 'ping', to: '10.0.0.2', count: 1 })).received === 1, { what: 'addresses' });
  await impair(links[1], { delay: [20] });
  const path = `${project.path}/links/${links[1].link_id}/captures`;
  const sides = ['before', 'after'] as const;
  const captures: { capture_id: string; capture_file_name: string }[] = [];
  for (const side of sides) captures.push(await client.post(path, { capture_file_name: `${side}.pcap`, side, nanoseconds: true }));
  const history = await client.get<{ entries: HistoryEntry[] }>(`${project.path}/history`);

  const found = await trace(one, two);

  assert.deepEqual([found.answered, found.address, found.untraced_links, found.clocks_differ], [true, '10.0.0.2', [], false]);
  assert.deepEqual(described(found), [
    `echo arrived: PC1>${sw} ${sw}>${hub} ${hub}>PC2`,
    `echo answer arrived: PC2>${hub} ${hub}>${sw} ${sw}>PC1`,
  ]);
  const listed = await client.get<{ capture_id: string; capturing: boolean }[]>(path);
  assert.deepEqual(
    listed.map(({ capture_id, capturing }) => [capture_id, capturing]),
    captures.map(({ capture_id }) => [capture_id, true]),
    'captures of before run on, and there are no others',
  );
  for (const { capture_id } of captures) await client.delete(`${path}/${capture_id}`);
  const [before = [], after = []] = await Promise.all(
    captures.map(async ({ capture_file_name: name }) => {
      const { bytes } = await client.send(`GET ${project.path}/captures/${name}`);
      return parsePcap(bytes).frames.flatMap(({ data, time }) => (data.readUInt16BE(12) === 0x0800 ? [time * 1000] : []));
    }),
  );
  for (const [way, { hops }] of found.ways.entries()) {
    const { at_ms = 0, delay_ms } = hops[1] ?? {};
    assert.ok(Math.abs(at_ms - (before[way] ?? 0)) < apartMs, `${at_ms} is in the capture before the filters: ${before}`);
    assert.ok(
      Math.abs(at_ms + (delay_ms ?? 0) - (after[way] ?? 0)) < apartMs,
      `${delay_ms} leads to the capture behind the filters`,
    );
    assert.ok((delay_ms ?? 0) >= 19.9, `${delay_ms} ms`);
  }
  const { path: folder } = await client.get<{ path: string }>(project.path);
  assert.deepEqual((await readdir(join(folder, 'project-files/captures'))).sort(), ['after.pcap', 'before.pcap']);
  const later = await client.get<{ entries: HistoryEntry[] }>(`${project.path}/history`);
  assert.deepEqual(later.entries.length, history.entries.length, 'a trace changes nothing');
});

test('a link that loses the packet is named, with the filter', async () => {
  await impair(links[2], { frequency_drop: [-1] });
  const lost = await trace(one, two);
  assert.equal(lost.answered, false);
  assert.deepEqual(described(lost), [`echo lost: PC1>${sw} ${sw}>${hub} ${hub}>PC2:frequency_drop`]);
  // A PC that knows no MAC address asks for it first, and sends nothing else.
  const asking = await trace(three, two);
  assert.deepEqual(described(asking), [`arp lost: PC3>${sw} ${sw}>${hub} ${hub}>PC2:frequency_drop`]);
  assert.equal(asking.failure, 'unreachable');
  await impair(links[2], {});
  await client.put(`${project.path}/links/${links[1].link_id}`, { filters: {}, suspend: true }, 201);
  assert.deepEqual(described(await trace(one, two)), [`echo lost: PC1>${sw} ${sw}>${hub}:suspend`]);
  await client.put(`${project.path}/links/${links[1].link_id}`, { suspend: false }, 201);
});

test('where the other node does not answer, the packet has arrived', async () => {
  const unanswered = await trace(one, two, { address: '10.0.0.77' });
  assert.deepEqual(described(unanswered), [`arp arrived: PC1>${sw} ${sw}>${hub} ${hub}>PC2`]);
});

test('a compute notes nothing for nodes of other projects, and forgets a trace with its lease', async () => {
  const port = { link_id: dead.link_id, node_id: three.node_id, adapter_number: 0, port_number: 0 };
  const other = await createProject(client, { auto_close: false });
  await createNode(client, other);
  const body = { trace_id: crypto.randomUUID(), lease_ms: 60_000, marks: [], ports: [port] };
  const place = ({ computePath }: typeof project) => `${computePath}/traces`;
  assert.deepEqual(await client.post<string[]>(place(other), body), []);
  assert.deepEqual(await client.get(`${place(other)}/${body.trace_id}`), []);
  await client.delete(`${place(other)}/${body.trace_id}`);
  const brief = { ...body, trace_id: crypto.randomUUID(), lease_ms: 1 };
  assert.deepEqual(await client.post<string[]>(place(project), brief), [dead.link_id]);
  const status = async () => (await client.send(`GET ${place(project)}/${brief.trace_id}`)).status;
  await waitFor(async () => (await status()) === 404, { what: 'the end of the lease' });
  const many = Array.from({ length: 9 }, () => ({ ...body, trace_id: crypto.randomUUID() }));
  const answers: number[] = [];
  for (const one of many) answers.push((await client.send(`POST ${place(project)}`, { body: one })).status);
  assert.deepEqual(answers, [...Array(8).fill(201), 409]);
  assert.match(await refused(asked(one, two)), /409 8 packets are being traced/);
  for (const { trace_id } of many.slice(0, 8)) await client.delete(`${place(project)}/${trace_id}`);
  for (const wrong of [
    { ...body, marks: ['xyz'] },
    { ...body, lease_ms: 0 },
    { ...body, ports: [{}] },
  ])
    assert.equal((await client.send(`POST ${place(project)}`, { body: wrong })).status, 400);
});
