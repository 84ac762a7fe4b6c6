/** `lab import` as users run it: the files that a lab names, and those that it must not read. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { stringify } from 'yaml';

const program = resolve(import.meta.dirname, '../../scripts/patchbay.mjs');
const folder = await mkdtemp(join(tmpdir(), 'pb-import-'));
after(() => rm(folder, { recursive: true, force: true }));

test('files beside the lab are copied to the folder of the lab file; none from outside, and none that is there is replaced', async () => {
  const [from, to] = [join(folder, 'from'), join(folder, 'to')];
  await mkdir(join(from, 'config'), { recursive: true });
  await mkdir(to);
  await writeFile(join(folder, 'secret.cfg'), 'secret');
  await writeFile(join(from, 'config/own.cfg'), 'own');
  await writeFile(join(from, 'other.cfg'), 'other');
  await writeFile(join(to, 'other.cfg'), 'kept');
  await symlink('../../secret.cfg', join(from, 'config/link.cfg'));
  const binds = ['config/own.cfg', 'other.cfg', 'config/link.cfg', 'config/../../secret.cfg', 'absent.cfg'];
  const node = { kind: 'linux', image: 'alpine', binds: binds.map((path, index) => `${path}:/etc/lab/${index}.cfg`) };
  await writeFile(join(from, 'a.clab.yml'), stringify({ name: 'a', topology: { nodes: { a: node } } }));
  const args = [program, 'lab', 'import', join(from, 'a.clab.yml'), '-o', join(to, 'lab.yaml'), '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  const { report } = JSON.parse(stdout) as { report: { node: string; missing: string[] }[] };
  assert.deepEqual(report.find(({ node: name }) => name === 'a')?.missing, ['bind config/../../secret.cfg:/etc/lab/3.cfg']);
  assert.deepEqual(report.find(({ node: name }) => name === '(files)')?.missing, [
    `other.cfg: another file has this name in ${to}`,
    'config/link.cfg: it is outside of the folder of the imported file',
    'absent.cfg: there is no such file, put it there',
  ]);
  assert.deepEqual(await readdir(join(to, 'config')), ['own.cfg']);
  assert.equal(await readFile(join(to, 'config/own.cfg'), 'utf8'), 'own');
  assert.equal(await readFile(join(to, 'other.cfg'), 'utf8'), 'kept');
  assert.deepEqual((await readdir(folder)).sort(), ['from', 'secret.cfg', 'to']);
});
