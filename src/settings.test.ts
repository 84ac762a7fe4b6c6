import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from './settings.ts';

test('the runtime folder of a slice is outside of its data, which hosts may share', async () => {
  const runtimeOf = async (dataDirectory: string, join?: string) => (await readSettings({ dataDirectory, join })).runtimeDirectory;
  assert.equal(await runtimeOf('/data'), '/data/run');
  const ofSlice = await runtimeOf('/data', 'http://controller:3080');
  assert.ok(!ofSlice.startsWith('/data'), ofSlice);
  assert.equal(await runtimeOf('/data', 'http://another:3080'), ofSlice, 'a server that comes back finds it');
  assert.notEqual(await runtimeOf('/data2', 'http://controller:3080'), ofSlice);
});
