import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { exportConfigs, nvramFile } from './configs.ts';
import { writeNvram } from './nvram.ts';

test('what IOS has saved replaces a configuration file; a newer one is kept when the NVRAM is seen for the first time', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-configs-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'startup-config.cfg');
  await writeFile(nvramFile(folder, 1), writeNvram({ startup: Buffer.from('saved'), private: undefined }, { size: 65_536 }));
  await writeFile(file, 'edited');
  const [earlier, later] = [new Date(1_600_000_000_000), new Date(1_600_000_001_000)];
  await utimes(nvramFile(folder, 1), earlier, earlier);
  await utimes(file, later, later);
  assert.deepEqual(await exportConfigs(folder, 1, { keepsNewer: true }), []);
  assert.equal(await readFile(file, 'utf8'), 'edited');
  await utimes(nvramFile(folder, 1), later, later);
  assert.deepEqual(await exportConfigs(folder, 1, { keepsNewer: true }), ['startup-config.cfg']);
  assert.equal(await readFile(file, 'utf8'), 'saved');
  await writeFile(file, 'edited');
  assert.deepEqual(await exportConfigs(folder, 1), ['startup-config.cfg']);
});
