import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { contractHost } from '../../../test/support/contract-bench.ts';
import { findLicense } from './license.ts';

test('the licence of a node is not read through a link; one that a client gives is kept for the server alone', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'pb-licence-'));
  t.after(() => rm(root, { recursive: true }));
  const [node, state] = [join(root, 'node'), join(root, 'state')];
  for (const folder of [node, state]) await mkdir(folder);
  const { settings } = contractHost(root, 31_948);
  await writeFile(join(root, 'secret'), 'secret');
  await symlink(join(root, 'secret'), join(node, 'iourc'));
  const find = (given = '') => findLicense(settings, node, { license_check: false, iourc_content: given });
  assert.notEqual(await find(), 'secret');
  assert.equal(await find('[license]\n'), '[license]\n');
  assert.equal((await stat(join(state, 'iourc'))).mode & 0o777, 0o600);
});
