/** Loops of switches: frames that return are counted, bounded where the event loop suffers, and limited where the switch says so. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { access, broadcast, counts, frame, hub, SwitchBed, trunk } from '../../../test/support/switch-plug.ts';
import type { EthernetSettings, SwitchPortSettings } from '../protocol.ts';
import { StormBound } from './storm-bound.ts';

const limited = (stormControl: EthernetSettings['stormControl']): SwitchPortSettings => ({
  ...(access(1) as EthernetSettings),
  ...(stormControl && { stormControl }),
});

describe('frames that return', () => {
  for (const [what, settings] of [
    ['a switch', access(1)],
    ['a hub', hub],
  ] as const) {
    it(`are counted at the port of ${what} by which they come back`, async () => {
      const bed = new SwitchBed();
      const [a, b, c] = [bed.plug(1, settings), bed.plug(2, settings), bed.plug(3, settings)];
      const one = frame(broadcast, 0xa);
      a.send(one, one);
      b.send(frame(broadcast, 0xb));
      assert.deepEqual(
        [a, b, c].map(({ port }) => port.floods.returned),
        [0, 0, 0],
      );
      b.send(one, one, one);
      c.send(one);
      c.send(one);
      assert.deepEqual(
        [a, b, c].map(({ port }) => port.floods.returned),
        [0, 3, 1],
      );
    });
  }

  it('are none when a station moves and sends to a known one, or when each VLAN has a link of its own', async () => {
    const bed = new SwitchBed();
    const [a, b, c] = [bed.plug(1, access(1)), bed.plug(2, access(1)), bed.plug(3, trunk(7))];
    b.send(frame(broadcast, 0xb));
    a.send(frame(0xb, 0xa));
    const [other] = [bed.plug(4, access(1))];
    other.send(frame(0xb, 0xa));
    c.send(frame(broadcast, 0xa));
    assert.deepEqual(
      [a, b, c, other].map(({ port }) => port.floods.returned),
      [0, 0, 0, 0],
    );
  });
});

describe('the bound of storms', () => {
  it('lets everything pass while turns are short, and halves what passes while they are longer than 20 ms', () => {
    const bound = new StormBound();
    assert.equal(bound.admit(100_000), 100_000);
    bound.onTurn(20);
    assert.equal(bound.admit(100_000), 100_000);
    bound.onTurn(21);
    assert.deepEqual(
      [bound.admit(64), bound.admit(1000), bound.admit(1), bound.admit(1)],
      [64, 500, 0, 1],
      'all frames get the same share',
    );
    bound.onTurn(21);
    assert.equal(bound.admit(1064), 64 + 250);
    for (let turn = 0; turn < 100; turn++) {
      bound.admit(1000);
      bound.onTurn(21);
    }
    assert.equal(bound.admit(64 + 6400), 64 + 100, 'some frames return whatever they cost');
    for (let turn = 0; turn < 20; turn++) bound.onTurn(1);
    assert.equal(bound.admit(100_000), 100_000);
  });

  it('is not touched by long turns in which nothing returned', () => {
    const bound = new StormBound();
    bound.onTurn(500);
    assert.equal(bound.admit(100_000), 100_000);
  });
});

describe('storm control', () => {
  it('limits each kind of flooded frames by itself, each second, and leaves known stations alone', async () => {
    const bed = new SwitchBed();
    const a = bed.plug(1, limited({ broadcast: 2, multicast: 1, unknownUnicast: 0 }));
    const b = bed.plug(2, access(1));
    b.send(frame(broadcast, 0xb));
    const all = (to: number) => [frame(to, 0xa), frame(to, 0xa), frame(to, 0xa)];
    const multicast = 0x0100_5e00_0001;
    const seen: number[] = [];
    for (const to of [broadcast, multicast, 0xc, 0xb]) {
      await counts([a, b]);
      a.send(...all(to));
      seen.push((await counts([b]))[0] ?? -1);
    }
    assert.deepEqual(seen, [2, 1, 0, 3]);
    assert.deepEqual(a.dropped, { storm_control: 6 });
    bed.nowMs += 999;
    a.send(...all(broadcast));
    assert.deepEqual(await counts([b]), [0]);
    bed.nowMs += 1;
    a.send(...all(broadcast));
    assert.deepEqual(await counts([b]), [2]);
    b.send(...all(broadcast), ...all(broadcast));
    assert.deepEqual(await counts([a]), [6], 'a port without limits');
  });

  it('keeps the first frames of those that come together, whole', async () => {
    const bed = new SwitchBed();
    const [a, b] = [bed.plug(1, limited({ broadcast: 2 })), bed.plug(2, access(1))];
    const sent = ['1', '2', '3'].map((text) => frame(broadcast, 0xa, [], text));
    a.send(...sent);
    assert.deepEqual(
      await b.took(),
      sent.slice(0, 2).map((bytes) => bytes.toString('hex')),
    );
  });
});
