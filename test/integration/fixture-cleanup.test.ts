/** A fixture that fails half-way stops what it started. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { makeNamespaces } from '../support/namespaces.ts';
import { TwoHosts } from '../support/two-hosts.ts';

const network = await makeNamespaces();

test('two hosts of which one cannot start its node', { skip: typeof network === 'string' && network }, async () => {
  assert.ok(typeof network !== 'string');
  const children = () => readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8');
  try {
    await assert.rejects(TwoHosts.start(network, { far: 'qemu', config: { Server: { images_path: '/proc/nonexistent' } } }), Error);
    assert.equal(await children(), '');
  } finally {
    await network.remove();
  }
});
