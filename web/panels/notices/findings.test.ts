/** Findings of a lab: every combination of the values at which a decision changes, and nothing in a healthy lab. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Filters } from '../../../src/schema/filter.ts';
import type { DirectionCounters, LinkStats, LinkStorm } from '../../../src/schema/link-stats.ts';
import { decideFindings, type InspectedLab, type InspectedLink, type InspectedNode } from './findings.ts';
import { type LinkRecord, nextRecord, type Run } from './link-record.ts';

const nowMs = 10_000_000;
const quiet: Run = { sinceMs: 0, lost: {}, arrivedBack: 0 };
const record = (more: Partial<LinkRecord> = {}): LinkRecord => ({
  upSinceMs: 0,
  isScheduled: false,
  filters: '{}',
  received: [5, 5],
  delivered: [5, 5],
  runs: [quiet, quiet],
  dropped: [{}, {}],
  ...more,
});
const node = (id: string, more: Partial<InspectedNode> = {}): InspectedNode => ({
  id,
  properties: {},
  isStarted: true,
  isMachine: false,
  lacksImage: undefined,
  ...more,
});
const link = (id: string, one: string, other: string, more: Partial<InspectedLink> = {}): InspectedLink => ({
  id,
  ends: [at(one), at(other)],
  suspend: false,
  filters: {},
  record: record(),
  storm: undefined,
  ...more,
});
/** `SW:3` is port 3 of SW. */
function at(text: string) {
  const [name = '', port = 0] = text.split(':');
  return { node: name, port: Number(port) };
}
const lab = (more: Partial<InspectedLab>): InspectedLab => ({ nodes: [], links: [], hosts: new Map(), nowMs, ...more });
const kinds = (seen: InspectedLab) => decideFindings(seen).map(({ kind }) => kind);
const switchOf = (id: string, vlans: readonly number[] = [1, 1, 1, 1]) =>
  node(id, { properties: { ports_mapping: vlans.map((vlan, port_number) => ({ port_number, vlan, type: 'access' })) } });

/** All combinations of one value of each list. */
function* combinations<T extends Record<string, readonly unknown[]>>(lists: T): Generator<{ [K in keyof T]: T[K][number] }> {
  const [key, ...others] = Object.keys(lists);
  if (key === undefined) return yield {} as never;
  const { [key]: values = [], ...rest } = lists;
  for (const value of values)
    for (const more of others.length ? combinations(rest) : [{}]) yield { [key]: value, ...more } as never;
}

describe('a link that carries frames one way only', () => {
  it('is found exactly where a filter dropped 20 frames in a row, 500 by chance, while 20 came the other way in 30 s', () => {
    let found = 0;
    const space = {
      from: [0, 1],
      lost: [0, 19, 20, 499, 500],
      arrived: [0, 19, 20],
      forMs: [29_999, 30_000],
      suspend: [false, true],
      isScheduled: [false, true],
      filters: [
        {},
        { packet_loss: [100] },
        { packet_loss_ab: [100] },
        { packet_loss_ba: [99.9] },
        { burst_loss: [100, 0] },
        { bpf_ba: ['icmp'] },
      ],
    } as const;
    for (const { from, lost, arrived, forMs, suspend, isScheduled, filters } of combinations(space)) {
      const [key = ''] = Object.keys(filters);
      const cause = key.replace(/_(ab|ba)$/, '') || 'packet_loss';
      const run = { sinceMs: nowMs - forMs, lost: { [cause]: lost, corrupt: 1 }, arrivedBack: arrived };
      const runs = from === 0 ? ([run, quiet] as const) : ([quiet, run] as const);
      const seen = lab({
        links: [link('L', 'A', 'B', { suspend, filters: filters as Filters, record: record({ runs, isScheduled }) })],
      });
      const isOther = key.endsWith(from === 0 ? '_ba' : '_ab');
      const isRandom = key === 'packet_loss_ba' || key === 'burst_loss';
      const expected =
        key !== '' && !isOther && !suspend && !isScheduled && forMs >= 30_000 && arrived >= 20 && lost >= (isRandom ? 500 : 20);
      const findings = decideFindings(seen);
      assert.equal(
        findings.length,
        expected ? 1 : 0,
        JSON.stringify({ from, lost, arrived, forMs, suspend, isScheduled, filters }),
      );
      if (!expected) continue;
      found += 1;
      const [{ key: _key, ...finding } = { key: '' }] = findings;
      assert.deepEqual(finding, { kind: 'one-way', linkId: 'L', from, filter: key, lost, arrived });
    }
    assert.ok(found > 10, `${found}`);
  });
});

describe('hosts of one segment', () => {
  const host = (address: string, mtu: number | undefined = 1500) => ({ addresses: [address, 'fe80::1/64'], mtu });
  const nodes = [node('A'), node('B'), switchOf('SW', [10, 10, 20, 20])];
  const between = (port: number, more: Partial<InspectedLink> = {}) => [link('1', 'A', 'SW:0', more), link('2', 'B', `SW:${port}`)];
  const hosts = (one: string, other: string, mtu?: number) =>
    new Map([
      ['A', host(one)],
      ['B', host(other, mtu)],
    ]);

  it('share no address, whatever the prefix; in different segments, on suspended links and stopped they may', () => {
    const space = {
      port: [1, 2],
      suspend: [false, true],
      isStarted: [true, false],
      addresses: [
        ['10.0.0.1/24', '10.0.0.1/24'],
        ['10.0.0.1/24', '10.0.0.1/16'],
        ['10.0.0.1/24', '10.0.0.2/24'],
        ['2001:db8::1/64', '2001:db8::1/64'],
        ['169.254.0.1/16', '169.254.0.1/16'],
      ],
    } as const;
    for (const { port, suspend, isStarted, addresses } of combinations(space)) {
      const [one, other] = addresses;
      const seen = lab({
        nodes: [node('A', { isStarted }), ...nodes.slice(1)],
        links: between(port, { suspend }),
        hosts: hosts(one, other),
      });
      const isShared = one.split('/')[0] === other.split('/')[0] && !one.startsWith('169');
      const expected = isShared && port === 1 && !suspend && isStarted;
      assert.deepEqual(kinds(seen), expected ? ['address'] : [], JSON.stringify({ port, suspend, isStarted, addresses }));
    }
    const [finding] = decideFindings(lab({ nodes, links: between(1), hosts: hosts('10.0.0.1/24', '10.0.0.1/24') }));
    assert.deepEqual(finding, { kind: 'address', key: 'address 10.0.0.1 A B', nodeIds: ['A', 'B'], address: '10.0.0.1' });
  });

  it('have one MTU, if they have addresses', () => {
    const seen = (mtu: number | undefined, other = '10.0.0.2/24', port = 1) =>
      decideFindings(lab({ nodes, links: between(port), hosts: hosts('10.0.0.1/24', other, mtu) }));
    assert.deepEqual(seen(1400), [{ kind: 'mtu', key: 'mtu 1400 1500 A B', nodeIds: ['B', 'A'], mtus: [1400, 1500] }]);
    for (const healthy of [seen(1500), seen(1400, 'fe80::2/64'), seen(1400, '10.0.0.2/24', 2)]) assert.deepEqual(healthy, []);
    const unknown = lab({ nodes, links: between(1), hosts: new Map([['A', host('10.0.0.1/24')]]) });
    assert.deepEqual(decideFindings(unknown), []);
  });
});

describe('a machine that is silent', () => {
  it('is found exactly where it was sent 20 frames in five minutes on links that all work, and sent none', () => {
    const space = {
      isStarted: [true, false],
      isMachine: [true, false],
      suspend: [false, true],
      upMs: [299_999, 300_000],
      received: [0, 1],
      delivered: [19, 20],
      sentOnOther: [0, 1],
      end: [0, 1],
    } as const;
    for (const { isStarted, isMachine, suspend, upMs, received, delivered, sentOnOther, end } of combinations(space)) {
      const own = { upSinceMs: nowMs - upMs };
      const [there, back] = end === 0 ? ([received, 0] as const) : ([0, received] as const);
      const [to, from] = end === 0 ? ([0, delivered] as const) : ([delivered, 0] as const);
      const first = record({ ...own, received: [there, back], delivered: [to, from] });
      const second = record({ ...own, received: [0, sentOnOther], delivered: [0, 0] });
      const links = [
        link('1', end === 0 ? 'VM' : 'A', end === 0 ? 'A' : 'VM', { record: first, suspend }),
        link('2', 'B', 'VM', { record: second }),
      ];
      const seen = lab({ nodes: [node('VM', { isStarted, isMachine })], links });
      const expected = isStarted && isMachine && !suspend && upMs >= 300_000 && received + sentOnOther === 0 && delivered >= 20;
      assert.deepEqual(kinds(seen), expected ? ['silent'] : [], JSON.stringify({ upMs, received, delivered, sentOnOther, end }));
    }
    assert.deepEqual(decideFindings(lab({ nodes: [node('VM', { isMachine: true })] })), []);
  });

  it('is found in linear time among many', () => {
    const count = 1_000;
    let reads = 0;
    const nodes = Array.from({ length: count }, (_, index) => node(`M${index}`, { isMachine: true }));
    const mute = record({ received: [0, 5], delivered: [5, 20] });
    const links = nodes.map(({ id }, index) => {
      const { ends, ...rest } = link(`L${index}`, id, `X${index}`, index === 7 ? { record: mute } : {});
      return {
        ...rest,
        get ends() {
          reads += 1;
          return ends;
        },
      };
    });
    assert.deepEqual(
      decideFindings(lab({ nodes, links })).map((finding) => finding.kind === 'silent' && finding.nodeId),
      ['M7'],
    );
    assert.ok(reads <= 10 * count, `${reads} reads of ${count} links`);
  });
});

describe('storms and images', () => {
  const storm = (closes_loop: boolean) => ({ closes_loop }) as LinkStorm;

  it('a storm is one finding, with the link that closes the loop', () => {
    const links = [link('1', 'A', 'B', { storm: storm(false) }), link('2', 'A', 'B', { storm: storm(true) }), link('3', 'B', 'C')];
    assert.deepEqual(decideFindings(lab({ links })), [{ kind: 'storm', key: 'storm 2', linkIds: ['1', '2'], closer: '2' }]);
  });

  it('nodes that lack the same image are one finding', () => {
    const nodes = [
      node('A', { lacksImage: 'x.img' }),
      node('B'),
      node('C', { lacksImage: 'x.img' }),
      node('D', { lacksImage: 'y' }),
    ];
    assert.deepEqual(
      decideFindings(lab({ nodes })).map((finding) => 'nodeIds' in finding && finding.nodeIds),
      [['A', 'C'], ['D']],
    );
  });
});

describe('the record of a link', () => {
  const since = new Date(1_000_000).toISOString();
  type Count = readonly [received: number, frames: number, dropped?: Record<string, number>];
  const statsOf = (there: Count, back: Count, more: object = {}) =>
    ({
      running: true,
      since,
      directions: [there, back].map(
        ([received_frames, frames, dropped = {}]) => ({ received_frames, frames, dropped }) as DirectionCounters,
      ),
      ...more,
    }) as LinkStats;
  const play = (...steps: readonly [stats: LinkStats, filters: string, nowMs: number][]) =>
    steps.reduce<LinkRecord | undefined>(
      (before, [stats, filters, ms]) => nextRecord(before, stats, { filters, nowMs: ms }),
      undefined,
    );

  it('counts what filters drop in a row, from the first figures that it sees', () => {
    const first = statsOf([50, 40], [30, 0, { packet_loss: 30 }]);
    const later = statsOf([60, 50], [45, 0, { packet_loss: 42, queue_full: 3 }]);
    assert.deepEqual(play([first, 'f', 1], [later, 'f', 9])?.runs, [
      { sinceMs: 9, lost: {}, arrivedBack: 0 },
      { sinceMs: 1, lost: { packet_loss: 12 }, arrivedBack: 10 },
    ]);
  });

  it('begins anew with a frame that arrives, other filters, and a link that came up again', () => {
    const first = statsOf([50, 40], [30, 0, { packet_loss: 30 }]);
    const fresh = { sinceMs: 9, lost: {}, arrivedBack: 0 };
    const ends: readonly [LinkStats, string][] = [
      [statsOf([60, 50], [45, 1, { packet_loss: 42 }]), 'f'],
      [statsOf([60, 50], [45, 0, { packet_loss: 42 }]), 'other'],
      [statsOf([60, 50], [45, 0, { packet_loss: 42 }], { since: new Date(2_000_000).toISOString() }), 'f'],
      [statsOf([2, 2], [45, 0, { packet_loss: 42 }]), 'f'],
    ];
    for (const [stats, filters] of ends) assert.deepEqual(play([first, 'f', 1], [stats, filters, 9])?.runs[1], fresh);
  });

  it('is none of a link that carries nothing', () => {
    assert.equal(play([statsOf([1, 1], [1, 1], { running: false }), 'f', 1]), undefined);
    assert.equal(play([statsOf([1, 1], [1, 1], { since: null }), 'f', 1]), undefined);
    assert.equal(play([statsOf([1, 1], [1, 1], { schedule: {} }), 'f', 1])?.isScheduled, true);
  });
});
