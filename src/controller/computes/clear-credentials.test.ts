import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPrivate } from '../../lib/private-address.ts';
import { refuseClearCredentials } from './clear-credentials.ts';

test('loopback, RFC 1918, link-local and unique local addresses are private, and no other', () => {
  const own = [
    '127.0.0.1',
    '127.9.9.9',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.9.9',
    '169.254.1.1',
    '::1',
    'fd00::1',
    'fe80::1%eth0',
  ];
  for (const address of [...own, '::ffff:10.0.0.1']) assert.equal(isPrivate(address), true, address);
  const open = [
    '8.8.8.8',
    '172.32.0.1',
    '192.169.0.1',
    '11.0.0.1',
    '2001:db8::1',
    '::ffff:8.8.8.8',
    '::',
    '',
    'localhost',
    '10.0.0.1.evil.example',
  ];
  for (const address of open) assert.equal(isPrivate(address), false, address);
});

test('a name is judged by its addresses; HTTPS and a compute without a user are accepted', async () => {
  const record = { name: 'far', protocol: 'http', host: '203.0.113.7', user: 'u' } as const;
  await assert.rejects(
    refuseClearCredentials(record),
    /user and password of compute 'far' would cross the network in the clear to 203\.0\.113\.7/,
  );
  await refuseClearCredentials({ ...record, protocol: 'https' });
  await refuseClearCredentials({ ...record, user: null });
  await refuseClearCredentials({ ...record, host: 'localhost' });
  await refuseClearCredentials({ ...record, host: 'no-such-name.invalid' });
});
