import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { DiskFloor } from './disk-floor.ts';

test('what is wanted counts, as far as it is known; a folder that is not there does not', async () => {
  await new DiskFloor([tmpdir()], 1).check();
  await assert.rejects(new DiskFloor([tmpdir()], 1).check(Number.MAX_SAFE_INTEGER), { code: 'ENOSPC' });
  await assert.rejects(
    new DiskFloor(['/nowhere', tmpdir()], 9e14).check(),
    /MiB are free in .*min_free_bytes keeps 858306884 MiB free/,
  );
  await new DiskFloor(['/nowhere'], 9e14).check();
  await new DiskFloor([tmpdir()], 0).check(Number.MAX_SAFE_INTEGER);
});
