/** Switches in a separate fabric process, configured through its client: repeated, changed, invalid and lost configuration. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { LinkSpec, PortSpec, SwitchPortSettings } from '../../src/fabric/protocol.ts';
import { access, broadcast, frame, hub, trunk } from '../support/switch-plug.ts';
import { waitFor } from '../support/wait-for.ts';
import { connectedFabric, type FabricBed, linkOf, startFabric, streamEnd } from '../support/with-fabric.ts';

const portOf = (port: number, settings: SwitchPortSettings): PortSpec => ({ type: 'switch', switch: 's', port, settings });

/** Stations at ports 0, 1, … of one switch. */
async function stations(context: TestContext, bed: FabricBed, count: number) {
  const ends = await Promise.all(Array.from({ length: count }, (_, port) => streamEnd(context, `${bed.folder}/station-${port}`)));
  const links = (settings: SwitchPortSettings): LinkSpec[] =>
    ends.map((end, port) => linkOf(end.port, portOf(port, settings), { id: `link ${port}` }));
  return { ends, links };
}

describe('a switch', () => {
  it('is unchanged by the same configuration, from the same client or the next', async (context) => {
    const bed = await startFabric(context);
    const { ends, links } = await stations(context, bed, 3);
    const [a, b, c] = ends as [(typeof ends)[0], (typeof ends)[0], (typeof ends)[0]];
    assert.deepEqual(await bed.client.apply(links(access(1))), []);
    await Promise.all(ends.map((end) => end.connected()));
    a.send(frame(broadcast, 0xa));
    await Promise.all([b.receive(1), c.receive(1)]);
    assert.deepEqual(await bed.client.sync(links(access(1))), []);
    bed.client.close();
    const next = await connectedFabric(bed);
    context.after(() => next.quit());
    assert.deepEqual(await next.sync(links(access(1))), []);
    assert.deepEqual(
      (await next.addresses('s')).map(({ mac, port }) => [mac, port]),
      [['00:00:00:00:00:0a', 0]],
    );
    b.send(frame(0xa, 0xb));
    await a.receive(1);
    assert.deepEqual([c.frames.length, a.connections], [1, 1]);
    const [stats] = await next.switchStats(['s']);
    assert.deepEqual(
      stats?.ports.map(({ port, received, sent, dropped, queued }) => [port, received, sent, dropped, queued]),
      [
        [0, 1, 1, {}, 0],
        [1, 1, 1, {}, 0],
        [2, 0, 1, {}, 0],
      ],
    );
    await next.forgetAddresses('s');
    assert.deepEqual(await next.addresses('s'), []);
    await next.remove(['link 0', 'link 1', 'link 2']);
    assert.deepEqual([await next.switchStats(), await next.addresses('s')], [[], []]);
  });

  it('applies new settings at once, and unplugs no port', async (context) => {
    const bed = await startFabric(context);
    const { ends, links } = await stations(context, bed, 2);
    const [a, b] = ends as [(typeof ends)[0], (typeof ends)[0]];
    await bed.client.apply(links(access(5)));
    await Promise.all(ends.map((end) => end.connected()));
    a.send(frame(broadcast, 0xa));
    await b.receive(1);
    const [first, second] = [links(access(5)), links(trunk(1))];
    assert.deepEqual(await bed.client.apply([first[0] as LinkSpec, second[1] as LinkSpec]), []);
    a.send(frame(broadcast, 0xa));
    const tagged = (await b.receive(2))[1] as Buffer;
    assert.equal(tagged.toString('hex', 12, 16), '81000005');
    assert.equal(b.connections, 1);
  });

  it('is restored after its fabric was killed', async (context) => {
    const bed = await startFabric(context);
    const { ends, links } = await stations(context, bed, 2);
    const [a, b] = ends as [(typeof ends)[0], (typeof ends)[0]];
    await bed.client.apply(links(hub));
    await Promise.all(ends.map((end) => end.connected()));
    process.kill(bed.client.pid, 'SIGKILL');
    await Promise.all(ends.map((end) => end.connected(2)));
    await waitFor(async () => (await bed.client.switchStats())[0]?.ports.length === 2, { what: 'both ports' });
    a.send(frame(broadcast, 0xa));
    assert.deepEqual(await b.receive(1), [frame(broadcast, 0xa)]);
  });

  it('has one port per number: the last one configured', async (context) => {
    const bed = await startFabric(context);
    const { ends } = await stations(context, bed, 3);
    const [a, b, c] = ends as [(typeof ends)[0], (typeof ends)[0], (typeof ends)[0]];
    const links = ends.map((end, index) => linkOf(end.port, portOf(index >> 1, hub), { id: `link ${index}` }));
    assert.deepEqual(await bed.client.apply(links), []);
    await Promise.all(ends.map((end) => end.connected()));
    c.send(frame(broadcast, 0xc));
    await b.receive(1);
    a.send(frame(broadcast, 0xa));
    await waitFor(async () => (await bed.client.stats(['link 0']))[0]?.ab.dropped.no_peer === 1, {
      what: 'a frame without a port',
    });
    assert.deepEqual([a.frames.length, c.frames.length], [0, 0]);
  });

  it('with an invalid configuration is refused, and the rest is applied', async (context) => {
    const bed = await startFabric(context);
    const { ends, links } = await stations(context, bed, 1);
    const good = links(hub)[0] as LinkSpec;
    const ethernet = { medium: 'ethernet', mode: 'access', vlan: 1, tagType: 0 };
    const circuits = (medium: string, ...list: unknown[]) => ({ medium, circuits: list });
    const wrongSettings: unknown[] = [
      ...[undefined, null, {}, { medium: 'token ring' }, 7],
      ...[{ mode: 'trunk' }, { vlan: 0 }, { vlan: 4095 }, { vlan: '1' }, { tagType: 65_536 }].map((more) => ({
        ...ethernet,
        ...more,
      })),
      ...[{ medium: 'atm' }, circuits('frame_relay', null), circuits('frame_relay', { dlci: 1, toPort: 1 })],
      circuits('frame_relay', { dlci: 1024, toPort: 1, toDlci: 1 }),
      circuits('atm', { vpi: 0, toPort: 1, toVpi: 256 }),
      circuits('atm', { vpi: 0, toPort: 1, toVpi: 2, more: 1 }),
    ];
    const wrong = wrongSettings.map((settings, index) => ({ ...good, id: `wrong ${index}`, b: { ...good.b, settings } }));
    const others = [{ switch: '' }, { port: -1 }, { port: 1.5 }].map((more, index) => ({
      ...good,
      id: `other ${index}`,
      b: { ...good.b, ...more },
    }));
    const failures = await bed.client.apply([...wrong, ...others, good] as LinkSpec[]);
    assert.deepEqual(
      failures.map(({ id }) => id),
      [...wrong, ...others].map(({ id }) => id),
    );
    await ends[0]?.connected();
    assert.equal((await bed.client.switchStats())[0]?.ports.length, 1);
  });
});
