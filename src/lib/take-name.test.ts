import assert from 'node:assert/strict';
import { link, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { addName, takeName } from './take-name.ts';

const folder = await mkdtemp(join(tmpdir(), 'patchbay-names-'));
after(() => rm(folder, { recursive: true }));

/** A `link` that fails as on a file system without hard links, which takes root rights and a module of the kernel to mount. */
const noLinks: typeof link = () => Promise.reject(Object.assign(new Error('not permitted'), { code: 'EPERM' }));

for (const [what, makeLink] of Object.entries({ 'hard links': link, 'no hard links': noLinks })) {
  test(`a file takes a name that is free, and leaves one that is taken, on a file system with ${what}`, async () => {
    const [from, to, taken] = ['from', 'to', 'taken'].map((name) => join(folder, `${what} ${name}`)) as [string, string, string];
    await writeFile(from, 'content');
    await writeFile(taken, 'of another program');
    await assert.rejects(takeName(from, taken, makeLink), { code: 'EEXIST' });
    await assert.rejects(addName(from, taken, makeLink), { code: 'EEXIST' });
    await addName(from, to, makeLink);
    assert.equal(await readFile(to, 'utf8'), 'content');
    await rm(to);
    await takeName(from, to, makeLink);
    assert.equal(await readFile(to, 'utf8'), 'content');
    assert.equal(await readFile(taken, 'utf8'), 'of another program');
    await assert.rejects(takeName(from, join(folder, 'other'), makeLink), { code: 'ENOENT' });
    const left = (await readdir(folder)).filter((name) => name.startsWith(what));
    assert.deepEqual(left.sort(), [taken, to].map((path) => path.slice(folder.length + 1)).sort());
    for (const path of [to, taken]) await rm(path);
    assert.deepEqual(await readdir(folder), []);
  });
}
