import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LinkSpec, PortSpec } from '../protocol.ts';
import { kernelEndsOf } from './link.ts';

test('the kernel carries links between two host ends that do nothing; what is unknown counts as something', () => {
  const [a, b] = ['a', 'b'].map((name): PortSpec => ({ type: 'tap', name: `t${name}`, hostEnd: `v${name}` })) as [
    PortSpec,
    PortSpec,
  ];
  const link: LinkSpec = { id: 'l', a, b, filters: {}, suspend: false };
  assert.deepEqual(kernelEndsOf(link), { place: 'host', ends: ['va', 'vb'] });
  assert.deepEqual(kernelEndsOf({ ...link, captures: [], bpf: [] }), { place: 'host', ends: ['va', 'vb'] });
  const others: Partial<LinkSpec>[] = [
    { suspend: true },
    { filters: { delay: [1] } },
    { filters: { seed: [1] } },
    { captures: [{ path: '/c', linkType: 1 }] },
    { b: { type: 'tap', name: 'tb' } },
    { a: { type: 'stream', path: '/s' } },
    { a: { ...a, inLinkNamespace: true } as PortSpec },
    { b: { ...b, kernelPath: false } as PortSpec },
    { mirrors: [{ id: 'm', port: { type: 'tap', name: 'tm' } }] },
    { unheardOf: ['d'] } as Partial<LinkSpec>,
  ];
  for (const other of others) assert.equal(kernelEndsOf({ ...link, ...other }), undefined, JSON.stringify(other));
});
