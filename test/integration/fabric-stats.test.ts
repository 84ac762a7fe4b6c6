/** Statistics of the fabric's links and of the fabric itself. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { waitFor } from '../support/wait-for.ts';
import { linkOf, startFabric, startLink } from '../support/with-fabric.ts';

const frame = Buffer.alloc(100, 'x');

describe('the counters of a link', () => {
  it('report the rate of sent frames for the last second and the last minute', async (context) => {
    const { a, b, stats } = await startLink(context, { filters: { frequency_drop: [2] } });
    a.send(...Array.from({ length: 40 }, () => frame));
    await b.receive(20);
    const busy = await waitFor(
      async () => {
        const link = await stats();
        return link.ab.rates.second.framesPerSecond > 0 && link;
      },
      { what: 'a rate', everyMs: 50 },
    );
    const { second, minute } = busy.ab.rates;
    assert.equal(Math.round(second.bitsPerSecond / second.framesPerSecond), 800);
    assert.ok(minute.framesPerSecond > 0 && minute.framesPerSecond < 21, `${minute.framesPerSecond}`);
    assert.deepEqual(busy.ba.rates.minute, { framesPerSecond: 0, bitsPerSecond: 0 });
    await waitFor(async () => (await stats()).ab.rates.second.framesPerSecond === 0, { what: 'the second to be over' });
    assert.ok((await stats()).ab.rates.minute.framesPerSecond > 0);
    assert.ok(Math.abs(Date.now() - busy.since) < 60_000);
  });

  it('of a thousand links come in one answer, in order', async (context) => {
    const { client, folder } = await startFabric(context);
    const ids = Array.from({ length: 1000 }, (_, index) => `link ${index}`);
    const port = (name: string) => ({ type: 'stream' as const, path: `${folder}/${name}` });
    await client.apply(ids.map((id) => linkOf(port('unused-a'), port('unused-b'), { id })));
    assert.deepEqual(
      (await client.stats()).map(({ id }) => id),
      ids,
    );
    const some = ['link 7', 'link 999', 'no link'];
    assert.deepEqual(
      (await client.stats(some)).map(({ id }) => id),
      some.slice(0, 2),
    );
  });
});

describe('the load of the fabric', () => {
  it('include the delay of the event loop', async (context) => {
    const { client } = await startLink(context);
    const first = await client.load();
    assert.deepEqual(first.loopDelay, { medianMs: 0, p99Ms: 0, maxMs: 0 });
    assert.equal(first.links, 1);
    assert.ok(first.residentBytes > 1e6);
    const later = await waitFor(
      async () => {
        const load = await client.load();
        return load.loopDelay.maxMs > 0 && load;
      },
      { what: 'a measured delay', everyMs: 100 },
    );
    assert.ok(later.loopDelay.medianMs <= later.loopDelay.p99Ms && later.loopDelay.p99Ms <= later.loopDelay.maxMs);
    assert.ok(later.cpuSeconds >= first.cpuSeconds);
  });
});
