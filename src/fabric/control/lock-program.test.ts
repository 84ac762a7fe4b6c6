import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadNative } from '../ports/native.ts';
import { lockProgram } from './lock-program.ts';

const native = await loadNative();
const lockedKibibytes = () => Number(/^VmLck:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
const isRoot = process.getuid?.() === 0;

test('the code of the program stays in memory', { skip: !isRoot && 'needs root' }, () => {
  const before = lockedKibibytes();
  lockProgram(native);
  assert.ok(lockedKibibytes() - before > 10_000, `${lockedKibibytes()} KiB are locked`);
});
