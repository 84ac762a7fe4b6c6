import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { isPrepared } from './resources.ts';

test('a container whose process is still the runtime is not ready yet', async () => {
  const child = spawn('/bin/sh', ['-c', 'sleep 0.3; exit 127', 'init'], { argv0: 'runc', stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('close', resolve));
  assert.equal(await isPrepared(child.pid ?? 0), false);
  assert.equal(await ended, 127);
});
