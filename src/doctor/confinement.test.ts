import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findProgram } from '../emulators/host/find-program.ts';
import { bubblewrapObstacle } from '../process/bubblewrap/usable.ts';
import { lookAtConfinement } from './confinement.ts';

const isRoot = process.getuid?.() === 0;

test('what confines emulators here: files and processes, user, limits, filter', async () => {
  const emulator = await findProgram('qemu-system-x86_64');
  const findings = await lookAtConfinement(emulator);
  assert.deepEqual(
    findings.map(({ what }) => what),
    ['confinement of emulators', 'user of emulators', 'limits of emulators', 'system call filter'],
  );
  if ((await bubblewrapObstacle()) === undefined) assert.match(findings[0]?.found ?? '', /root folder/);
  const found = (what: string) => findings.find((finding) => finding.what === what);
  assert.match(found('limits of emulators')?.found ?? '', isRoot ? /^core=0, nofile=\d+, nproc=\d+ / : /server's own/);
  assert.match(found('user of emulators')?.found ?? '', isRoot ? /^(one of its own|61100|patchbay)/ : /server's own/);
  if (emulator !== undefined) assert.equal(found('system call filter')?.state, 'good');
});

test('an emulator without a filter, or none at all, is a note', async () => {
  for (const emulator of ['/bin/false', undefined]) {
    const filter = (await lookAtConfinement(emulator)).find(({ what }) => what === 'system call filter');
    assert.equal(filter?.state, 'note', String(emulator));
  }
});
