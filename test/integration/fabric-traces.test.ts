/** Traces in the fabric: which frames they note, where, and why a link lost one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LinkDirection } from '../../src/schema/filter.ts';
import { waitFor } from '../support/wait-for.ts';
import { type LinkBed, startLink } from '../support/with-fabric.ts';

/** An ICMP message between two addresses, with this number, in an Ethernet frame of 60 bytes. */
function echo(number: number, { tag = '', to = '0a000002', protocol = '01' } = {}): Buffer {
  const header = `${'02'.repeat(12)}${tag}08004500002e0001000040${protocol}00000a000001${to}`;
  const message = `080000000001${number.toString(16).padStart(4, '0')}`;
  return Buffer.concat([Buffer.from(`${header}${message}`, 'hex'), Buffer.alloc(22)]);
}
const arp = Buffer.concat([Buffer.from(`${'ff'.repeat(6)}${'02'.repeat(6)}0806`, 'hex'), Buffer.alloc(46)]);

const both = ['ab', 'ba'] as const satisfies readonly LinkDirection[];
const specOf = (id: string, marks: string[] = [], leaseMs = 60_000) => ({
  ...{ id, leaseMs, marks },
  places: both.map((direction) => ({ link: 'link', direction, label: direction })),
});
const noted = async ({ client }: LinkBed, id = 'trace') => {
  const frames = (await client.traces.read(id)) ?? assert.fail('there is no trace');
  return frames.map(({ label, point }) => `${label} ${point}`);
};

describe('a trace', () => {
  it('notes frames of ARP and ICMP where they come in and leave, in order, and no others', async (context) => {
    const bed = await startLink(context);
    const { a, b, client } = bed;
    assert.equal(await client.traces.start(specOf('trace')), true);
    a.send(arp, echo(1, { tag: '8100000a' }), echo(2, { protocol: '11' }), Buffer.alloc(14), Buffer.from('00'.repeat(60), 'hex'));
    await b.receive(5);
    b.send(echo(3));
    await a.receive(1);
    assert.deepEqual(await noted(bed), ['ab in', 'ab in', 'ab out', 'ab out', 'ba in', 'ba out']);
    const [first] = (await client.traces.read('trace')) ?? [];
    assert.equal(first?.bytes, arp.toString('base64'));
    assert.ok(Math.abs((first?.atMs ?? 0) - Date.now()) < 60_000);
    await client.traces.end('trace');
    assert.equal(await client.traces.read('trace'), null);
  });

  it('notes frames behind each type of tag that a switch understands', async (context) => {
    const bed = await startLink(context);
    await bed.client.traces.start(specOf('trace'));
    bed.a.send(...['8100', '88a8', '9100', '9200'].map((type, at) => echo(at, { tag: `${type}000a` })));
    await bed.b.receive(4);
    assert.equal((await noted(bed)).length, 8);
  });

  it('notes only frames with an address that it is given', async (context) => {
    const bed = await startLink(context);
    await bed.client.traces.start(specOf('trace', ['0a000009']));
    bed.a.send(echo(1), echo(2, { to: '0a000009' }));
    await bed.b.receive(2);
    assert.deepEqual(await noted(bed), ['ab in', 'ab out']);
  });

  it('says which filter lost a frame, and how long the others waited', async (context) => {
    const bed = await startLink(context, { filters: { frequency_drop: [2], delay: [20] } });
    await bed.client.traces.start(specOf('trace'));
    bed.a.send(echo(1), echo(2));
    await bed.b.receive(1);
    assert.deepEqual((await noted(bed)).sort(), ['ab frequency_drop', 'ab in', 'ab in', 'ab out']);
    const frames = (await bed.client.traces.read('trace')) ?? [];
    const waited = (frames.find(({ point }) => point === 'out')?.atMs ?? 0) - (frames[0]?.atMs ?? 0);
    assert.ok(waited >= 19.9, `${waited} ms`);
    await bed.change({ suspend: true });
    bed.a.send(echo(3));
    await waitFor(async () => (await noted(bed)).includes('ab suspend'), { what: 'the frame that a suspended link drops' });
  });

  it('is one of at most eight, ends with its lease, and notes at most 4,000 frames', async (context) => {
    const bed = await startLink(context);
    const { client } = bed;
    await client.traces.start(specOf('brief', [], 1));
    await waitFor(async () => (await client.traces.read('brief')) === null, { what: 'the end of the lease' });
    const started: boolean[] = [];
    for (let number = 0; number < 9; number++) started.push(await client.traces.start(specOf(`trace ${number}`)));
    assert.deepEqual(started, [...Array<boolean>(8).fill(true), false]);
    assert.equal(await client.traces.start(specOf('trace 0')), true, 'a request may be repeated');
    const count = 2100;
    bed.a.send(...Array.from({ length: count }, (_, number) => echo(number % 4096)));
    await bed.b.receive(count);
    assert.equal((await noted(bed, 'trace 7')).length, 4000);
    await assert.rejects(client.traces.start({ ...specOf('x'), marks: ['zz'] }), /hexadecimal/);
    await assert.rejects(client.traces.start({ ...specOf('x'), leaseMs: 1e9 }), /leaseMs/);
  });
});
