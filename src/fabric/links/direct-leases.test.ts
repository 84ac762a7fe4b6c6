import assert from 'node:assert/strict';
import { test } from 'node:test';
import { directLeases } from './link.ts';

const client = '005079666800';

/** An answer of a DHCP server as libslirp sends it, with what differs. */
function answer({ to = 'ffffffffffff', type = '0800', ports = '00430044', form = '0201' + '0600', chaddr = client } = {}): Buffer {
  const ip = '45100240' + '00000000' + '4011' + '0000' + 'c0a87a01' + 'ffffffff';
  const bootp = `${form}${'11223344'}${'00'.repeat(20)}${chaddr}${'00'.repeat(40)}`;
  return Buffer.from(`${to}5255c0a87a01${type}${ip}${ports}022c0000${bootp}`, 'hex');
}

function addressed(frame: Buffer): string {
  const [lease] = directLeases({ type: 'stream', path: '/x', directsLeases: true });
  const area = Buffer.concat([Buffer.alloc(7), frame, Buffer.alloc(3, 0xff)]);
  assert.equal(lease?.filter.pass?.(area, 7, 7 + frame.length), true);
  const after = area.subarray(7, 7 + frame.length);
  assert.deepEqual(after.subarray(6), frame.subarray(6), 'nothing else changes');
  return after.toString('hex', 0, 6);
}

test('an answer of a DHCP server goes to its client, and everything else where it went', () => {
  const everybody = 'ffffffffffff';
  assert.equal(addressed(answer()), client);
  assert.equal(addressed(answer({ to: '020000000001' })), '020000000001');
  assert.equal(addressed(answer({ type: '86dd' })), everybody);
  assert.equal(addressed(answer({ ports: '00440043' })), everybody);
  assert.equal(addressed(answer({ form: '0206' + '0800' })), everybody);
  assert.equal(addressed(answer({ chaddr: everybody })), everybody);
  for (let length = 0; length < 76; length += 1)
    assert.equal(addressed(answer().subarray(0, length)), everybody.slice(0, 2 * length));
});

test('only of ports behind which such a server is', () => {
  assert.deepEqual(directLeases({ type: 'stream', path: '/x' }), []);
});
