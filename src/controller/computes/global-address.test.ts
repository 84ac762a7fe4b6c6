import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isGlobalUnicast } from './image-source.ts';

test('addresses of the Internet are global unicast, all others are not', () => {
  for (const address of ['1.1.1.1', '9.255.255.255', '100.128.0.1', '172.32.0.1', '223.255.255.255', '2606:4700::1111', '2a00::1'])
    assert.ok(isGlobalUnicast(address), address);
  const special = [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.31.255.255',
    '192.168.1.1',
    '198.19.0.1',
  ];
  const ipv6 = [
    '::',
    '::1',
    '::ffff:1.1.1.1',
    '64:ff9b::101:101',
    'fe80::1',
    'fe80::1%lo',
    'fd00::1',
    'ff02::1',
    '2001::1',
    '2002:a00::',
  ];
  for (const address of [...special, '224.0.0.1', '240.0.0.1', '255.255.255.255', ...ipv6, '2001:db8::1', 'localhost', '', '1.1'])
    assert.ok(!isGlobalUnicast(address), address);
});
