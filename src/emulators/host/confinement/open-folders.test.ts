import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runTool } from '../../../process/tool.ts';
import { commandAs } from '../run-as.ts';
import { mountTable } from './mount-table.ts';
import { openFolders, withOpenFolders } from './open-folders.ts';
import { quoteWord } from './shell-text.ts';

const nobody = { user: 'nobody', uid: '65534', gid: '65534', groups: '', limits: ['--core=0'] };
const needsRoot = process.getuid?.() !== 0 && 'only root may mount for another user';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-open-'));
});
after(() => rm(folder, { recursive: true }));

test('a table of mounts holds any path', () => {
  const table = mountTable([{ source: '/a b\\c\n#d', target: '/t', options: 'bind' }]);
  assert.equal(table, '/a\\040b\\134c\\012\\043d /t none bind 0 0\n');
});

test('a shell reads a quoted word as it was', async () => {
  const word = `it's $HOME "\\" \n !`;
  const { stdout } = await runTool('sh', ['-c', `printf %s ${quoteWord(word)}`], { timeoutMs: 5000 });
  assert.equal(stdout, word);
});

test('wanted folders and files below a closed folder are reached, and nothing else of it is', { skip: needsRoot }, async () => {
  const closed = join(folder, 'closed one');
  const [wanted, run] = [join(closed, 'deep', 'wanted'), join(closed, 'run')];
  await mkdir(wanted, { recursive: true });
  await mkdir(run);
  await writeFile(join(wanted, 'inside'), 'in the folder');
  for (const name of ['file', 'secret']) await writeFile(join(closed, name), name);
  await chmod(folder, 0o755);
  await chmod(closed, 0o700);
  const table = await openFolders(nobody, [wanted, join(wanted, 'inside'), join(closed, 'file'), join(closed, 'absent')], run);
  const read = async (path: string) => {
    const { program, args } = withOpenFolders(table, commandAs(nobody, 'cat', [path]));
    return (await runTool(program, args, { timeoutMs: 5000 })).stdout;
  };
  assert.equal(await read(join(wanted, 'inside')), 'in the folder');
  assert.equal(await read(join(closed, 'file')), 'file');
  assert.equal(await read(join(closed, 'secret')), '');
  assert.equal(await readFile(join(closed, 'secret'), 'utf8'), 'secret', 'the host sees what it saw');
  assert.deepEqual(await readdir(run, { recursive: true }), ['mounts'], 'nothing that could be replaced is kept in files');
  assert.equal((await stat(join(run, 'mounts'))).mode & 0o777, 0o700);
});

test('what can be reached needs no table', { skip: needsRoot }, async () => {
  await chmod(folder, 0o755);
  await mkdir(join(folder, 'open'));
  assert.equal(await openFolders(nobody, [join(folder, 'open')], folder), undefined);
});

test('two closed folders, the first of which holds the mount points', { skip: needsRoot }, async () => {
  const [holder, other] = [join(folder, 'holder'), join(folder, 'other')];
  const [run, file, further] = [join(holder, 'run'), join(holder, 'file'), join(other, 'further')];
  for (const path of [run, other]) await mkdir(path, { recursive: true });
  for (const path of [file, further]) await writeFile(path, 'wanted');
  await chmod(folder, 0o755);
  for (const path of [holder, other]) await chmod(path, 0o700);
  const table = await openFolders(nobody, [file, further], run);
  for (const path of [file, further]) {
    const { program, args } = withOpenFolders(table, commandAs(nobody, 'cat', [path]));
    assert.equal((await runTool(program, args, { timeoutMs: 30_000 })).stdout, 'wanted', path);
  }
});
