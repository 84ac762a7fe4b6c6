import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { portsOf, type SegmentLink, type SegmentNode, segmentsOf, subnetsOf } from './segments.ts';

const access = (port_number: number, vlan: number) => ({ port_number, type: 'access', vlan });
const trunk = (port_number: number, vlan = 1) => ({ port_number, type: 'dot1q', vlan });
const host = (id: string): SegmentNode => ({ id, ports: undefined });
const link = (one: string, other: string, [a, b] = [0, 0]): SegmentLink => ({
  id: `${one}-${other}`,
  ends: [
    { node: one, port: a ?? 0 },
    { node: other, port: b ?? 0 },
  ],
});
const shown = (nodes: readonly SegmentNode[], links: readonly SegmentLink[]) =>
  segmentsOf(nodes, links).map(({ vlans, hosts, links }) => `${vlans} of ${hosts.toSorted()} on ${links.toSorted()}`);

describe('segments', () => {
  it('are the VLANs of switches, joined by trunks', () => {
    const nodes = [
      { id: 'S1', ports: [trunk(0), access(1, 10), access(2, 20)] },
      { id: 'S2', ports: [trunk(0), access(1, 10), access(2, 20)] },
      ...['A', 'B', 'C', 'D'].map(host),
    ];
    const links = [
      link('S1', 'S2'),
      link('A', 'S1', [0, 1]),
      link('B', 'S1', [0, 2]),
      link('C', 'S2', [0, 1]),
      link('D', 'S2', [0, 2]),
    ];
    assert.deepEqual(shown(nodes, links).sort(), [
      '1 of  on S1-S2',
      '10 of A,C on A-S1,C-S2,S1-S2',
      '20 of B,D on B-S1,D-S2,S1-S2',
    ]);
  });

  it('have several numbers where access ports of different VLANs are linked', () => {
    const nodes = [
      { id: 'S1', ports: [access(0, 5)] },
      { id: 'S2', ports: [access(0, 6)] },
    ];
    assert.deepEqual(shown(nodes, [link('S1', 'S2')]), ['5,6 of  on S1-S2']);
  });

  it('join the untagged sides of a trunk and an access port', () => {
    const nodes = [
      { id: 'S1', ports: [trunk(0, 7), access(1, 7)] },
      { id: 'S2', ports: [access(0, 9), access(1, 9)] },
      host('A'),
      host('B'),
    ];
    const links = [link('S1', 'S2'), link('A', 'S1', [0, 1]), link('B', 'S2', [0, 1])];
    assert.deepEqual(shown(nodes, links), ['7,9 of A,B on A-S1,B-S2,S1-S2']);
  });

  it('go through hubs, and end at hosts and routers', () => {
    const nodes = [{ id: 'H', ports: [{ port_number: 0 }, { port_number: 1 }] }, ...['A', 'R', 'B'].map(host)];
    const links = [link('A', 'H'), link('R', 'H', [0, 1]), link('R', 'B', [1, 0])];
    assert.deepEqual(shown(nodes, links).sort(), [' of A,R on A-H,R-H', ' of B,R on R-B']);
  });

  it('are read from the ports of switches and hubs, not of clouds', () => {
    assert.equal(portsOf({ ports_mapping: [access(0, 1)] })?.length, 1);
    for (const properties of [
      {},
      { ports_mapping: [] },
      { ports_mapping: 'x' },
      { ports_mapping: [{ interface: 'eth0', port_number: 0 }] },
    ])
      assert.equal(portsOf(properties), undefined);
  });
});

describe('subnets', () => {
  it('are those of addresses with prefixes, each once', () => {
    const addresses = ['10.0.10.11/24', '10.0.10.12/24', '172.16.200.9/12', '2001:db8::1/64', '10.9.9.9/32', 'none'];
    assert.deepEqual(subnetsOf(addresses), ['10.0.10.0/24', '172.16.0.0/12']);
    assert.deepEqual(subnetsOf(['0.0.0.1/0', '255.255.255.255/31']), ['0.0.0.0/0', '255.255.255.254/31']);
  });
});
