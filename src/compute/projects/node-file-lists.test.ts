import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { defaultSettings } from '../../schema/settings.ts';
import type { Context } from '../context.ts';
import { NodeFileLists } from './node-file-lists.ts';
import type { ComputeProjects } from './projects.ts';

test('a node is listed whose files are removed while they are listed; why others cannot be is said', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-lists-'));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'kept'));
  for (const path of ['disk', 'kept/file']) await writeFile(join(folder, path), path);
  let lists = 0;
  let copiesLast = 1;
  // The copy of a disk is removed when its machine ends, as when its memory is saved.
  let copyDisks = async () => (++lists <= copiesLast ? new Map([['disk', 'copy-that-was-removed']]) : undefined);
  const emulator = { copyDisks: () => copyDisks() };
  const node = { directory: folder, name: 'PC1', emulator };
  const context = {
    drivers: new Map([['vpcs', { kind: { folder: 'vpcs' } }]]),
    settings: defaultSettings(),
  } as unknown as Context;
  const projects = { findNode: () => node } as unknown as ComputeProjects;
  const list = () =>
    new NodeFileLists(context, projects).list({
      project_id: crypto.randomUUID(),
      node_type: 'vpcs',
      node_id: crypto.randomUUID(),
    });
  assert.deepEqual(
    (await list()).files.map(({ path }) => path),
    ['disk', 'kept/file'],
  );
  assert.equal(lists, 2);
  copiesLast = Number.POSITIVE_INFINITY;
  await assert.rejects(list(), { code: 'node_failed', message: /change while they are read/ });
  // The error of a folder that the guest of a container closes to a server that is not root.
  copyDisks = () => Promise.reject(Object.assign(new Error('permission denied'), { code: 'EACCES' }));
  await assert.rejects(list(), { code: 'node_failed', message: /permission denied/ });
});
