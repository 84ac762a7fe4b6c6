import assert from 'node:assert/strict';
import { test } from 'node:test';
import { privateRoot } from './private-root.ts';

test('a library whose path leads upwards lies inside of the folder', async () => {
  const library = '/usr/../../../lib.so';
  const { root } = await privateRoot({ reads: [], writes: [], libraries: [library], tmpBytes: 1, runAs: undefined });
  assert.deepEqual(root.slice(root.indexOf('--ro-bind'), root.indexOf('--ro-bind') + 3), ['--ro-bind', library, '/lib.so']);
});
