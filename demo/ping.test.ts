import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPing } from './ping.ts';

test('loss and median of a ping', () => {
  const output = [
    'PING 10.0.0.2 (10.0.0.2): 56 data bytes',
    '64 bytes from 10.0.0.2: seq=0 ttl=64 time=10.999 ms',
    '64 bytes from 10.0.0.2: seq=2 ttl=64 time=0.952 ms',
    '64 bytes from 10.0.0.2: seq=3 ttl=64 time=1.256 ms',
    '4 packets transmitted, 3 packets received, 25% packet loss',
  ].join('\r\n');
  assert.deepEqual(readPing(output), { sent: 4, received: 3, lossPercent: 25, medianMs: 1.256, quickestMs: 0.952 });
});

test('a ping without replies has no median', () => {
  const output = '5 packets transmitted, 0 packets received, 100% packet loss';
  assert.deepEqual(readPing(output), { sent: 5, received: 0, lossPercent: 100, medianMs: undefined, quickestMs: undefined });
});

test('output that is not from ping is an error', () => {
  assert.throws(() => readPing('sh: ping: not found'), /not found/);
});
