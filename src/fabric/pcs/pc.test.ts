import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pc } from './pc.ts';

test('a PC answers ARP for its address', () => {
  const sent: Uint8Array[] = [];
  const clock = { now: () => 0, after: () => ({ cancel: () => undefined }) };
  const pc = new Pc({ name: 'PC1', mac: '00:50:79:66:68:03', clock, send: (frame) => sent.push(frame), write: () => undefined });
  pc.runScript('ip 10.0.0.1/24\n');
  const request = 'ffffffffffff02000000000108060001080006040001020000000001' + '0a000002' + '000000000000' + '0a000001';
  pc.receive(Buffer.from(request, 'hex'));
  const reply = '02000000000100507966680308060001080006040002005079666803' + '0a000001' + '020000000001' + '0a000002';
  assert.deepEqual(
    sent.map((frame) => Buffer.from(frame).toString('hex')),
    [reply],
  );
  assert.deepEqual(pc.settings().ip4, { address: '10.0.0.1', prefix: 24 });
});
