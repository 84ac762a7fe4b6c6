/** Schedules of links: requests, what keeps them, undo, and that they act on the frames of a running link. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { processesOf } from '../support/leftovers.ts';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { command, openTelnet, skipHistory } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';

interface Schedule {
  readonly started_at: number;
  readonly steps: { readonly at: number; readonly filters?: Record<string, unknown> }[];
  readonly traces: { readonly length: number; readonly samples: unknown[] }[];
}
interface Direction {
  readonly received_frames: number;
  readonly dropped: Record<string, number>;
}
interface Stats {
  readonly running: boolean;
  readonly schedule?: { started_at: number; elapsed: number; filters: Record<string, unknown>; suspend: boolean };
  readonly directions: [Direction, Direction];
}
interface LinkBody extends Record<string, unknown> {
  readonly link_id: string;
}

const { server, client } = await withServer();
let project: ProjectHandle;
let one: NodeBody;
let link: string;
let schedule: string;

const stats = () => client.get<Stats>(`${link}/stats`);
const get = () => client.get<Schedule>(schedule);
const put = (body: object) => client.put<Schedule>(schedule, body);
/** A schedule whose second step has begun, whatever the machine's speed. */
const begun = () => ({
  started_at: Date.now() - 60_000,
  steps: [
    { at: 50_000, filters: { packet_loss_ab: [100], delay_ba: [5] } },
    { at: 10_000, suspend: true },
    { at: 40_000, suspend: false },
  ],
});

before(async () => {
  project = await createProject(client);
  const pc = (number: 1 | 2) => createNode(client, project, 'vpcs', { properties: { startup_script: `ip 10.0.0.${number}/24\n` } });
  const nodes = [await pc(1), await pc(2)] as const;
  [one] = nodes;
  const made = await client.post<LinkBody>(`${project.path}/links`, {
    nodes: nodes.map((node) => end(node)),
    filters: { delay: [1] },
  });
  link = `${project.path}/links/${made.link_id}`;
  schedule = `${link}/schedule`;
  expectStatus(await client.send(`POST ${project.path}/nodes/start`, { limitMs: 60_000 }), 204);
  await waitFor(async () => (await stats()).running, { what: 'the link to run' });
});

async function ping(): Promise<void> {
  const { console } = await client.get<NodeBody>(`${project.path}/nodes/${one.node_id}`);
  const telnet = await openTelnet(console as number);
  await skipHistory(telnet);
  await command(telnet, 'ping 10.0.0.2 -c 1', /ttl=|timeout|not reachable/).finally(() => telnet.close());
}

/** Every frame of the first node is lost by the filter of this type. */
async function losesBy(type: string): Promise<void> {
  const [before] = (await stats()).directions;
  const after = await waitFor(
    async () => {
      await ping();
      const [ab] = (await stats()).directions;
      return ab.received_frames > before.received_frames && ab;
    },
    { what: 'frames into the link', limitMs: 60_000 },
  );
  assert.equal((after.dropped[type] ?? 0) - (before.dropped[type] ?? 0), after.received_frames - before.received_frames);
}

test('requests: set, read, refused, removed; the link object stays that of GNS3', async () => {
  expectFault(await client.send(`GET ${schedule}`), 404, /has no schedule/);
  const before = await client.get<LinkBody>(link);
  const wanted = begun();
  const set = await put({ ...wanted, traces: [{ format: 'csv', text: '0,1000\n100,500' }] });
  assert.deepEqual(
    set.steps.map(({ at }) => at),
    [10_000, 40_000, 50_000],
  );
  assert.deepEqual(set.traces, [
    {
      length: 200,
      samples: [
        [0, 1000, null, null],
        [100, 500, null, null],
      ],
    },
  ]);
  assert.deepEqual([await get(), await client.get(link)], [set, before]);
  for (const [body, words] of [
    [{ steps: [{ at: 0, filters: { latency: [5] } }] }, /latency cannot be scheduled/],
    [{ steps: [{ at: 0, filters: { match_ba: ['udp prt 53'] } }] }, /Filter match_ba: .*syntax error/],
    [{ repeat: 0, steps: [{ at: 0 }] }, /needs a duration/],
    [{ traces: [{ format: 'mahimahi', text: '1\nx' }] }, /traces\[0\]: line 2/],
    [{ steps: [{ at: -1 }] }, /at/],
    [{ steps: Array.from({ length: 1001 }, (_, at) => ({ at })) }, /steps/],
    [{ steps: [], colour: 1 }, /colour/],
  ] as const) {
    expectFault(await client.send(`PUT ${schedule}`, { body }), 400, words);
  }
  assert.deepEqual(await get(), set);
  await client.delete(schedule);
  expectFault(await client.send(`GET ${schedule}`), 404);
  await client.delete(schedule);
});

test('it acts from its start, on top of the filters of the link, and undo reverts it', async () => {
  await put(begun());
  const now = (await stats()).schedule;
  assert.ok(now && now.elapsed >= 60_000 && !now.suspend);
  assert.deepEqual(now.filters, { delay: [1], packet_loss_ab: [100], delay_ba: [5] });
  await losesBy('packet_loss');
  await put({ started_at: Date.now() + 3_600_000, steps: [{ at: 0, suspend: true }] });
  assert.deepEqual((await stats()).schedule?.filters, { delay: [1] });
  await put({ steps: [{ at: 0, filters: { match: ['arp\nip or ip6'], bpf_ab: ['greater 1'], seed: [7] } }] });
  await losesBy('bpf');
  await put({ steps: [{ at: 300, suspend: true }] });
  await waitFor(async () => (await stats()).schedule?.suspend, { what: 'the step' });
  await losesBy('suspend');
  await client.post(`${project.path}/undo`, {}, 200);
  assert.deepEqual((await get()).steps[0]?.filters, { match: ['arp\nip or ip6'], bpf_ab: ['greater 1'], seed: [7] });
  await client.post(`${project.path}/undo`, {}, 200);
  assert.equal((await get()).steps[0]?.at, 0);
  await client.post(`${project.path}/undo`, {}, 200);
  assert.equal((await get()).steps.length, 3);
  await client.put(link, { filters: { corrupt: [1] } }, 201);
  assert.equal((await get()).steps.length, 3, 'another change of the link keeps it');
  await losesBy('packet_loss');
});

test('it continues when server and fabric are killed', async () => {
  const { started_at } = await get();
  await server.kill9();
  await server.restart();
  assert.equal((await get()).started_at, started_at);
  await losesBy('packet_loss');
  const isFabric = ({ commandLine }: { commandLine: string }) => commandLine.includes('fabric/main.');
  const fabric = processesOf(server.dataDir, server.runtimeDirectory).find(isFabric);
  assert.ok(fabric);
  process.kill(fabric.pid, 'SIGKILL');
  await waitFor(async () => (await stats().catch(() => undefined))?.schedule, { what: 'the next fabric' });
  const now = (await stats()).schedule;
  assert.ok(now && now.started_at === started_at && now.elapsed >= 60_000);
  await losesBy('packet_loss');
});

test('copies, snapshots and the restored link have it; the file keeps it where GNS3 does not look', async () => {
  const set = await get();
  const { snapshot_id } = await client.post<{ snapshot_id: string }>(`${project.path}/snapshots`, { name: 'with schedule' });
  await client.delete(link);
  await client.post(`${project.path}/undo`, {}, 200);
  assert.deepEqual(await get(), set);
  expectStatus(await client.send(`POST ${project.path}/nodes/stop`, { limitMs: 60_000 }), 204);
  const copy = await client.post<{ project_id: string; path: string; filename: string }>(`${project.path}/duplicate`, {
    name: 'copy',
  });
  const file = JSON.parse(await readFile(join(copy.path, copy.filename), 'utf8'));
  const [entry] = file.topology.links;
  assert.deepEqual(Object.keys(entry).sort(), ['filters', 'link_id', 'link_style', 'nodes', 'suspend']);
  assert.deepEqual(entry.link_style.patchbay_schedule, set);
  const other = `/v2/projects/${copy.project_id}`;
  await client.post(`${other}/open`);
  const [copied] = await client.get<LinkBody[]>(`${other}/links`);
  assert.deepEqual(await client.get(`${other}/links/${copied?.link_id}/schedule`), set);
  assert.deepEqual(copied?.link_style, {});
  await client.delete(schedule);
  await client.post(`${project.path}/snapshots/${snapshot_id}/restore`);
  assert.deepEqual(await get(), set);
});
