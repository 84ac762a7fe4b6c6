import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LocalTransport } from '../../../api/local-transport.ts';
import type { ComputeApi } from '../../../compute/api.ts';
import { EventStream } from '../../../lib/event-stream.ts';
import { RegisteredCompute } from '../../computes/compute.ts';
import { LinkStreams } from './link-streams.ts';

function compute(compute_id: string, link_streams?: boolean, link_encryption?: 'preferred' | 'required'): RegisteredCompute {
  const streams = { ...(link_streams !== undefined && { link_streams }), ...(link_encryption && { link_encryption }) };
  const capabilities = { version: '2.2.60', node_types: [], ...streams };
  const transport = new LocalTransport<ComputeApi>({ routes: [], events: new EventStream(), capabilities });
  const record = {
    compute_id,
    name: compute_id,
    host: '192.0.2.7',
    port: 3080,
    protocol: 'http',
    user: null,
    password: null,
  } as const;
  return new RegisteredCompute(record, transport);
}

describe('what the ends of a link receive about a stream', () => {
  const [local, away, third] = [compute('local', true), compute('away', true), compute('third', true)];

  it('is one secret and two roles: what is elsewhere accepts', () => {
    const streams = new LinkStreams();
    const roles = [
      [local, away],
      [away, local],
      [away, third],
    ] as const;
    assert.deepEqual(
      roles.map((pair) => streams.of('link', pair)?.map(({ role }) => role)),
      [
        ['connect', 'accept'],
        ['accept', 'connect'],
        ['connect', 'accept'],
      ],
    );
    const [one, other] = streams.of('link', [local, away]) ?? [];
    assert.equal(one?.secret, other?.secret);
    assert.deepEqual(streams.of('link', [local, away])?.[0], one);
  });

  it('is another secret for each link, and at each opening of a project', () => {
    const streams = new LinkStreams();
    const secrets = [streams.of('a', [local, away]), streams.of('b', [local, away]), new LinkStreams().of('a', [local, away])];
    assert.equal(new Set(secrets.map((pair) => pair?.[0].secret)).size, 3);
    for (const pair of secrets) assert.match(pair?.[0].secret ?? '', /^[0-9a-f]{64}$/);
  });

  it('is nothing on one compute, or when one of the two cannot', () => {
    const streams = new LinkStreams();
    const pairs = [
      [local, local],
      [local, compute('stock')],
      [compute('off', false), away],
    ] as const;
    for (const pair of pairs) assert.equal(streams.of('link', pair), undefined);
  });

  it('is encryption when both have it, and no link in the clear when one requires it', () => {
    const streams = new LinkStreams();
    const [soft, hard] = [compute('soft', true, 'preferred'), compute('hard', true, 'required')];
    const encryptions = (pair: readonly [RegisteredCompute, RegisteredCompute]) =>
      streams.of('link', pair)?.map(({ encryption }) => encryption);
    assert.deepEqual(encryptions([soft, compute('soft too', true, 'preferred')]), ['preferred', 'preferred']);
    assert.deepEqual(encryptions([soft, hard]), ['required', 'required']);
    assert.deepEqual(encryptions([soft, away]), [undefined, undefined]);
    assert.equal(streams.of('link', [hard, hard]), undefined);
    for (const other of [away, compute('stock'), compute('no streams', false, 'preferred')])
      assert.throws(() => streams.of('link', [other, hard]), /hard requires encryption \(link_encryption in \[Server\]\), which/);
  });

  it('is no business of clients', () => {
    assert.equal('link_streams' in away.object.capabilities, false);
    assert.equal('link_encryption' in compute('hard', true, 'required').object.capabilities, false);
  });
});
