/** Filters and suspension of a real link, seen from both its ends: pings through the fabric to a vpcs. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Pinger } from '../support/pinger.ts';
import { expectFault } from '../support/raw-http.ts';
import { waitFor } from '../support/wait-for.ts';
import { createProject, type NodeBody, withServer } from '../support/with-server.ts';

const bench = await withServer();
let pinger: Pinger;
let nio: { type: string; lport: number; rhost: string; rport: number };
let port: string;

before(async () => {
  const { client } = bench;
  const project = await createProject(client);
  await client.post('/v2/compute/projects', { name: 'here', project_id: project.id });
  const nodes = `${project.computePath}/vpcs/nodes`;
  const { node_id } = await client.post<NodeBody>(nodes, { name: 'peer', startup_script: 'ip 10.0.0.2 255.255.255.0\n' });
  port = `${nodes}/${node_id}/adapters/0/ports/0/nio`;
  pinger = await Pinger.open('10.0.0.2', async (rport) => {
    const { udp_port: lport } = await client.post<{ udp_port: number }>(`${project.computePath}/ports/udp`);
    nio = { type: 'nio_udp', lport, rhost: '127.0.0.1', rport };
    const answer = await client.post(port, nio);
    assert.deepEqual(answer, nio);
    return lport;
  });
  await client.post(`${nodes}/${node_id}/start`, {}, 200);
  await pinger.find();
});
after(() => pinger?.finish());

const change = (fields: Record<string, unknown>) => bench.client.put(port, { ...nio, ...fields }, 201);
const median = (trips: readonly number[]) => trips[trips.length >> 1] ?? Number.NaN;
const count = 40;
/** A busy machine may delay any ping, so pings are repeated until one returns before `ms`. */
const someEarlierThan = (ms: number) =>
  waitFor(async () => ((await pinger.burst(5))[0] ?? ms) < ms, { what: `an answer within ${ms} ms` });

describe('the effect of a filter on pings', () => {
  test('nothing set: all are answered', async () => {
    await change({ filters: {}, suspend: false });
    assert.equal((await pinger.whole(count)).length, count);
  });

  for (const filters of [{ latency: [25] }, { delay: [25] }, { delay: [25, 0] }]) {
    test(`${JSON.stringify(filters)}: both ways 25 ms later, none lost`, async () => {
      await change({ filters });
      const trips = await pinger.whole(count);
      assert.equal(trips.length, count);
      assert.ok((trips[0] ?? 0) >= 49, `${trips[0]} ms is too early`);
      // Twice the delay in each direction would exceed this.
      await someEarlierThan(98);
    });
  }

  test('delay with jitter: within its bounds', async () => {
    await change({ filters: { delay: [20, 10] } });
    const trips = await pinger.whole(count);
    assert.equal(trips.length, count);
    assert.ok((trips[0] ?? 0) >= 19, `${trips[0]} ms`);
    assert.ok(median(trips) > 30, `${median(trips)} ms at the median`);
    await someEarlierThan(40);
  });

  test('frequency_drop 3: each third frame of the mixed sequence, so half of the pings', async () => {
    await change({ filters: { frequency_drop: [3] } });
    const { length } = await pinger.burst(count, 20);
    assert.ok(Math.abs(length - count / 2) <= count / 8, `${length} of ${count} were answered`);
  });

  for (const fields of [
    { filters: { frequency_drop: [-1] } },
    { filters: { frequency_drop: [1] } },
    { filters: { packet_loss: [100] } },
    { filters: {}, suspend: true },
  ]) {
    test(`${JSON.stringify(fields)}: nothing comes through`, async () => {
      await change(fields);
      assert.equal((await pinger.burst(10)).length, 0);
      await change({ filters: {}, suspend: false });
    });
  }

  test('packet_loss 50: about a quarter of the pings has both its frames', async () => {
    await change({ filters: { packet_loss: [50] } });
    const { length } = await pinger.burst(100, 5);
    assert.ok(length > 5 && length < 50, `${length} of 100 were answered`);
  });

  test('bpf: what matches is dropped', async () => {
    await change({ filters: { bpf: ['icmp[icmptype] == 8'] } });
    assert.equal((await pinger.burst(10)).length, 0);
    await change({ filters: { bpf: ['tcp'] } });
    assert.equal((await pinger.whole(10)).length, 10);
  });

  test('match: only what matches is impaired, in the direction for which it is given', async () => {
    await change({ filters: { packet_loss: [100], match: ['udp port 53'] } });
    assert.equal((await pinger.whole(10)).length, 10);
    await change({ filters: { packet_loss: [100], match_ab: ['udp port 53'], match_ba: ['icmp'] } });
    assert.equal((await pinger.burst(10)).length, 0);
    await change({ filters: { delay: [30], match: ['udp port 53\nicmp[icmptype] == icmp-echo'] } });
    const [first = 0] = await pinger.whole(10);
    assert.ok(first >= 29, `${first} ms is too early`);
    await someEarlierThan(60);
  });

  test('corrupt: nothing is lost, and about half of the answers are damaged', async () => {
    // The PC learns this end's address before: a damaged ARP frame would keep all answers away.
    await pinger.whole(5);
    // The node discards damaged requests: only answers are damaged.
    await change({ filters: { corrupt_ab: [50], seed: [1] } });
    const before = pinger.damaged;
    const { length } = await pinger.burst(count);
    const damaged = pinger.damaged - before;
    assert.ok(length + damaged >= count * 0.9, `${length} answers to ${count} pings, ${damaged} damaged`);
    assert.ok(damaged > count / 5 && damaged < count, `${damaged} of ${count} were damaged`);
  });

  test('after all of that the link is as good as new', async () => {
    await change({ filters: {}, suspend: false });
    assert.equal((await pinger.whole(count)).length, count);
  });

  test('unknown filters of a NIO: 400, and the link keeps working', async () => {
    expectFault(await bench.client.send(`PUT ${port}`, { body: { ...nio, filters: { lag: [1] } } }), 400, /latency/);
    assert.equal((await pinger.whole(10)).length, 10);
  });
});
