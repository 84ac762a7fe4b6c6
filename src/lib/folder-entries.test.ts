import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { FolderPlaces, forEachEntry } from './folder-entries.ts';

test('a walk has few folders open at a time, and a failure ends it when all calls have ended', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'pb-entries-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  const paths = Array.from({ length: 20 * 20 }, (_, at) => join(root, `${at % 20}`, `${at}`));
  for (const path of paths) await mkdir(path, { recursive: true });
  await Promise.all(paths.map((path) => writeFile(join(path, 'file'), '')));
  const counts = { open: 0, most: 0, files: 0 };
  const walk = async (path: string, places: FolderPlaces): Promise<void> => {
    counts.most = Math.max(counts.most, ++counts.open);
    await forEachEntry(path, places, async (entry) => {
      if (entry.isDirectory()) return walk(join(path, entry.name), places);
      await pause(1);
      counts.files++;
    });
    counts.open--;
  };
  const places = new FolderPlaces();
  const { spare } = places;
  await walk(root, places);
  assert.deepEqual([counts.files, counts.open, places.spare], [paths.length, 0, spare]);
  // Each folder that has a place is completed one folder after the other.
  assert.ok(counts.most > 2 && counts.most <= 1 + 2 * spare, `${counts.most} folders were open`);
  let ended = 0;
  const failing = forEachEntry(root, places, async ({ name }) => {
    await pause(name === '1' ? 0 : 20);
    ended++;
    if (name === '1') throw new Error('the one that fails');
  });
  await assert.rejects(failing, /the one that fails/);
  assert.ok(ended >= 8 && places.spare === spare, `${ended} calls have ended`);
});
