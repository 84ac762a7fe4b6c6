import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { cpio } from './cpio.ts';

test('an archive has four-byte aligned records and a trailer', () => {
  const archive = cpio([
    { path: 'bin', type: 'directory' },
    { path: 'bin/a', type: 'file', data: Buffer.from('hello'), executable: true },
    { path: 'bin/b', type: 'link', target: 'a' },
  ]);
  const text = archive.toString('latin1');
  assert.equal(archive.length % 4, 0);
  assert.equal(text.split('070701').length - 1, 4);
  assert.match(text, /TRAILER!!!/);
  assert.match(text, /hello\0\0\0/);
});

test('busybox unpacks it, if busybox is installed', (context) => {
  const archive = cpio([{ path: 'some-file', type: 'file', data: Buffer.from('x') }]);
  const listed = spawnSync('busybox', ['cpio', '-t'], { input: archive, encoding: 'utf8' });
  if (listed.error) return context.skip('busybox is not installed');
  assert.equal(listed.stdout.trim(), 'some-file');
});
