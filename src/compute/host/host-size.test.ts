import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { groupCpus } from './host-size.ts';

async function machine(t: { after(fn: () => Promise<void>): void }, files: Readonly<Record<string, string>>) {
  const root = await mkdtemp(join(tmpdir(), 'pb-size-'));
  t.after(() => rm(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), `${text}\n`);
  }
  return root;
}

it('has as many processors as the smallest of its control groups, version 2', async (t) => {
  const root = await machine(t, {
    'proc/self/cgroup': '0::/user.slice/lab',
    'sys/fs/cgroup/user.slice/cpu.max': '150000 100000',
    'sys/fs/cgroup/user.slice/lab/cpu.max': 'max 100000',
  });
  assert.equal(groupCpus(root), 1.5);
});

it('finds the group of a container, version 1, where the mount begins at the group', async (t) => {
  const root = await machine(t, {
    'proc/self/cgroup': '4:memory:/pods/a\n2:cpuacct,cpu:/pods/a\n0::/',
    'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '200000',
    'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000',
  });
  assert.equal(groupCpus(root), 2);
});

it('is not limited by groups without a quota, or by none', async (t) => {
  const root = await machine(t, {
    'proc/self/cgroup': '1:cpu:/',
    'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1',
    'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000',
  });
  assert.equal(groupCpus(root), Number.POSITIVE_INFINITY);
  assert.equal(groupCpus(await machine(t, {})), Number.POSITIVE_INFINITY);
});
