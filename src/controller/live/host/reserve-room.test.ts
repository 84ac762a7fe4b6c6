import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ProjectLog } from '../../log/project-log.ts';
import { ProjectChanges } from './project-changes.ts';

/** A log that can be written; what is checked happens before. */
const log = { pauseSnapshots: () => () => undefined, appendAll: () => Promise.resolve() } as unknown as ProjectLog;
const none = () => Promise.resolve();

test('changes for which the disk has no room are not begun; room is given back before they are written', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-room-'));
  context.after(() => rm(folder, { recursive: true }));
  let seen: readonly string[] = [];
  const look = async () => {
    seen = await readdir(folder);
  };
  await new ProjectChanges(folder, log, () => undefined).together(look, none);
  assert.deepEqual([seen.length, await readdir(folder)], [1, []]);
  const begin = () => assert.fail('the changes were begun');
  const changes = new ProjectChanges(join(folder, 'missing'), log, () => undefined);
  await assert.rejects(changes.together(begin, none), { code: 'storage_failed' });
});
