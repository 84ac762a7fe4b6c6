/** Files below folders that are closed to the user of emulators, with bubblewrap and without. */
import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isFault } from '../../../api/faults.ts';
import { bubblewrapObstacle } from '../../../process/bubblewrap/usable.ts';
import { runTool } from '../../../process/tool.ts';
import { type ConfinementWish, confine, confinedCommand } from './confine.ts';
import { quoteWord } from './shell-text.ts';

const runAs = { user: 'nobody', uid: '65534', gid: '65534', groups: '', limits: ['--core=0'] };
const needsRoot = process.getuid?.() !== 0 && 'only root may mount for another user';
const obstacle = await bubblewrapObstacle();
const program = '/bin/cat';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-open-'));
  await chmod(folder, 0o755);
});
after(() => rm(folder, { recursive: true }));

/** Reads a file as the user, with this confinement. */
async function read(path: string, wanted: Partial<ConfinementWish> & Pick<ConfinementWish, 'runDirectory'>): Promise<string> {
  const confinement = await confine({ program, runAs, reads: [], writes: [], ...wanted });
  const { filter, ...command } = confinedCommand(confinement, program, [path], { workingFolder: '/', ends: 'parent' });
  return (await runTool(command.program, command.args, { timeoutMs: 30_000, filter })).stdout;
}

test('a shell reads a quoted word as it was', async () => {
  const word = `it's $HOME "\\" \n !`;
  const { stdout } = await runTool('sh', ['-c', `printf %s ${quoteWord(word)}`], { timeoutMs: 5000 });
  assert.equal(stdout, word);
});

for (const [name, kind] of Object.entries({
  'a root folder of its own': {},
  'the files of the host': { seesHost: true },
  'no bubblewrap': { isOpen: true },
})) {
  const skip = needsRoot || (obstacle !== undefined && !('isOpen' in kind) && `bubblewrap cannot be used: ${obstacle}`);

  test(`with ${name}, wanted folders and files below a closed folder are reached, and nothing else of it is`, {
    skip,
  }, async () => {
    const closed = join(await mkdtemp(join(folder, 'one-')), "closed one's");
    await chmod(join(closed, '..'), 0o755);
    const [wanted, runDirectory] = [join(closed, 'deep', 'wanted'), join(closed, 'run')];
    await mkdir(wanted, { recursive: true });
    await mkdir(runDirectory);
    await writeFile(join(wanted, 'inside'), 'in the folder');
    for (const file of ['file', 'secret']) await writeFile(join(closed, file), file);
    await chmod(closed, 0o700);
    const files = {
      ...kind,
      runDirectory,
      reads: [wanted, join(closed, 'file'), join(closed, 'absent')],
      writes: [join(wanted, 'inside')],
    };
    assert.equal(await read(join(wanted, 'inside'), files), 'in the folder');
    assert.equal(await read(join(closed, 'file'), files), 'file');
    assert.equal(await read(join(closed, 'secret'), files), '');
    assert.equal(await readFile(join(closed, 'secret'), 'utf8'), 'secret', 'the host sees what it saw');
    const left = await readdir(runDirectory, { recursive: true });
    assert.deepEqual(left, 'isOpen' in kind ? ['mounts'] : [], 'nothing that could be replaced is kept in files');
    if ('isOpen' in kind) assert.equal((await stat(join(runDirectory, 'mounts'))).mode & 0o777, 0o700);
  });

  test(`with ${name}, two closed folders, the first of which holds the mount points`, { skip }, async () => {
    const top = await mkdtemp(join(folder, 'two-'));
    await chmod(top, 0o755);
    const [holder, other] = [join(top, 'holder'), join(top, 'other')];
    const [runDirectory, file, further] = [join(holder, 'run'), join(holder, 'file'), join(other, 'further')];
    for (const path of [runDirectory, other]) await mkdir(path, { recursive: true });
    for (const path of [file, further]) await writeFile(path, 'wanted');
    for (const path of [holder, other]) await chmod(path, 0o700);
    for (const path of [file, further])
      assert.equal(await read(path, { ...kind, runDirectory, reads: [file, further] }), 'wanted', path);
  });
}

test('a link in a folder that the program writes does not bring its target along', async () => {
  const [own, secret] = [await mkdtemp(join(folder, 'own-')), join(folder, 'secret-file')];
  await writeFile(secret, 'of the host');
  await symlink(secret, join(own, 'disk'));
  for (const kind of ['reads', 'writes'] as const) {
    const files = { reads: [], writes: [own], [kind]: [own, join(own, 'disk')] };
    const wish = { program, runAs: undefined, runDirectory: folder, ...files, writes: [own, ...files.writes] };
    await assert.rejects(
      confine(wish),
      (error: Error) => isFault(error, 'path_forbidden') && error.message.includes(join(own, 'disk')),
    );
    const { root } = await confine({ ...wish, reads: [secret] });
    assert.deepEqual([root.reads.includes(secret), root.writes], [true, [own]], 'a target that it is given');
  }
});

test('a program brings what was installed beside it, also where a link leads to it', async () => {
  const top = await mkdtemp(join(folder, 'program-'));
  for (const path of ['bin', 'share']) await mkdir(join(top, path));
  await writeFile(join(top, 'bin', 'emulator'), '');
  await symlink(join(top, 'bin', 'emulator'), join(top, 'link'));
  const { root } = await confine({ program: join(top, 'link'), runAs: undefined, reads: [], writes: [], runDirectory: folder });
  assert.ok(root.reads.includes(join(top, 'share')), root.reads.join(' '));
});

test('without bubblewrap a program whose files can be reached is started as it is', { skip: needsRoot }, async () => {
  await mkdir(join(folder, 'open'));
  const confinement = await confine({
    program,
    runAs,
    reads: [join(folder, 'open')],
    writes: [],
    runDirectory: folder,
    isOpen: true,
  });
  assert.deepEqual(confinement.root.coversHost, []);
  assert.equal(confinedCommand(confinement, program, [], { workingFolder: '/' }).program, 'setpriv');
});
