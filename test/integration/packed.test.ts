/** The packed archive, installed into an empty prefix on the machine's own Node: `patchbay` runs from there. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, it } from 'node:test';
import { promisify } from 'node:util';
import { version } from '../../src/version.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');

it('npm install -g of the packed archive gives a patchbay that plans and runs labs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'packed-'));
  after(() => rm(folder, { recursive: true }));
  // Without the Node of this checkout, as on a machine that has only its own.
  const path = (process.env.PATH ?? '')
    .split(':')
    .filter((one) => !one.includes('node_modules'))
    .join(':');
  const env = Object.fromEntries(
    Object.entries({ ...process.env, PATH: path, HOME: folder }).filter(([key]) => !/^(npm_|NODE_|PATCHBAY_)/i.test(key)),
  );
  const options = {
    env: { ...env, npm_config_cache: process.env.npm_config_cache ?? join(process.env.HOME ?? folder, '.npm') },
    cwd: root,
  };
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], options);
  const archive = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? '';
  const prefix = join(folder, 'prefix');
  const quiet = ['--no-audit', '--no-fund', '--omit=dev', '--prefer-offline', '--loglevel=error'];
  await run('npm', ['install', '-g', '--prefix', prefix, ...quiet, join(folder, archive)], options);
  const patchbay = join(prefix, 'bin/patchbay');
  assert.equal((await run(patchbay, ['--version'], { env })).stdout, `${version}\n`);
  await writeFile(join(folder, 'lab.yaml'), 'nodes:\n  A: {kind: vpcs}\n  S: {kind: ethernet_switch}\nlinks:\n  - [A, S]\n');
  const command = ['sh', '-c', `"${patchbay}" lab plan`];
  const { stdout, stderr } = await run(patchbay, ['lab', 'run', '--', ...command], { env, cwd: folder });
  assert.match(stdout, /Nothing to do: the project is as the file says\.\n$/, stderr);
});
