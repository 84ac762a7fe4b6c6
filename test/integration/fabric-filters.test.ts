/** The filters of a link, and changes of them while frames flow. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileBpf } from '../../src/fabric/bpf-compile.ts';
import type { Filters } from '../../src/schema/filter.ts';
import { waitFor } from '../support/wait-for.ts';
import { type LinkBed, startLink } from '../support/with-fabric.ts';

const seed = 4711;

/** Numbered frames, `first` to `first + count - 1`. */
function numbered(count: number, first = 0): Buffer[] {
  return Array.from({ length: count }, (_, index) => {
    const frame = Buffer.alloc(60);
    frame.writeUInt32BE(first + index, 0);
    return frame;
  });
}
const numbersOf = (frames: readonly Buffer[]) => frames.map((frame) => frame.readUInt32BE(0));
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Settles when the fabric has taken so many frames from `a` and none waits. */
async function settled({ stats }: LinkBed, received: number): Promise<void> {
  const done = async () => {
    const { ab } = await stats();
    return ab.received === received && ab.queued === 0;
  };
  await waitFor(done, { what: `${received} frames to be through` });
}

/** The numbers of those of `count` frames from a that b received. */
async function throughOf(bed: LinkBed, count: number): Promise<number[]> {
  bed.a.send(...numbered(count));
  await settled(bed, count);
  const { ab } = await bed.stats();
  return numbersOf(await bed.b.receive(ab.sent));
}

describe('filters of a link', () => {
  it('frequency_drop counts both directions together', async (context) => {
    const bed = await startLink(context, { filters: { frequency_drop: [3] } });
    const { a, b } = bed;
    for (const number of [0, 2, 4]) {
      a.send(...numbered(1, number));
      await waitFor(async () => (await bed.stats()).ab.received === number / 2 + 1, { what: 'a frame from a' });
      b.send(...numbered(1, number + 1));
      await waitFor(async () => (await bed.stats()).ba.received === number / 2 + 1, { what: 'a frame from b' });
    }
    assert.deepEqual(numbersOf(await b.receive(2)), [0, 4]);
    assert.deepEqual(numbersOf(await a.receive(2)), [1, 3]);
    const { ab, ba } = await bed.stats();
    assert.deepEqual([ab.dropped, ba.dropped], [{ frequency_drop: 1 }, { frequency_drop: 1 }]);
  });

  it('frequency_drop -1 and packet_loss 100 lose all', async (context) => {
    const bed = await startLink(context, { filters: { frequency_drop: [-1] } });
    assert.deepEqual(await throughOf(bed, 100), []);
    await bed.change({ filters: { packet_loss: [100] } });
    bed.a.send(...numbered(50));
    await settled(bed, 150);
    assert.deepEqual((await bed.stats()).ab.dropped, { frequency_drop: 100, packet_loss: 50 });
    assert.equal(bed.b.frames.length, 0);
  });

  it('packet_loss loses the same frames again with the same seed', async (context) => {
    const count = 4000;
    const runs: number[][] = [];
    for (let run = 0; run < 2; run += 1) {
      const bed = await startLink(context, { filters: { packet_loss: [20], seed: [seed] } });
      runs.push(await throughOf(bed, count));
    }
    const lost = count - (runs[0]?.length ?? 0);
    assert.ok(Math.abs(lost - 800) < 4 * Math.sqrt(count * 0.2 * 0.8), `${lost} of ${count}, seed ${seed}`);
    assert.deepEqual(runs[0], runs[1]);
  });

  it('bpf loses what matches one of the expressions', async (context) => {
    const bpf = await Promise.all(['ether[3] = 1', 'ether[3] & 4 != 0'].map((expression) => compileBpf(expression)));
    const bed = await startLink(context, { filters: { bpf: ['two lines'] }, bpf });
    assert.deepEqual(await throughOf(bed, 10), [0, 2, 3, 8, 9]);
    assert.deepEqual((await bed.stats()).ab.dropped, { bpf: 5 });
  });

  it('match limits all filters to what matches; other frames overtake those that wait, and keep their order', async (context) => {
    const match = [await compileBpf('ether[3] = 1'), await compileBpf('ether[3] & 4 != 0')];
    const bed = await startLink(context, { filters: { delay: [200], match: ['two lines'] }, match });
    assert.deepEqual(await throughOf(bed, 10), [0, 2, 3, 8, 9, 1, 4, 5, 6, 7]);
    const match_ab = [await compileBpf('ether[3] = 1')];
    const oneWay = await startLink(context, { filters: { delay: [20], packet_loss: [100], match_ab: ['one'] }, match_ab });
    assert.deepEqual(await throughOf(oneWay, 4), [0, 2, 3]);
    oneWay.b.send(...numbered(4));
    await waitFor(async () => (await oneWay.stats()).ba.dropped.packet_loss === 4, { what: 'all frames back to be lost' });
  });

  it('corrupt damages and loses none', async (context) => {
    const bed = await startLink(context, { filters: { corrupt: [100] } });
    assert.deepEqual(await throughOf(bed, 20), upTo(20));
    assert.ok(bed.b.frames.every((frame) => frame.subarray(24, 39).every((byte) => byte !== 0)));
  });

  it('delay is reported as it was measured', async (context) => {
    const bed = await startLink(context, { filters: { delay: [30] } });
    bed.a.send(...numbered(100));
    await bed.b.receive(100);
    const { ab, ba } = await bed.stats();
    assert.ok(ab.delay && ab.delay.median_ms > 29 && ab.delay.p99_ms >= ab.delay.median_ms, JSON.stringify(ab.delay));
    assert.equal(ba.delay, undefined);
  });

  it('delay acts in both directions, does not throttle, and keeps the order', async (context) => {
    const bed = await startLink(context, { filters: { delay: [60, 20], seed: [seed] } });
    const { a, b } = bed;
    const sentAt = performance.now();
    a.send(...numbered(3000));
    b.send(...numbered(3000));
    // Frames that were delayed in sequence would take three minutes.
    assert.deepEqual(numbersOf(await b.receive(3000)), upTo(3000));
    assert.deepEqual(numbersOf(await a.receive(3000)), upTo(3000));
    for (const { times } of [a, b]) {
      const [first = 0] = times;
      assert.ok(first - sentAt >= 40, `the first after ${first - sentAt} ms`);
    }
  });
});

describe('filters other than loss and delay', () => {
  it('duplicate sends every frame twice, the copies side by side', async (context) => {
    const bed = await startLink(context, { filters: { duplicate: [100] } });
    bed.a.send(...numbered(500));
    assert.deepEqual(
      numbersOf(await bed.b.receive(1000)),
      upTo(500).flatMap((number) => [number, number]),
    );
    const { ab } = await bed.stats();
    assert.deepEqual([ab.received, ab.sent, ab.dropped], [500, 1000, {}]);
  });

  it('reorder loses none, and a held frame continues when no other overtakes it', async (context) => {
    const count = 2000;
    const bed = await startLink(context, { filters: { reorder: [10, 3], seed: [seed] } });
    bed.a.send(...numbered(count));
    const numbers = numbersOf(await bed.b.receive(count));
    assert.deepEqual(
      numbers.toSorted((one, other) => one - other),
      upTo(count),
    );
    const late = numbers.filter((number, index) =>
      numbers.slice(Math.max(0, index - 3), index).some((earlier) => earlier > number),
    );
    assert.ok(Math.abs(late.length - 200) < 4 * Math.sqrt(count * 0.1 * 0.9), `${late.length} of ${count}, seed ${seed}`);
    await bed.change({ filters: { reorder: [100, 3] } });
    bed.a.send(...numbered(2, count));
    assert.deepEqual(numbersOf(await bed.b.receive(count + 2)).slice(count), [count, count + 1]);
  });

  it('bandwidth accepts as many frames as its queue holds, sends them, and counts the others', async (context) => {
    // 400 frames of 60 bytes fit; at 480 kbit/s they take 400 ms.
    const bed = await startLink(context, { filters: { bandwidth: [480, 24_000] } });
    const began = performance.now();
    bed.a.send(...numbered(1000));
    await waitFor(async () => (await bed.stats()).ab.received === 1000, { what: 'all to come in' });
    const cameMs = performance.now() - began;
    await settled(bed, 1000);
    const { ab } = await bed.stats();
    assert.equal(ab.sent + (ab.dropped.bandwidth ?? 0), 1000);
    // A read may bring fewer than all of them at once; meanwhile one leaves each millisecond.
    assert.ok(ab.sent >= 400 && ab.sent <= 402 + cameMs, `${ab.sent} were sent, all had come after ${cameMs} ms`);
    assert.ok(performance.now() - began > 350);
    assert.deepEqual(numbersOf(await bed.b.receive(ab.sent)).slice(0, 400), upTo(400));
  });

  it('jitter lets frames overtake on request, and loses none', async (context) => {
    const bed = await startLink(context, { filters: { delay: [30, 20], jitter: ['uniform', 1], seed: [seed] } });
    bed.a.send(...numbered(1000));
    const numbers = numbersOf(await bed.b.receive(1000));
    assert.notDeepEqual(numbers, upTo(1000));
    assert.deepEqual(
      numbers.toSorted((one, other) => one - other),
      upTo(1000),
    );
  });

  it('each direction has its own filters', async (context) => {
    const bpf_ba = [await compileBpf('ether[3] & 1 = 1')];
    const bed = await startLink(context, { filters: { packet_loss_ab: [100], bpf_ba: ['odd'] }, bpf_ba });
    bed.a.send(...numbered(10));
    bed.b.send(...numbered(10));
    assert.deepEqual(numbersOf(await bed.a.receive(5)), [0, 2, 4, 6, 8]);
    await settled(bed, 10);
    const { ab, ba } = await bed.stats();
    assert.deepEqual([ab.dropped, ba.dropped], [{ packet_loss: 10 }, { bpf: 5 }]);
  });

  it('the same seed does the same to the same frames', async (context) => {
    const filters: Filters = { packet_loss: [10], duplicate: [10], reorder: [10, 2], corrupt: [10], seed: [seed] };
    const runs: string[] = [];
    for (const number of [seed, seed, seed + 1]) {
      const bed = await startLink(context, { filters: { ...filters, seed: [number] } });
      bed.a.send(...numbered(2000));
      await settled(bed, 2000);
      const frames = await bed.b.receive((await bed.stats()).ab.sent);
      runs.push(Buffer.concat(frames).toString('hex'));
    }
    assert.equal(runs[0], runs[1]);
    assert.notEqual(runs[0], runs[2]);
  });
});

describe('changing a link while frames flow', () => {
  it('loses nothing that waits, and nothing overtakes it', async (context) => {
    const bed = await startLink(context, { filters: { delay: [300] } });
    bed.a.send(...numbered(10));
    await waitFor(async () => (await bed.stats()).ab.queued === 10, { what: 'frames to wait' });
    await bed.change({ filters: { delay: [100] } });
    bed.a.send(...numbered(10, 10));
    await waitFor(async () => (await bed.stats()).ab.queued === 20, { what: 'more frames to wait' });
    await bed.change({});
    bed.a.send(...numbered(10, 20));
    assert.deepEqual(numbersOf(await bed.b.receive(30)), upTo(30));
    assert.deepEqual((await bed.stats()).ab.dropped, {});
  });

  it('keeps counters, and the count of a filter that stays', async (context) => {
    const bed = await startLink(context, { filters: { frequency_drop: [4] } });
    assert.deepEqual(await throughOf(bed, 3), [0, 1, 2]);
    await bed.change({ filters: { frequency_drop: [4], delay: [1] } });
    bed.a.send(...numbered(2, 3));
    await settled(bed, 5);
    assert.deepEqual(numbersOf(await bed.b.receive(4)), [0, 1, 2, 4]);
    await bed.change({ filters: { frequency_drop: [5], delay: [1] } });
    bed.a.send(...numbered(5, 5));
    await settled(bed, 10);
    assert.deepEqual(numbersOf(await bed.b.receive(8)), [0, 1, 2, 4, 5, 6, 7, 8]);
    assert.equal(bed.a.connections + bed.b.connections, 2);
  });

  it('suspend loses everything, both ways, and what waits as well', async (context) => {
    const bed = await startLink(context, { filters: { delay: [100] } });
    bed.a.send(...numbered(5));
    await waitFor(async () => (await bed.stats()).ab.queued === 5, { what: 'frames to wait' });
    await bed.change({ filters: { delay: [100] }, suspend: true });
    bed.a.send(...numbered(3));
    bed.b.send(...numbered(4));
    const lost = async () => {
      const { ab, ba } = await bed.stats();
      return ab.dropped.suspend === 8 && ba.dropped.suspend === 4;
    };
    await waitFor(lost, { what: 'all to be lost' });
    await bed.change({});
    bed.a.send(...numbered(1, 9));
    assert.deepEqual(numbersOf(await bed.b.receive(1)), [9]);
  });

  it('survives any number of changes under load without a loss', async (context) => {
    const bed = await startLink(context);
    const total = 20_000;
    const sending = (async () => {
      for (let first = 0; first < total; first += 50) {
        bed.a.send(...numbered(50, first));
        await new Promise(setImmediate);
      }
    })();
    let changes = 0;
    while (bed.b.frames.length < total && changes < 500) {
      await bed.change({ filters: changes % 3 === 0 ? {} : { delay: [changes % 7, changes % 5] } });
      changes += 1;
    }
    await sending;
    assert.deepEqual(numbersOf(await bed.b.receive(total)), upTo(total));
  });
});
