import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CopyMonitor, DiskCopies } from './copy-disks.ts';

test('a copy ends before the memory is sent, and none is made meanwhile', async () => {
  const { promise: cancelled, resolve: cancel } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const jobs = new Set<string>();
  const monitor: CopyMonitor = {
    execute: async (command) => {
      if (command === 'query-jobs') return Array.from(jobs, (id) => ({ id, status: 'running' }));
      if (command === 'query-named-block-nodes') return [];
      if (command === 'job-cancel') {
        jobs.clear();
        cancel();
      }
      if (command === 'query-block') {
        jobs.add('copy-0');
        begin();
        await cancelled;
        throw new Error('its copy was ended');
      }
      return {};
    },
  };
  const copies = new DiskCopies();
  const node = { directory: '/nowhere' };
  let isCopying = true;
  const copy = assert.rejects(copies.make(monitor, node), /was ended/).then(() => {
    isCopying = false;
  });
  await begun;
  await copies.without(monitor, async () => {
    assert.equal(isCopying, false);
    await assert.rejects(copies.make(monitor, node), /QEMU is busy/);
  });
  await copy;
});
