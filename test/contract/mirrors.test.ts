/** Mirrors of links (SPAN): requests, that the port is sent the frames, what keeps a mirror, and what ends it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { processesOf } from '../support/leftovers.ts';
import { Pc } from '../support/pc.ts';
import { expectFault, expectStatus, RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle } from '../support/with-server.ts';

interface Stats {
  readonly running: boolean;
  readonly directions: readonly { readonly frames: number }[];
  readonly mirrors?: readonly { readonly node_id: string; readonly frames: number; readonly dropped: object }[];
}

const server = await startServer();
const client = new RawClient(server.url);
let project: ProjectHandle;
let pcs: [Pc, Pc, Pc];
let link: string;
let mirror: string;

const stats = () => client.get<Stats>(`${link}/stats`);
const get = () => client.get<object>(mirror);
const to = (node: NodeBody, adapter_number = 0, port_number = 0) => ({ node_id: node.node_id, adapter_number, port_number });

before(async () => {
  project = await createProject(client);
  pcs = [await Pc.make(client, project, 1), await Pc.make(client, project, 2), await Pc.make(client, project, 3)];
  const nodes = [end(pcs[0].node), end(pcs[1].node)];
  link = `${project.path}/links/${(await client.post<{ link_id: string }>(`${project.path}/links`, { nodes })).link_id}`;
  mirror = `${link}/mirror`;
  expectStatus(await client.send(`POST ${project.path}/nodes/start`, { limitMs: 60_000 }), 204);
  await waitFor(async () => (await stats()).running, { what: 'the link to run' });
});
after(async () => {
  for (const pc of pcs ?? []) pc.close();
  client.close();
  await server.stop();
});

/** Frames pass the link, and as many more reach the third machine. */
async function mirrors(): Promise<void> {
  const figures = async () => {
    const { directions, mirrors: [one] = [] } = await stats();
    return { passed: directions.reduce((sum, { frames }) => sum + frames, 0), mirrored: one?.frames ?? -1, ...one };
  };
  let before = await waitFor(
    async () => {
      const now = await figures();
      return now.mirrored >= 0 && now;
    },
    { what: 'the mirror' },
  );
  const after = await waitFor(
    async () => {
      await pcs[0].reaches(pcs[1]);
      const [now, last] = [await figures(), before];
      // A frame of which one of the two counters did not know yet counts for the next try.
      before = now;
      return now.passed > last.passed + 1 && now.mirrored - last.mirrored === now.passed - last.passed && now;
    },
    { what: 'mirrored frames' },
  );
  assert.deepEqual([after.node_id, after.dropped], [pcs[2].node.node_id, {}]);
}

test('a wrong mirror is refused with the reason, and changes nothing', async () => {
  const hub = await createNode(client, project, 'ethernet_hub');
  const cloud = await createNode(client, project, 'nat');
  const [one, , three] = pcs;
  const unknownId = '00000000-0000-4000-8000-000000000000';
  for (const [body, status, words] of [
    [{}, 400, /node_id/],
    [{ ...to(three.node), colour: 1 }, 400, /colour/],
    [to(three.node, -1), 400, /adapter_number/],
    [to(three.node, 0, 0.5), 400, /port_number/],
    [to(three.node, 0, 7), 404, /port/i],
    [{ ...to(three.node), node_id: unknownId }, 404, /node/i],
    [to(one.node), 409, /already/],
    [to(hub), 409, /mirrored to .*hub/i],
    [to(cloud), 409, /mirrored to/],
  ] as const) {
    expectFault(await client.send(`PUT ${mirror}`, { body }), status, words);
  }
  expectFault(await client.send(`GET ${mirror}`), 404, /not mirrored/);
  await client.delete(mirror);
  expectFault(await client.send(`PUT ${project.path}/links/${unknownId}/mirror`, { body: to(three.node) }), 404);
  for (const node of [hub, cloud]) await client.delete(`${project.path}/nodes/${node.node_id}`);
});

test('the port is sent the frames of both directions, and is occupied; undo reverts it', async () => {
  const [one, , three] = pcs;
  const before = await client.get<object>(link);
  assert.deepEqual(await client.put(mirror, to(three.node)), to(three.node));
  assert.deepEqual([await get(), await client.get(link)], [to(three.node), before], "the link's object is that of GNS3");
  await mirrors();
  const other = await createNode(client, project, 'ethernet_hub');
  const nodes = [end(three.node), end(other)];
  expectFault(await client.send(`POST ${project.path}/links`, { body: { nodes } }), 409, /already/);
  await client.put(link, { filters: { corrupt: [1] } }, 201);
  assert.deepEqual(await get(), to(three.node), 'another change of the link keeps it');
  await client.put(link, { filters: {} }, 201);
  await client.delete(mirror);
  assert.equal((await stats()).mirrors, undefined);
  const made = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes });
  expectFault(await client.send(`PUT ${mirror}`, { body: to(three.node) }), 409, /already/);
  await client.delete(`${project.path}/links/${made.link_id}`);
  await client.delete(`${project.path}/nodes/${other.node_id}`);
  for (let steps = 0; steps < 4; steps += 1) await client.post(`${project.path}/undo`, {}, 200);
  assert.deepEqual(await get(), to(three.node));
  await client.delete(`${project.path}/nodes/${other.node_id}`);
  await mirrors();
  assert.equal(await one.reaches(three), false, 'it is no end of the link');
});

test('it stays when server and fabric are killed, and waits while its node is stopped', async () => {
  const { node } = pcs[2];
  await server.kill9();
  await server.restart();
  assert.deepEqual(await get(), to(node));
  await mirrors();
  const isFabric = ({ commandLine }: { commandLine: string }) => commandLine.includes('fabric/main.');
  const fabric = processesOf(server.dataDir, server.runtimeDirectory).find(isFabric);
  assert.ok(fabric);
  process.kill(fabric.pid, 'SIGKILL');
  await waitFor(async () => (await stats().catch(() => undefined))?.mirrors?.length, { what: 'the next fabric' });
  await mirrors();
  await client.post(`${project.path}/nodes/${node.node_id}/stop`, {}, 200);
  assert.deepEqual([(await stats()).running, (await stats()).mirrors], [true, []]);
  await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
  await mirrors();
});

test('its node takes it along, the link keeps it; undo, copies and files have it', async () => {
  const { node } = pcs[2];
  await client.delete(`${project.path}/nodes/${node.node_id}`);
  expectFault(await client.send(`GET ${mirror}`), 404, /not mirrored/);
  await client.post(`${project.path}/undo`, {}, 200);
  assert.deepEqual(await get(), to(node));
  await client.delete(link);
  await client.post(`${project.path}/undo`, {}, 200);
  assert.deepEqual(await get(), to(node));
  await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
  await mirrors();
  expectStatus(await client.send(`POST ${project.path}/nodes/stop`, { limitMs: 60_000 }), 204);
  const copy = await client.post<{ project_id: string; path: string; filename: string }>(`${project.path}/duplicate`, {
    name: 'copy',
  });
  const file = JSON.parse(await readFile(join(copy.path, copy.filename), 'utf8'));
  const [entry] = file.topology.links;
  assert.deepEqual(Object.keys(entry).sort(), ['filters', 'link_id', 'link_style', 'nodes', 'suspend']);
  const other = `/v2/projects/${copy.project_id}`;
  await client.post(`${other}/open`);
  const copied = await client.get<{ link_style: object; link_id: string }[]>(`${other}/links`);
  const twin = (await client.get<NodeBody[]>(`${other}/nodes`)).find(({ name }) => name === node.name);
  assert.ok(twin && twin.node_id !== node.node_id);
  assert.deepEqual(entry.link_style.patchbay_mirror, to(twin));
  assert.deepEqual(await client.get(`${other}/links/${copied[0]?.link_id}/mirror`), to(twin));
  assert.deepEqual(copied[0]?.link_style, {});
});
