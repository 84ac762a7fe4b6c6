import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LinkSpec, PortSpec } from '../../fabric/protocol.ts';
import type { Filters } from '../../schema/filter.ts';
import type { NioRecord } from '../store.ts';
import { type FabricLinks, FabricWiring } from './wiring.ts';

/**
 * Stands in for the fabric's process, because the requests themselves are what is looked at here: their order and their number
 * cannot be seen from outside a real one.
 */
class Recorder implements FabricLinks {
  readonly requests: string[] = [];
  readonly links = new Map<string, LinkSpec>();
  refuse: string | undefined;
  isAway = false;
  async apply(links: LinkSpec[]) {
    this.#requireThere();
    this.requests.push(`apply ${links.map(({ id }) => id).join(' ')}`);
    for (const link of links) this.links.set(link.id, link);
    return links.filter(({ id }) => id === this.refuse).map(({ id }) => ({ id, error: 'refused' }));
  }
  async remove(ids: string[]) {
    this.requests.push(`remove ${ids.join(' ')}`);
    for (const id of ids) this.links.delete(id);
  }
  async sync(links: LinkSpec[]) {
    this.#requireThere();
    this.links.clear();
    for (const link of links) this.links.set(link.id, link);
    return [];
  }
  async unconnected() {
    return [];
  }
  #requireThere() {
    if (this.isAway) throw new Error('it does not answer');
  }
}

function nio(lport: number, rport: number, more: Partial<NioRecord> = {}): NioRecord {
  return { lport, rhost: '127.0.0.1', rport, address: '127.0.0.1', filters: {}, bpf: [], suspend: false, ...more };
}
const stream = (name: string): PortSpec => ({ type: 'stream', path: `/run/${name}` });
const end = (nodeId: string, adapter = 0) => ({ nodeId, adapter, port: 0 });

async function setUp() {
  const fabric = new Recorder();
  const wiring = new FabricWiring(fabric, (address) => address.startsWith('127.'));
  await wiring.sync();
  return { fabric, wiring, up: (node: string) => wiring.up(node, (adapter) => stream(`${node}${adapter}`)) };
}

describe('wiring', () => {
  it('gives a port of a stopped node to another NIO, and back when that is gone or stopped', async () => {
    const { fabric, wiring, up } = await setUp();
    await wiring.bind(end('a'), nio(100, 9));
    await wiring.bind(end('b'), nio(100, 9));
    await up('b');
    assert.deepEqual(fabric.links.get('udp-100')?.a, stream('b0'));
    // The port is in use: the link is named, and nothing changes.
    assert.deepEqual(
      (await up('a')).map(({ id }) => id),
      ['udp-100'],
    );
    await wiring.bind(end('a'), nio(100, 9, { suspend: true }));
    await wiring.bind(end('b'), nio(100, 9, { filters: { packet_loss: [1] } }));
    assert.deepEqual([fabric.links.get('udp-100')?.a, fabric.links.size], [stream('b0'), 1]);
    await wiring.unbind(end('b'));
    assert.deepEqual([fabric.links.get('udp-100')?.a, fabric.links.get('udp-100')?.suspend], [stream('a0'), true]);
    await wiring.bind(end('c'), nio(100, 9));
    await wiring.down('a');
    await up('c');
    assert.deepEqual(fabric.links.get('udp-100')?.a, stream('c0'));
    await wiring.down('c');
    await up('a');
    assert.deepEqual(fabric.links.get('udp-100')?.a, stream('a0'));
    for (const node of ['a', 'c']) await wiring.unbind(end(node));
    assert.deepEqual([fabric.links.size, wiring.findByPort(100)], [0, undefined]);
  });

  it('joins two nodes of this compute directly, while both run', async () => {
    const { fabric, wiring, up } = await setUp();
    await wiring.bind(end('a'), nio(101, 100));
    await wiring.bind(end('b'), nio(100, 101));
    await up('a');
    assert.deepEqual(fabric.requests, []);
    await up('b');
    assert.deepEqual(
      [...fabric.links.values()],
      [{ id: 'pair-100-101', a: stream('b0'), b: stream('a0'), filters: {}, suspend: false }],
    );
    await wiring.down('a');
    assert.equal(fabric.links.size, 0);
  });

  it('speaks datagrams to everybody else', async () => {
    const { fabric, wiring, up } = await setUp();
    await wiring.bind(end('a'), nio(100, 101, { rhost: 'far', address: '192.0.2.7' }));
    await up('a');
    const udp = { type: 'udp', lport: 100, rhost: '192.0.2.7', rport: 101, strict: true };
    assert.deepEqual([...fabric.links.values()], [{ id: 'udp-100', a: stream('a0'), b: udp, filters: {}, suspend: false }]);
    // The right ports, but another machine: no pair.
    await wiring.bind(end('b'), nio(101, 100));
    await up('b');
    assert.deepEqual([...fabric.links.keys()].sort(), ['udp-100', 'udp-101']);
  });

  it('has a stream beside the datagrams where the NIO says so, and never between two nodes of this compute', async () => {
    const { fabric, wiring, up } = await setUp();
    const stream = { role: 'accept', secret: 's'.repeat(32) } as const;
    await wiring.bind(end('a'), nio(100, 101, { rhost: 'far', address: '192.0.2.7', stream }));
    await up('a');
    const udp = { type: 'udp', lport: 100, rhost: '192.0.2.7', rport: 101, strict: true };
    assert.deepEqual(fabric.links.get('udp-100')?.b, { ...udp, stream });
    await wiring.bind(end('a'), nio(100, 101, { stream }));
    await wiring.bind(end('b'), nio(101, 100, { stream }));
    await up('b');
    assert.doesNotMatch(JSON.stringify([...fabric.links.values()]), /secret/);
    assert.deepEqual([...fabric.links.keys()], ['pair-100-101']);
  });

  it('turns a datagram link into a direct one when the partner appears, and back when it goes', async () => {
    const { fabric, wiring, up } = await setUp();
    await up('a');
    await up('b');
    await wiring.bind(end('a'), nio(100, 101));
    await wiring.bind(end('b'), nio(101, 100));
    await wiring.unbind(end('b'));
    assert.deepEqual(fabric.requests, [
      'apply udp-100',
      'remove udp-100',
      'apply pair-100-101',
      'remove pair-100-101',
      'apply udp-100',
    ]);
    await wiring.unbind(end('a'));
    assert.equal(fabric.links.size, 0);
  });

  it('takes filters and suspension from either end', async () => {
    const { fabric, wiring, up } = await setUp();
    await up('a');
    await up('b');
    const filters: Filters = { delay: [10, 0] };
    await wiring.bind(end('a'), nio(100, 101));
    await wiring.bind(end('b'), nio(101, 100, { filters, suspend: true, bpf: [[[6, 0, 0, 0]]] }));
    const [link] = fabric.links.values();
    assert.deepEqual(link?.filters, filters);
    assert.equal(link?.suspend, true);
    await wiring.bind(end('b'), nio(101, 100, { filters: { bpf: ['arp'] }, bpf: [[[6, 0, 0, 1]]] }));
    assert.deepEqual(fabric.links.get('pair-100-101')?.bpf, [[[6, 0, 0, 1]]]);
    const sent = fabric.requests.length;
    await wiring.bind(end('a'), nio(100, 101, { filters: {} }));
    assert.equal(fabric.requests.length, sent, 'nothing has changed, nothing is sent');
  });

  it('takes the directions of filters as the end sees them that has them', async () => {
    const { fabric, wiring, up } = await setUp();
    await up('a');
    await up('b');
    const filters: Filters = { delay_ab: [10], bpf_ba: ['arp'], packet_loss: [1] };
    const programs: Partial<NioRecord> = { bpf_ba: [[[6, 0, 0, 0]]] };
    await wiring.bind(end('a'), nio(100, 101, { filters, ...programs }));
    await wiring.bind(end('b'), nio(101, 100));
    const linkNow = () => fabric.links.get('pair-100-101');
    assert.deepEqual(linkNow()?.filters, filters);
    assert.deepEqual(linkNow()?.bpf_ba, programs.bpf_ba);
    await wiring.bind(end('a'), nio(100, 101));
    await wiring.bind(end('b'), nio(101, 100, { filters, ...programs }));
    assert.deepEqual(linkNow()?.filters, { delay_ba: [10], bpf_ab: ['arp'], packet_loss: [1] });
    assert.deepEqual([linkNow()?.bpf_ab, linkNow()?.bpf_ba], [programs.bpf_ba, undefined]);
  });

  it('replaces what a port was joined to', async () => {
    const { fabric, wiring, up } = await setUp();
    await up('a');
    await wiring.bind(end('a'), nio(100, 101));
    await wiring.bind(end('a'), nio(102, 103));
    assert.deepEqual([...fabric.links.keys()], ['udp-102']);
    assert.equal(wiring.findByPort(100), undefined);
  });

  it('puts everything back when the fabric refuses', async () => {
    const { fabric, wiring, up } = await setUp();
    await up('a');
    await wiring.bind(end('a'), nio(100, 101));
    fabric.refuse = 'udp-102';
    await assert.rejects(wiring.bind(end('a'), nio(102, 103)), { code: 'link_failed' });
    assert.deepEqual([...fabric.links.keys()], ['udp-100']);
    assert.equal(wiring.find(end('a'))?.nio.lport, 100);
  });

  it('gives the fabric all links with the first change after one that it missed', async () => {
    const { fabric, wiring, up } = await setUp();
    await wiring.bind(end('a'), nio(100, 9));
    await wiring.bind(end('b'), nio(101, 8));
    fabric.isAway = true;
    await assert.rejects(up('a'), /does not answer/);
    await assert.rejects(wiring.sync(), /does not answer/);
    fabric.isAway = false;
    assert.deepEqual(await up('b'), []);
    assert.deepEqual([...fabric.links.keys()].sort(), ['udp-100', 'udp-101']);
    await wiring.down('a');
    assert.deepEqual(fabric.requests, ['remove udp-100'], 'one by one again');
  });

  it('asks the same of the fabric with thousands of links as with one', async () => {
    const { fabric, wiring, up } = await setUp();
    await up('a');
    for (let n = 0; n < 5000; n++) await wiring.bind(end('a', n), nio(10_000 + n, 30_000 + n));
    fabric.requests.length = 0;
    await wiring.bind(end('a', 17), nio(10_017, 30_017, { suspend: true }));
    assert.deepEqual(fabric.requests, ['apply udp-10017']);
  });
});
