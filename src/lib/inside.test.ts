import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { isReallyBelow } from './inside.ts';

const folder = await mkdtemp(join(tmpdir(), 'pb-inside-'));
after(() => rm(folder, { recursive: true }));

test('a folder that is being made is inside', async () => {
  const outside: string[] = [];
  for (let round = 0; round < 300; round += 1) {
    const path = join(folder, `made-${round}`);
    const asked = isReallyBelow(folder, path);
    // The path is made at one of the moments at which it is looked at.
    for (let steps = round % 4; steps > 0; steps -= 1) await stat(folder);
    await mkdir(path);
    if (!(await asked)) outside.push(path);
  }
  assert.deepEqual(outside, []);
});

test('links lead where they lead', async () => {
  await mkdir(join(folder, 'real'));
  for (const [name, target] of Object.entries({ within: 'real', out: tmpdir(), nowhere: 'missing', circle: 'circle' }))
    await symlink(target, join(folder, name));
  const answers = ['real/file', 'absent/file', 'within/file', 'out/file', 'nowhere', 'nowhere/file', 'circle'];
  const inside = await Promise.all(answers.map((path) => isReallyBelow(folder, join(folder, path))));
  assert.deepEqual(inside, [true, true, true, false, false, false, false]);
});
