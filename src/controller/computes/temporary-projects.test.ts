import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fault } from '../../api/faults.ts';
import type { RegisteredCompute } from './compute.ts';
import { TemporaryProjects } from './temporary-projects.ts';

test('a temporary project is removed from its compute once, by this server or by the next one, unless it has become a known one', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-temporary-'));
  t.after(() => rm(folder, { recursive: true }));
  const removed: string[] = [];
  const state = { connected: true };
  const send = async (key: string, { path }: { path?: { project_id: string } }) => {
    if (key.startsWith('DELETE')) removed.push(path?.project_id ?? '');
  };
  const compute = { id: 'c1', transport: { state, send } } as unknown as RegisteredCompute;
  const other = { ...compute, id: 'c2' } as RegisteredCompute;
  const before = await TemporaryProjects.open(folder, assert.fail);
  for (const id of ['used', 'ended', 'away', 'kept']) await before.begin(compute, id);
  await before.begin(other, 'used');
  await before.removeLeft(compute, () => false);
  assert.deepEqual(removed, [], 'this server uses them');
  await before.end('ended', compute);
  await before.end('unknown', compute);
  await before.keep('kept');
  state.connected = false;
  await before.end('away', compute);
  assert.deepEqual(removed, ['ended']);
  await before.begin(compute, 'known');
  await before.close();
  state.connected = true;
  const next = await TemporaryProjects.open(folder, assert.fail);
  await next.removeLeft(compute, (id) => id === 'known');
  assert.deepEqual(removed.slice(1).toSorted(), ['away', 'used']);
  await next.removeLeft(compute, () => false);
  assert.equal(removed.length, 3, 'nothing is noted any more, but on the other compute');
  await next.removeLeft(other, () => false);
  assert.deepEqual(removed.slice(3), ['used']);
  await next.close();
});

test('a project of this server stays noted until its files are removed, whatever other computes and projects do', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-temporary-'));
  t.after(() => rm(folder, { recursive: true }));
  const send = async (key: string) => assert.fail(key);
  const [one, other] = ['c1', 'c12'].map(
    (id) => ({ id, transport: { state: { connected: true }, send } }) as unknown as RegisteredCompute,
  );
  assert.ok(one && other);
  const before = await TemporaryProjects.open(folder, assert.fail);
  await before.use('own', one);
  await before.begin(other, 'copy');
  await before.keep('copy', one);
  await before.removeLeft(one, () => false);
  await before.close();
  const next = await TemporaryProjects.open(folder, assert.fail);
  assert.deepEqual([next.isUsed('own', one), next.isUsed('own', other), next.isUsed('copy', other)], [true, false, false]);
  await assert.rejects(
    next.removeLeft(other, () => false),
    'the copy on the other compute is noted as before',
  );
  await next.removed('own', one);
  assert.equal(next.isUsed('own', one), false);
  await next.close();
});

test('one that its compute cannot remove now keeps no other from being removed; one whose files are of another project is let be', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-temporary-'));
  t.after(() => rm(folder, { recursive: true }));
  const asked: string[] = [];
  const send = async (key: string, { body }: { body?: { project_id: string } }) => {
    const id = body?.project_id;
    if (id !== undefined) asked.push(id);
    if (id === 'others') throw fault('compute_forbidden', { message: 'there are files' });
    if (id === 'busy' && key.startsWith('POST')) throw fault('compute_timeout', { name: 'c1', request: key });
  };
  const compute = { id: 'c1', transport: { state: { connected: true }, send } } as unknown as RegisteredCompute;
  const noted = await TemporaryProjects.open(folder, assert.fail);
  for (const id of ['busy', 'others', 'free']) await noted.leave(id, compute);
  await assert.rejects(
    noted.removeLeft(compute, () => false),
    { code: 'compute_timeout' },
  );
  assert.deepEqual(asked, ['busy', 'others', 'free']);
  await assert.rejects(
    noted.removeLeft(compute, () => false),
    { code: 'compute_timeout' },
  );
  assert.deepEqual(asked.slice(3), ['busy'], 'only what is left');
  await noted.close();
});
