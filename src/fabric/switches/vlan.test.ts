/** Frames pass from ports of a switch to others, and get, keep or lose tags. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { access, broadcast, counts, frame, SwitchBed, trunk, tunnel } from '../../../test/support/switch-plug.ts';
import type { SwitchPortSettings } from '../protocol.ts';

let bed: SwitchBed;
beforeEach(() => {
  bed = new SwitchBed();
});

describe('VLANs', () => {
  const [q, ad] = [0x8100, 0x88a8];
  const [v5, v7] = [
    [q, 5],
    [q, 7],
  ] as const;
  const table: [string, SwitchPortSettings, readonly (readonly [number, number])[], SwitchPortSettings, string][] = [
    ['access to access', access(5), [], access(5), ''],
    ['access to another', access(5), [], access(7), 'none'],
    ['a tag on an access port is nothing to it', access(5), [v7], access(5), '8100.7'],
    ['access to a trunk', access(5), [], trunk(1), '8100.5'],
    ['access to its native VLAN', access(5), [], trunk(5), ''],
    ['a tag is kept inside', access(5), [v7], trunk(1), '8100.5 8100.7'],
    ['a trunk to access', trunk(1), [v5], access(5), ''],
    ['a trunk to another access', trunk(1), [v5], access(7), 'none'],
    ['a trunk without tag to access of its native VLAN', trunk(5), [], access(5), ''],
    ['trunk to trunk', trunk(1), [v5], trunk(1), '8100.5'],
    ['the tag keeps its type', trunk(1), [[0x9100, 5]], trunk(1), '9100.5'],
    ['trunk to trunk of that native VLAN', trunk(1), [v5], trunk(5), ''],
    ['trunk without tag to trunk', trunk(5), [], trunk(1), '8100.5'],
    ['trunk without tag to the same native VLAN', trunk(5), [], trunk(5), ''],
    ['priority and the rest of a tag', trunk(1), [[q, 0xe005]], trunk(1), '8100.57349'],
    ['a priority tag on a trunk is of the native VLAN', trunk(1), [[q, 0xa000]], access(1), '8100.40960'],
    ['a priority tag on a trunk, to another access', trunk(1), [[q, 0xa000]], access(5), 'none'],
    ['a priority tag on a trunk, to its native VLAN', trunk(5), [[q, 0xa000]], trunk(5), '8100.40960'],
    ['a priority tag on a trunk becomes the tag of another trunk', trunk(5), [[q, 0xa000]], trunk(1), '8100.40965'],
    ['a priority tag on an access port', access(5), [[q, 0xa000]], access(5), '8100.40960'],
    ['a priority tag on an access port becomes the tag of a trunk', access(5), [[q, 0xa000]], trunk(1), '8100.40965'],
    ['a priority tag before another tag', access(5), [[q, 0xa000], v7], trunk(1), '8100.40965 8100.7'],
    ['a priority tag on an access port, to its native VLAN', access(5), [[q, 0xa000]], trunk(5), '8100.40960'],
    ['a priority tag of a customer stays inside', tunnel(9), [[q, 0xa000]], trunk(1), '88a8.9 8100.40960'],
    ['a priority tag on a trunk never to a tunnel', trunk(9), [[q, 0xa000]], tunnel(9), 'none'],
    ['a tunnel to a trunk', tunnel(9), [v5], trunk(1), '88a8.9 8100.5'],
    ['a tunnel with another type of tag', tunnel(9, q), [v5], trunk(1), '8100.9 8100.5'],
    ['a tunnel takes nothing without tag', tunnel(9), [], trunk(1), 'none'],
    ['a trunk to a tunnel', trunk(1), [[ad, 9], v5], tunnel(9), '8100.5'],
    ['a trunk to another tunnel', trunk(1), [[ad, 8], v5], tunnel(9), 'none'],
    ['tunnel to tunnel keeps the customer’s tag', tunnel(9), [v5], tunnel(9), '8100.5'],
    ['tunnel to another', tunnel(9), [v5], tunnel(8), 'none'],
    ['access never to a tunnel', access(9), [v5], tunnel(9), 'none'],
    ['a tunnel never to access', tunnel(9), [v5], access(9), 'none'],
    ['a trunk without tag never to a tunnel', trunk(9), [], tunnel(9), 'none'],
  ];
  for (const [what, from, tags, to, expected] of table) {
    it(`${what}, flooded and known`, async () => {
      const [a, b] = [bed.plug(1, from), bed.plug(2, to)];
      const seen = async (destination: number) => {
        a.send(frame(destination, 0xa, tags, '1'), frame(destination, 0xa, tags, '2'));
        return (await b.took()).map((one) => tagsOf(Buffer.from(one, 'hex')));
      };
      const wanted = expected === 'none' ? [] : [expected, expected];
      assert.deepEqual(await seen(broadcast), wanted);
      // Makes the address known in every VLAN that the port may have.
      b.send(...[[], [v5], [v7], [[ad, 9] as const]].map((own) => frame(broadcast, 0xb, own)));
      await a.took();
      assert.deepEqual(await seen(0xb), wanted);
    });
  }

  it('an address is learned in its VLAN only', async () => {
    const [t, five, seven] = [bed.plug(1, trunk(1)), bed.plug(2, access(5)), bed.plug(3, access(7))];
    five.send(frame(broadcast, 0xb));
    await t.took();
    t.send(frame(0xb, 0xa, [v5]), frame(0xb, 0xa, [v7]));
    assert.deepEqual(await counts([five, seven]), [1, 1]);
    seven.send(frame(0xa, 0xb));
    assert.deepEqual(
      (await t.took()).map((one) => tagsOf(Buffer.from(one, 'hex'))),
      ['8100.7'],
    );
  });

  it('alternating tags are distinguished', async () => {
    const [t, five, seven] = [bed.plug(1, trunk(1)), bed.plug(2, access(5)), bed.plug(3, access(7))];
    t.send(...[v5, v7, v5, v5].map((tag, index) => frame(broadcast, 0xa, [tag], String(index))));
    assert.deepEqual(await counts([five, seven]), [3, 1]);
  });
});

function tagsOf(bytes: Buffer): string {
  const tags: string[] = [];
  for (let at = 12; [0x8100, 0x88a8, 0x9100, 0x9200].includes(bytes.readUInt16BE(at)); at += 4) {
    tags.push(`${bytes.toString('hex', at, at + 2)}.${bytes.readUInt16BE(at + 2)}`);
  }
  assert.equal(bytes.readUInt16BE(12 + tags.length * 4), 0x0800);
  assert.equal(bytes.length, 60 + tags.length * 4);
  return tags.join(' ');
}
