/** `/metrics`: whether it is Prometheus' text format, and whether the figures are those of what happened. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LinkStats } from '../../src/schema/link-stats.ts';
import { expectStatus, RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { command, openTelnet, skipHistory } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';

const bench = await withServer();

/** Samples by name and labels, unparsed. @see https://prometheus.io/docs/instrumenting/exposition_formats */
async function scrape(client = bench.client): Promise<Map<string, number>> {
  const reply = expectStatus(await client.send('GET /metrics'), 200);
  assert.equal(reply.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  assert.equal(reply.headers['x-route'], '/metrics');
  const samples = new Map<string, number>();
  const types = new Map<string, string>();
  for (const line of reply
    .text()
    .split('\n')
    .filter((text) => text !== '' && !text.startsWith('# HELP'))) {
    const [, described = '', type = ''] = /^# TYPE (\w+) (counter|gauge|histogram|summary)$/.exec(line) ?? [];
    if (described !== '') {
      assert.ok(!types.has(described), `${described} is there twice`);
      types.set(described, type);
      continue;
    }
    const [, sample = '', name = '', value = ''] = /^((\w+)(?:\{(?:\w+="(?:[^"\\\n]|\\.)*",?)*\})?) (\S+)$/.exec(line) ?? [];
    // NaN: not measured since the last scrape. Readers accept NaN in any case of letters.
    assert.ok(sample !== '' && (value === 'Nan' || Number.isFinite(Number(value))), line);
    assert.ok(types.has(name) || types.has(name.replace(/_(bucket|sum|count)$/, '')), `${name} has no type`);
    assert.ok(!samples.has(sample), `${sample} is there twice`);
    samples.set(sample, Number(value));
  }
  return samples;
}

const valuesOf = (samples: Map<string, number>, start: string, has = '') =>
  [...samples].filter(([sample]) => sample.startsWith(start) && sample.includes(has)).map(([, value]) => value);

describe('the metrics', () => {
  test('count requests by route and status, and paths that are no route as one', async () => {
    const version = 'route="GET /v2/version",status="200"';
    const unknown = 'route="unknown",status="404"';
    const before = await scrape();
    for (let count = 0; count < 3; count += 1) await bench.client.get('/v2/version');
    for (const path of ['/nowhere', '/v2/nowhere', '/%22%0a']) await bench.client.send(`GET ${path}`);
    await bench.client.send(`GET /v2/projects/${crypto.randomUUID()}`);
    const after = await scrape();
    const grown = (sample: string) => (after.get(sample) ?? 0) - (before.get(sample) ?? 0);
    assert.equal(grown(`patchbay_http_requests_total{${version}}`), 3);
    assert.equal(grown(`patchbay_http_requests_total{${unknown}}`), 3);
    assert.equal(grown('patchbay_http_requests_total{route="GET /v2/projects/{project_id}",status="404"}'), 1);
    assert.equal(grown(`patchbay_http_request_duration_seconds_bucket{le="+Inf",${version}}`), 3);
    assert.equal(grown(`patchbay_http_request_duration_seconds_count{${version}}`), 3);
    assert.ok(grown(`patchbay_http_request_duration_seconds_sum{${version}}`) > 0);
    assert.ok(![...after.keys()].some((sample) => sample.includes('nowhere')));
  });

  test('count streams when they begin', async () => {
    const sample = 'patchbay_http_requests_total{route="GET /v2/notifications",status="200"}';
    const before = (await scrape()).get(sample) ?? 0;
    const answer = await fetch(`${bench.server.url}/v2/notifications`);
    assert.equal((await scrape()).get(sample), before + 1);
    await answer.body?.cancel();
    assert.equal((await scrape()).get(sample), before + 1);
  });

  test('cover nodes, links, captures and the fabric', async () => {
    const project = await createProject(bench.client);
    const pc = (number: 1 | 2, name: string) =>
      createNode(bench.client, project, 'vpcs', { name, properties: { startup_script: `ip 10.0.0.${number}/24\n` } });
    const [one, other] = [await pc(1, 'a "quoted" \\ name'), await pc(2, 'PC2')];
    const { link_id } = await bench.client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(one), end(other)] });
    const link = `${project.path}/links/${link_id}`;
    assert.deepEqual(valuesOf(await scrape(), 'patchbay_link_up', link_id), [0]);
    expectStatus(await bench.client.send(`POST ${project.path}/nodes/start`, { limitMs: 60_000 }), 204);
    await bench.client.post(`${link}/start_capture`, { capture_file_name: 'x.pcap' });
    const telnet = await openTelnet(one.console as number);
    await skipHistory(telnet);
    await command(telnet, 'ping 10.0.0.2 -c 3 -i 100', /seq=3 ttl=/).finally(() => telnet.close());
    const samples = await scrape();
    const { directions, captures } = await bench.client.get<LinkStats>(`${link}/stats`);
    const frames = directions.map((direction) => direction.frames);
    assert.deepEqual(valuesOf(samples, 'patchbay_link_frames_total', link_id), frames);
    assert.deepEqual(valuesOf(samples, 'patchbay_link_up', link_id), [1]);
    assert.equal(captures.length, 1);
    assert.deepEqual([captures[0]?.file_name, captures[0]?.missed_frames, captures[0]?.side], ['x.pcap', 0, 'after']);
    assert.deepEqual(valuesOf(samples, 'patchbay_capture_missed_frames_total', link_id), [0]);
    assert.ok((valuesOf(samples, 'patchbay_capture_frames_total', link_id)[0] ?? 0) >= 6);
    assert.deepEqual(valuesOf(samples, 'patchbay_node_status', `node_id="${one.node_id}"`), [1]);
    // PCs are part of the fabric's process.
    assert.deepEqual(valuesOf(samples, 'patchbay_node_memory_bytes', one.node_id), []);
    assert.equal(samples.get('patchbay_fabric_up'), 1);
    assert.ok((samples.get('patchbay_fabric_links') ?? 0) >= 1);
    assert.ok((samples.get('patchbay_fabric_cpu_seconds_total') ?? 0) > 0);
    assert.ok(samples.has('nodejs_eventloop_lag_seconds') && samples.has('process_cpu_seconds_total'));
    const late = 'patchbay_fabric_event_loop_delay_seconds{quantile="1"}';
    await waitFor(async () => ((await scrape()).get(late) ?? 0) > 0, { what: "the fabric's delay to be measured", everyMs: 200 });
  });

  test('require credentials', async () => {
    const Server = { auth: true, user: 'ann', password: 'secret' };
    const server = await startServer({ config: { Server, Qemu: { acceleration: 'off' } } });
    const client = new RawClient(server.url);
    try {
      expectStatus(await client.send('GET /metrics'), 401);
      const authorization = `Basic ${Buffer.from('ann:secret').toString('base64')}`;
      expectStatus(await client.send('GET /metrics', { headers: { authorization } }), 200);
    } finally {
      client.close();
      await server.stop();
    }
  });
});
