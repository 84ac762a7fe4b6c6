/** Held links: nothing leaves them, frames wait and can be saved, and leave afterwards in their order and with what remained of their delay. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { it } from 'node:test';
import { HeldLinks } from '../../src/compute/links/held-links.ts';
import type { FabricWiring } from '../../src/compute/links/wiring.ts';
import type { DirectionPlace } from '../../src/fabric/protocol.ts';
import { waitFor } from '../support/wait-for.ts';
import { type LinkBed, linkOf, startLink } from '../support/with-fabric.ts';

const both: DirectionPlace[] = [
  { link: 'link', direction: 'ab' },
  { link: 'link', direction: 'ba' },
];
const leaseMs = 60_000;

const frame = (number: number) => Buffer.alloc(60, number);
const numbersOf = (frames: readonly Buffer[]) => frames.map((each) => each[0]);

async function queued({ stats }: LinkBed, count: number): Promise<void> {
  const sum = async () => {
    const { ab, ba } = await stats();
    return ab.queued + ba.queued;
  };
  await waitFor(async () => (await sum()) === count, { what: `${count} frames that wait` });
}

it('a held link keeps frames, which are saved and come before later ones', async (context) => {
  const bed = await startLink(context);
  const { a, b, client, folder } = bed;
  await client.hold(['link', 'other'], leaseMs);
  a.send(frame(1), frame(2));
  b.send(frame(3));
  await queued(bed, 3);
  const file = `${folder}/frames`;
  assert.equal(await client.saveFrames(file, both), 3);
  assert.deepEqual([a.frames, b.frames], [[], []]);
  await client.release(['link']);
  assert.deepEqual(numbersOf(await b.receive(2)), [1, 2]);
  assert.deepEqual(numbersOf(await a.receive(1)), [3]);

  // Frames of the file came before those sent while the link was held.
  await client.hold(['link'], leaseMs);
  a.send(frame(4));
  await queued(bed, 1);
  assert.equal(await client.loadFrames(file, both), 3);
  await client.release(['link']);
  assert.deepEqual(numbersOf(await b.receive(5)), [1, 2, 1, 2, 4]);
  assert.deepEqual(numbersOf(await a.receive(2)), [3, 3]);

  // A file of another form adds what is whole, and is refused.
  const content = await readFile(file);
  await writeFile(file, content.subarray(0, -1));
  await client.hold(['link'], leaseMs);
  await assert.rejects(client.loadFrames(file, both), /frames is damaged at byte/);
  await client.release(['link']);
  await b.receive(7);

  // A link that is made while its id is held begins so.
  await client.remove(['link']);
  await client.apply([linkOf(a.port, b.port, { id: 'other' })]);
  await Promise.all([a.connected(2), b.connected(2)]);
  a.send(frame(9));
  await waitFor(async () => (await client.stats(['other']))[0]?.ab.queued === 1, { what: 'a frame that waits' });
  await client.release(['other']);
  assert.deepEqual(numbersOf((await b.receive(8)).slice(7)), [9]);

  // More than is written at once.
  const many = Array.from({ length: 10_000 }, (_, index) => frame(index % 251));
  const there: DirectionPlace = { link: 'other', direction: 'ab' };
  await client.hold(['other'], leaseMs);
  a.send(...many);
  await waitFor(async () => (await client.stats(['other']))[0]?.ab.queued === many.length, { what: 'many frames that wait' });
  assert.equal(await client.saveFrames(file, [there]), many.length);
  assert.equal(await client.loadFrames(file, [there]), many.length);
  await client.release(['other']);
  assert.deepEqual(numbersOf((await b.receive(8 + 2 * many.length)).slice(8)), numbersOf([...many, ...many]));
});

it('delays stand still while a link is held, and a lease that ends releases it', async (context) => {
  const bed = await startLink(context, { filters: { latency: [1000] } });
  const { a, b, client, folder } = bed;
  a.send(frame(1));
  await queued(bed, 1);
  await client.hold(['link'], leaseMs);
  const file = `${folder}/frames`;
  const remaining = async () => {
    await client.saveFrames(file, both);
    return (await readFile(file)).readDoubleBE(4);
  };
  const before = await remaining();
  assert.ok(before > 0 && before <= 1000, `${before} ms remain`);
  b.send(frame(2));
  await queued(bed, 2);
  assert.equal(await remaining(), before);
  await client.hold(['link'], 20);
  assert.deepEqual(numbersOf(await b.receive(1)), [1]);
  assert.deepEqual(numbersOf(await a.receive(1)), [2]);
  const { ab } = await bed.stats();
  // The frame waited for its second and for the hold.
  assert.ok((ab.delay?.median_ms ?? 0) >= 990, `${ab.delay?.median_ms} ms`);
});

it('random filters of links that continue from files draw what they would have drawn', async (context) => {
  const filters = { packet_loss: [40], burst_loss: [10, 40], latency: [1] };
  const bed = await startLink(context, { filters });
  const { a, b, client, folder } = bed;
  const wiring = {
    linkIdsOf: () => ['link'],
    ofNode: (nodeId: string) => [{ nodeId, adapter: 0, port: 0 }],
    placeOf: () => ({ linkId: 'link', side: 'a' }),
  } as unknown as FabricWiring;
  const hold = () => HeldLinks.hold(client, wiring, { nodeIds: [nodeId], switchIds: [], pcIds: [] });
  /** Numbers of those that arrive. */
  const pass = async () => {
    const before = { arrived: b.frames.length, ...(await bed.stats()).ab };
    a.send(...Array.from({ length: 100 }, (_, number) => frame(number)));
    const { sent } = await waitFor(
      async () => {
        const { ab } = await bed.stats();
        return ab.received === before.received + 100 && ab.queued === 0 && ab;
      },
      { what: 'a hundred frames that have passed' },
    );
    return numbersOf((await b.receive(before.arrived + sent - before.sent)).slice(before.arrived));
  };
  const nodeId = crypto.randomUUID();
  await pass();
  const held = await hold();
  await held.save(`${folder}/saved`);
  await held.release();
  const next = await pass();
  assert.ok(next.length > 0 && next.length < 100, `${next.length} arrived`);
  // A link without a seed draws other numbers when it is made anew.
  await client.remove(['link']);
  await bed.change({ filters });
  await Promise.all([a.connected(2), b.connected(2)]);
  const again = await hold();
  await again.restore(`${folder}/saved`);
  await again.release();
  assert.deepEqual(await pass(), next);
});
