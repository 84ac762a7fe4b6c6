import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressHex, addressText, packetOf, type TracedPacket } from '../../model/traced-packet.ts';
import { findWays, linksBetween, middleOf, type Sighting, type WantedPacket } from './packet-ways.ts';

const wanted: WantedPacket = { from: 'A', to: 'B', fromAddresses: ['0a000001'], toAddresses: ['0a000002'] };
const packet = (key: string, more: Partial<TracedPacket> = {}): TracedPacket => ({
  ...{ kind: 'echo', isAnswer: false, key, from: '0a000001', to: '0a000002', echo: '00010001' },
  ...more,
});
const echo = packet('echo');
const answer = packet('answer', { isAnswer: true, from: '0a000002', to: '0a000001' });

/** `A>S in 1.5`: the frame comes into the link from A to S at that time. A link is named after its places, in order. */
function seen(of: TracedPacket, ...lines: string[]): Sighting[] {
  return lines.map((line) => {
    const [way = '', point = '', at] = line.split(' ');
    const [from = '', to = ''] = way.split('>');
    return {
      ...{ linkId: [from, to].sort().join('-'), fromNode: from, toNode: to, from, to, point },
      atMs: Number(at),
      packet: of,
    };
  });
}

const inOrder = (...sightings: Sighting[][]) => sightings.flat().sort((one, other) => one.atMs - other.atMs);
const described = (sightings: readonly Sighting[], of = wanted) =>
  findWays(sightings, of).ways.map(({ packet: kind, is_answer, hops, end }) => {
    const way = hops.map(({ from_node_id, to_node_id, delay_ms, lost }) => {
      return `${from_node_id}>${to_node_id} ${lost ?? (delay_ms === null ? '-' : Math.round(delay_ms * 1000) / 1000)}`;
    });
    return `${kind}${is_answer ? ' answer' : ''} ${end}: ${way.join(', ')}`;
  });

describe('the way of a packet', () => {
  it('is its links in order, with the time that each took, and so is that of the answer', () => {
    const there = seen(echo, 'A>S in 1', 'A>S out 3', 'S>B in 3.1', 'S>B out 3.2');
    const back = seen(answer, 'B>S in 4', 'B>S out 4.5', 'S>A in 5', 'S>A out 6');
    const found = findWays(inOrder(there, back), wanted);
    assert.deepEqual([found.answered, found.address], [true, '10.0.0.2']);
    assert.deepEqual(described(inOrder(there, back)), ['echo arrived: A>S 2, S>B 0.1', 'echo answer arrived: B>S 0.5, S>A 1']);
  });

  it('is the branch that arrives, where a switch floods', () => {
    const flood = seen(echo, 'A>S in 1', 'A>S out 1', 'S>X in 2', 'S>B in 2', 'S>X out 2', 'S>B out 3', 'X>Y in 3', 'X>Y out 3');
    assert.deepEqual(described(flood), ['echo arrived: A>S 0, S>B 1']);
  });

  it('leads to the link that loses it, with the reason', () => {
    const lost = seen(echo, 'A>S in 1', 'A>S out 1', 'S>X in 2', 'S>B in 2', 'S>X out 2', 'S>B packet_loss 2');
    assert.deepEqual(described(lost), ['echo lost: A>S 0, S>B packet_loss']);
  });

  it('ends at the node that does not send it on, or in the link that still holds it', () => {
    assert.deepEqual(described(seen(echo, 'A>R in 1', 'A>R out 2')), ['echo stopped: A>R 1']);
    assert.deepEqual(described(seen(echo, 'A>R in 1')), ['echo under_way: A>R -']);
  });

  it('passes a switch twice, where the router is on a stick', () => {
    const stick = ['A>S in 1', 'A>S out 1', 'S>R in 2', 'S>R out 2', 'R>S in 3', 'R>S out 3', 'S>B in 4', 'S>B out 4'];
    assert.deepEqual(described(seen(echo, ...stick)), ['echo arrived: A>S 0, S>R 0, R>S 0, S>B 0']);
  });

  it('is that of the first copy, where a link sends two, and of the one that is not lost, where it is asked again', () => {
    const twice = seen(echo, 'A>B in 1', 'A>B out 2', 'A>B out 2');
    assert.deepEqual(described(twice), ['echo arrived: A>B 1']);
    const question = packet('who has', { kind: 'arp', echo: '' });
    const again = seen(question, 'A>B in 1', 'A>B packet_loss 1', 'A>B in 1001', 'A>B out 1003');
    assert.deepEqual(described(again), ['arp arrived: A>B 2']);
  });

  it('crosses computes whose clocks differ', () => {
    const middle = middleOf('A-B');
    const part = (from: string, to: string, point: string, atMs: number): Sighting => ({
      ...{ linkId: 'A-B', fromNode: 'A', toNode: 'B', from, to, point, atMs, packet: echo },
    });
    const [first, second] = [[part('A', middle, 'in', 500), part('A', middle, 'out', 520)], [part(middle, 'B', 'in', 100)]];
    assert.deepEqual(described(inOrder(first, second, [part(middle, 'B', 'out', 101)])), ['echo arrived: A>B -399']);
    assert.deepEqual(described(inOrder(first, second, [part(middle, 'B', 'bpf', 101)])), ['echo lost: A>B bpf']);
    assert.deepEqual(described(first), ['echo under_way: A>B -']);
  });

  it('is that of the question for the MAC address, where nothing else was sent', () => {
    const question = packet('who has', { kind: 'arp', to: '0a0000fe', echo: '' });
    const reply = packet('is at', { kind: 'arp', isAnswer: true, from: '0a0000fe', to: '0a000001', echo: '' });
    const asked = seen(question, 'A>S in 1', 'A>S out 1', 'S>R in 2', 'S>R out 2');
    assert.deepEqual(described(inOrder(asked, seen(reply, 'R>S in 3', 'R>S bandwidth 3'))), [
      'arp arrived: A>S 0, S>R 0',
      'arp answer lost: R>S bandwidth',
    ]);
  });

  it('is of a packet that arrives, where no address is known, and not of one that the node only forwards', () => {
    const other = packet('other', { to: '0a000009' });
    const passing = packet('passing', { from: '0a000007' });
    const sightings = inOrder(
      seen(passing, 'X>A in 0', 'X>A out 0', 'A>B in 0.1', 'A>B out 0.2'),
      seen(other, 'A>X in 1', 'A>X out 1'),
      seen(echo, 'A>B in 2', 'A>B out 2'),
    );
    const unknown = { ...wanted, fromAddresses: [], toAddresses: [] };
    assert.equal(findWays(sightings, unknown).address, '10.0.0.2');
    assert.deepEqual(findWays([], unknown), { ways: [], address: null, answered: false });
  });

  it('is found in time in a storm', () => {
    const turn = (at: number) => ['S>T', 'T>U', 'U>S'].flatMap((way) => [`${way} in ${at}`, `${way} out ${at}`]);
    const storm = Array.from({ length: 600 }, (_, at) => seen(echo, ...turn(at + 2))).flat();
    assert.equal(findWays([...seen(echo, 'A>S in 1', 'A>S out 1'), ...storm], wanted).ways[0]?.end, 'stopped');
  });
});

describe('links between two places', () => {
  const link = (name: string) => ({ linkId: name, places: name.split('') as [string, string] });
  it('are those without dead ends, in all directions', () => {
    const links = ['AS', 'SB', 'SX', 'XY', 'ST', 'TB', 'QZ'].map(link);
    assert.deepEqual(linksBetween(links, 'A', 'B'), ['AS', 'SB', 'ST', 'TB']);
    assert.deepEqual(linksBetween(links, 'A', 'Z'), []);
    assert.deepEqual(linksBetween([], 'A', 'B'), []);
  });

  it('are found in linear time: a long chain behind the two, in any order', () => {
    const count = 2_000;
    let reads = 0;
    const chain = Array.from({ length: count }, (_, at) => ({
      linkId: `${at}`,
      get places() {
        reads += 1;
        return [`${at}`, `${at + 1}`] as const;
      },
    }));
    for (const links of [chain, chain.toReversed()]) {
      assert.deepEqual(linksBetween(links, '0', '1'), ['0']);
      assert.equal(linksBetween(links, '0', `${count}`).length, count);
    }
    assert.ok(reads <= 40 * count, `${reads} reads of ${count} links`);
  });
});

describe('a traced packet', () => {
  const ethernet = (type: string, rest: string, tags = '') => Buffer.from(`${'00'.repeat(12)}${tags}${type}${rest}`, 'hex');
  const ip4 = (ttl: string, sum: string) =>
    `450000240001000${0}${ttl}01${sum}0a0000010a000002${'0800f7ff00010001'}${'aa'.repeat(8)}`;

  it('is the same with another TTL, checksum and tag, and with padding', () => {
    const [first, routed] = [
      packetOf(ethernet('0800', ip4('40', '1234'))),
      packetOf(ethernet('0800', `${ip4('3f', '1334')}0000`, '8100000a')),
    ];
    assert.deepEqual([first?.kind, first?.from, first?.to, first?.echo], ['echo', '0a000001', '0a000002', '00010001']);
    assert.deepEqual(routed, first);
  });

  it('is none where the frame is truncated or of another kind', () => {
    const whole = ethernet('0800', ip4('40', '1234'));
    for (let length = 0; length < 42; length++) assert.equal(packetOf(whole.subarray(0, length)), undefined, `${length} bytes`);
    assert.equal(packetOf(ethernet('0800', ip4('40', '1234').replace('4001', '4006'))), undefined);
    assert.equal(packetOf(ethernet('86dd', '60')), undefined);
    assert.equal(packetOf(ethernet('0806', '0001')), undefined);
  });

  it('has addresses that are read and written', () => {
    for (const text of ['10.0.0.2', 'fd00::1', '::', '2001:db8::a:0:1', 'fe80::250:79ff:fe66:6800'])
      assert.equal(addressText(addressHex(text) ?? ''), text);
    for (const text of ['', 'pc1', '10.0.0', 'fe80::1%eth0', '10.0.0.2/24']) assert.equal(addressHex(text), undefined);
    assert.equal(addressHex('fd00::1'), `fd${'0'.repeat(29)}1`);
  });
});
