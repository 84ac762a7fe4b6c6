import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LinkSpec, PortSpec } from '../protocol.ts';
import { hostEndsOf } from './kernel-eligible.ts';

test('the kernel carries links between two host ends that do nothing; what is unknown counts as something', () => {
  const [a, b] = ['a', 'b'].map((name): PortSpec => ({ type: 'tap', name: `t${name}`, hostEnd: `v${name}` })) as [
    PortSpec,
    PortSpec,
  ];
  const link: LinkSpec = { id: 'l', a, b, filters: {}, suspend: false };
  assert.deepEqual(hostEndsOf(link), ['va', 'vb']);
  assert.deepEqual(hostEndsOf({ ...link, captures: [], bpf: [] }), ['va', 'vb']);
  const others: Partial<LinkSpec>[] = [
    { suspend: true },
    { filters: { delay: [1] } },
    { filters: { seed: [1] } },
    { captures: [{ path: '/c', linkType: 1 }] },
    { b: { type: 'tap', name: 'tb' } },
    { a: { type: 'stream', path: '/s' } },
    { mirrors: [{ id: 'm', port: { type: 'tap', name: 'tm' } }] },
    { unheardOf: ['d'] } as Partial<LinkSpec>,
  ];
  for (const other of others) assert.equal(hostEndsOf({ ...link, ...other }), undefined, JSON.stringify(other));
});
