/** The packed archive, installed into an empty prefix on the machine's own Node: `patchbay` runs from there. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { after, it } from 'node:test';
import { promisify } from 'node:util';
import { version } from '../../src/version.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const modules = join(root, 'node_modules');

/** The packages that npm installs with Patchbay, out of this checkout: nothing is downloaded. */
async function linkDependencies(folder: string): Promise<void> {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: true }>;
  };
  const names = Object.entries(packages).flatMap(([path, { dev }]) => {
    const [, name = ''] = path.split('node_modules/', 2);
    return path === `node_modules/${name}` && !dev ? [name] : [];
  });
  for (const name of [...names, '.bin/node']) {
    if (!existsSync(join(modules, name))) continue;
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await symlink(join(modules, name), join(folder, name));
  }
}

it('npm install -g of the packed archive gives a patchbay that plans and runs labs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'packed-'));
  after(() => rm(folder, { recursive: true }));
  // A search path without the Node of this checkout, as on a machine that has only its own.
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((one) => !one.includes('node_modules'))
    .join(delimiter);
  const env = Object.fromEntries(
    Object.entries({ ...process.env, PATH: path, HOME: folder }).filter(([key]) => !/^(npm_|NODE_|PATCHBAY_)/i.test(key)),
  );
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { env, cwd: root });
  const archive = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? '';
  const installed = join(folder, 'unpacked/node_modules/patchbay');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', join(folder, archive), '--strip-components=1', '-C', installed]);
  await linkDependencies(join(installed, 'node_modules'));
  const prefix = join(folder, 'prefix');
  await run('npm', ['install', '-g', '--prefix', prefix, '--offline', '--loglevel=error', installed], { env, cwd: folder });
  const patchbay = join(prefix, 'bin/patchbay');
  assert.equal((await run(patchbay, ['--version'], { env })).stdout, `${version}\n`);
  await writeFile(join(folder, 'lab.yaml'), 'nodes:\n  A: {kind: vpcs}\n  S: {kind: ethernet_switch}\nlinks:\n  - [A, S]\n');
  const command = ['sh', '-c', `"${patchbay}" lab plan`];
  const { stdout, stderr } = await run(patchbay, ['lab', 'run', '--', ...command], { env, cwd: folder });
  assert.match(stdout, /Nothing to do: the project is as the file says\.\n$/, stderr);
});
