import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unpackKernel, unpackLz4 } from './vmlinux.ts';

const block = (...bytes: number[]) => {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([length, Buffer.from(bytes)]);
};
const letters = (text: string) => [...Buffer.from(text)];

test('literals and an overlapping copy are decompressed', () => {
  // 'ab', then 6 bytes from 2 back, then 'c'
  const packed = block(0x22, ...letters('ab'), 2, 0, 0x10, ...letters('c'));
  assert.equal(unpackLz4(packed, 9)?.toString(), 'ababababc');
});

test('long lengths continue in further bytes', () => {
  const text = 'x'.repeat(300);
  const packed = block(0xf0, 255, 30, ...letters(text));
  assert.equal(unpackLz4(packed, 300)?.toString(), text);
});

test('a copy from before the start, a short block and a wrong size are refused', () => {
  assert.equal(unpackLz4(block(0x12, ...letters('a'), 9, 0), 7), undefined);
  assert.equal(unpackLz4(Buffer.from([200, 0, 0, 0, 1]), 7), undefined);
  assert.equal(unpackLz4(block(0x10, ...letters('a')), 7), undefined);
});

test('a file that is not a bzImage is returned unchanged', () => {
  assert.equal(unpackKernel(Buffer.alloc(4096)), undefined);
});
