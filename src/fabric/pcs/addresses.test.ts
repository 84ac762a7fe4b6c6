import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressOf, bytesOf, isInSubnet, isLastOf, macBytes, macOf, withHostBits } from './addresses.ts';

const addresses = ['0.0.0.0', '10.0.0.1', '127.255.255.255', '128.0.0.0', '192.168.1.254', '255.255.255.255'];
const prefixes = Array.from({ length: 33 }, (_, prefix) => prefix);

describe('addresses of IPv4', () => {
  it('are the same as text and as bytes', () => {
    assert.deepEqual(
      addresses.map((address) => addressOf(bytesOf(address))),
      addresses,
    );
    assert.deepEqual([...bytesOf('200.1.20.255')], [200, 1, 20, 255]);
  });

  it('are in the subnets and at their ends as a comparison of all bits says', () => {
    for (const of of addresses)
      for (const prefix of prefixes) {
        const [first, last] = [withHostBits(of, prefix, 0), withHostBits(of, prefix, 1)];
        for (const one of [...addresses, first, last]) {
          const what = `${one} and ${of}/${prefix}`;
          assert.equal(isInSubnet(one, of, prefix), withHostBits(one, prefix, 0) === first, what);
          assert.equal(isLastOf(one, of, prefix), one === last, what);
        }
      }
    assert.equal(isInSubnet('::1', '0.0.0.0', 0), false);
    assert.equal(isInSubnet('fd00::2', 'fd00::1', 64), true);
  });
});

describe('MAC addresses', () => {
  it('are the same as text and as bytes', () => assert.equal(macOf(macBytes('00:50:79:66:fe:0a')), '00:50:79:66:fe:0a'));
});
