/**
 * The server of an earlier commit, for tests of upgrades. `e7e504bb.tar.xz` holds the sources of that commit without their tests
 * (`git archive e7e504bb src appliances package.json`); they run with the packages of this checkout.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { missingPrograms } from '../missing-programs.ts';

const root = resolve(import.meta.dirname, '../../..');
const archive = join(import.meta.dirname, 'e7e504bb.tar.xz');

/** The reason why the earlier server cannot be unpacked here; undefined where it can. */
export const noEarlierVersion = (): Promise<string | undefined> => missingPrograms(['tar', 'tar'], ['xz', 'xz-utils']);

/** Unpacks the earlier server once per checkout. @returns the path of its `src/main.ts` */
export async function earlierProgram(): Promise<string> {
  const hash = createHash('sha256')
    .update(await readFile(archive))
    .digest('hex')
    .slice(0, 12);
  const folder = join(root, '.cache', `earlier-version-${hash}`);
  const program = join(folder, 'src/main.ts');
  if (await stat(program).catch(() => undefined)) return program;
  await mkdir(join(root, '.cache'), { recursive: true });
  const staged = await mkdtemp(`${folder}.`);
  await promisify(execFile)('tar', ['-xJf', archive, '-C', staged], { timeout: 60_000 });
  await symlink(join(root, 'node_modules'), join(staged, 'node_modules'));
  // Another test file may have been quicker.
  await rename(staged, folder).catch(() => rm(staged, { recursive: true, force: true }));
  return program;
}
