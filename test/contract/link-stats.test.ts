/** Statistics of links: counters, rates, and a notification per second for clients that subscribe. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DirectionCounters, LinkStats } from '../../src/schema/link-stats.ts';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { command, openTelnet, skipHistory } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';

const bench = await withServer();

interface Lab {
  project: ProjectHandle;
  one: NodeBody;
  other: NodeBody;
  /** Path of the link. */
  path: string;
}

async function makeLab(): Promise<Lab> {
  const project = await createProject(bench.client);
  const pc = (number: 1 | 2) =>
    createNode(bench.client, project, 'vpcs', { properties: { startup_script: `ip 10.0.0.${number}/24\n` } });
  const [one, other] = [await pc(1), await pc(2)];
  const { link_id } = await bench.client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(one), end(other)] });
  return { project, one, other, path: `${project.path}/links/${link_id}` };
}

const startAll = async ({ project }: Lab) =>
  expectStatus(await bench.client.send(`POST ${project.path}/nodes/start`, { limitMs: 60_000 }), 204);
const read = ({ path }: Lab) => bench.client.get<LinkStats>(`${path}/stats`);

async function ping({ one }: Lab, count: number, says = new RegExp(`seq=${count} ttl=`)): Promise<void> {
  const telnet = await openTelnet(one.console as number);
  await skipHistory(telnet);
  await command(telnet, `ping 10.0.0.2 -c ${count} -i 100`, says).finally(() => telnet.close());
}

const ends = ({ from_node_id, from_node, to_node_id, to_node }: DirectionCounters) => [
  from_node_id,
  from_node,
  to_node_id,
  to_node,
];

describe('the counters of a link', () => {
  test('name sender and receiver, and are zero with a reason while the link cannot carry frames', async () => {
    const lab = await makeLab();
    const { one, other, project, path } = lab;
    const stats = await read(lab);
    const { directions, ...rest } = stats;
    const reason = `${one.name} and ${other.name} are not started`;
    const link_id = path.split('/').at(-1);
    assert.deepEqual(rest, { project_id: project.id, link_id, running: false, reason, carrier: null, since: null, captures: [] });
    assert.deepEqual(directions.map(ends), [
      [one.node_id, one.name, other.node_id, other.name],
      [other.node_id, other.name, one.node_id, one.name],
    ]);
    for (const direction of directions) {
      const { frames, received_bytes, dropped, delay, last_second } = direction;
      assert.deepEqual([frames, received_bytes, dropped, delay, last_second.frames_per_second], [0, 0, {}, null, 0]);
    }
    assert.deepEqual(await bench.client.get(`${project.path}/link_stats`), [stats]);
    expectStatus(await bench.client.send(`POST ${project.path}/nodes/${one.node_id}/start`), 200);
    assert.deepEqual([(await read(lab)).running, (await read(lab)).reason], [false, `${other.name} is not started`]);
  });

  test('count each way, what filters take away, and how much it was a second', async () => {
    const lab = await makeLab();
    await startAll(lab);
    await ping(lab, 5);
    const { running, reason, since, directions } = await read(lab);
    assert.deepEqual([running, reason], [true, null]);
    assert.ok(Math.abs(Date.parse(since ?? '') - Date.now()) < 60_000, `${since}`);
    for (const { frames, bytes, received_frames, received_bytes, dropped } of directions) {
      assert.ok(frames >= 5 && bytes >= 5 * 98, `${frames} frames, ${bytes} bytes`);
      assert.deepEqual([received_frames, received_bytes, dropped], [frames, bytes, {}]);
    }
    await waitFor(async () => (await read(lab)).directions.every((way) => way.last_minute.frames_per_second > 0), {
      what: 'rates of the last minute',
    });
    await bench.client.put(lab.path, { filters: { packet_loss: [100] } }, 201);
    await ping(lab, 3, /3 {2}timeout|seq=3 timeout|not reachable/);
    const [forth] = (await read(lab)).directions;
    assert.ok((forth.dropped.packet_loss ?? 0) >= 3, JSON.stringify(forth.dropped));
    assert.equal(forth.received_frames - forth.frames, forth.dropped.packet_loss);
  });

  test('report the actual delay of frames', async () => {
    const lab = await makeLab();
    await startAll(lab);
    assert.equal((await read(lab)).directions[0].delay, null);
    await bench.client.put(lab.path, { filters: { delay: [40, 0] } }, 201);
    await ping(lab, 3);
    for (const { delay } of (await read(lab)).directions) {
      assert.ok(delay && delay.median_ms >= 39.9 && delay.p99_ms >= delay.median_ms, JSON.stringify(delay));
    }
  });

  test('of a link to a switch count flooded frames', async () => {
    const lab = await makeLab();
    const ethernetSwitch = await createNode(bench.client, lab.project, 'ethernet_switch');
    const third = await createNode(bench.client, lab.project, 'vpcs');
    const { link_id } = await bench.client.post<{ link_id: string }>(`${lab.project.path}/links`, {
      nodes: [end(third), end(ethernetSwitch)],
    });
    const path = `${lab.project.path}/links/${link_id}`;
    assert.equal((await bench.client.get<LinkStats>(`${path}/stats`)).reason, `${third.name} is not started`);
    await startAll(lab);
    const telnet = await openTelnet(third.console as number);
    await skipHistory(telnet);
    await command(telnet, 'ip 10.0.0.3/24', /10\.0\.0\.3/);
    await command(telnet, 'ping 10.0.0.2 -c 1', /not reachable/).finally(() => telnet.close());
    const { running, directions } = await bench.client.get<LinkStats>(`${path}/stats`);
    assert.deepEqual([running, directions[0].to_node], [true, ethernetSwitch.name]);
    assert.ok(directions[0].frames > 0);
    assert.equal(directions[1].frames, 0);
  });

  test('are refused as other requests for links are', async () => {
    const { project, path } = await makeLab();
    const unknown = `${project.path}/links/${crypto.randomUUID()}/stats`;
    expectFault(await bench.client.send(`GET ${unknown}`), 404, /Link ID/);
    await bench.client.post(`${project.path}/close`, {}, 204);
    expectFault(await bench.client.send(`GET ${path}/stats`), 403, /not opened/);
    expectFault(await bench.client.send(`GET ${project.path}/link_stats`), 403, /not opened/);
    expectFault(await bench.client.send(`GET /v2/projects/${crypto.randomUUID()}/link_stats`), 404, /Project ID/);
  });
});

describe('listeners', () => {
  const isStats = (message: string | Buffer) => (JSON.parse(String(message)) as { action: string }).action === 'link.stats';

  test('receive the counters every second if they subscribe, and not otherwise', async () => {
    const lab = await makeLab();
    const url = `${bench.server.url}${lab.project.path}/notifications/ws`;
    const [asking, others] = [await openWebSocket(`${url}?link_stats=true`), await openWebSocket(url)];
    await asking.next(isStats);
    await startAll(lab);
    await ping(lab, 2);
    const notice = await asking.next((message) => {
      const { action, event } = JSON.parse(String(message)) as { action: string; event: LinkStats };
      return action === 'link.stats' && event.directions.every(({ frames }) => frames >= 2);
    });
    const { event } = JSON.parse(String(notice)) as { event: LinkStats };
    assert.deepEqual([event.project_id, event.link_id], [lab.project.id, lab.path.split('/').at(-1)]);
    assert.deepEqual(Object.keys(event).sort(), Object.keys(await read(lab)));
    asking.close();
    await asking.closed;
    await bench.client.put(lab.path, { suspend: true }, 201);
    await others.next((message) => String(message).includes('link.updated'));
    assert.ok(!others.messages.some(isStats));
    others.close();
  });

  test('receive only changes if they subscribe to changes', async () => {
    const lab = await makeLab();
    const url = `${bench.server.url}${lab.project.path}/notifications/ws`;
    const [all, changes] = [await openWebSocket(`${url}?link_stats=true`), await openWebSocket(`${url}?link_stats_changed=true`)];
    await changes.next(isStats);
    for (let second = 0; second < 3; second += 1) await all.next(isStats);
    assert.equal(changes.messages.filter(isStats).length, 1);
    await startAll(lab);
    await ping(lab, 2);
    await changes.next((message) => {
      const { action, event } = JSON.parse(String(message)) as { action: string; event: LinkStats };
      return action === 'link.stats' && event.directions.every(({ frames }) => frames >= 2);
    });
    for (const socket of [all, changes]) socket.close();
  });

  test('of the plain stream can ask too; nonsense is refused', async () => {
    const { project } = await makeLab();
    const path = `${project.path}/notifications`;
    expectFault(await bench.client.send(`GET ${path}?link_stats=perhaps`), 400, /link_stats is true or false/);
    const { body } = await fetch(`${bench.server.url}${path}?link_stats=1`);
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (reader && !text.includes('"action":"link.stats"')) text += (await reader.read()).value ?? '';
    await reader?.cancel();
    assert.match(text, /"running":false/);
  });
});
