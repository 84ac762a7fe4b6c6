import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LabApi } from './lab-api.ts';
import { readFiles } from './lab-state.ts';

test('files are in the order in which they are asked for, whichever answer comes first', async () => {
  const second = Promise.withResolvers<void>();
  const api: Pick<LabApi, 'text'> = {
    text: async (path) => {
      if (path.endsWith('none')) return undefined;
      if (path.endsWith('first')) await second.promise;
      else second.resolve();
      return path;
    },
  };
  const wanted = ['first', 'none', 'second'].map((file) => ({ id: 'n', file }));
  const files = await readFiles(api as LabApi, '/p', wanted);
  assert.deepEqual(
    [...(files.get('n') ?? [])],
    ['first', 'second'].map((file) => [file, `/p/nodes/n/files/${file}`]),
  );
});
