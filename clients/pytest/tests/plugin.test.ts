/** The pytest plugin: its own tests against a real server with a login, its wheel, and a server of its own. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type RunningServer, serverProgram, startServer } from '../../../test/support/server.ts';

const here = resolve(import.meta.dirname, '..');
const program = `${process.execPath} ${serverProgram}`;
const folder = await mkdtemp(join(tmpdir(), 'pb-pytest-'));
after(() => rm(folder, { recursive: true }));

interface Ran {
  readonly code: number;
  readonly output: string;
}

function run(command: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  return new Promise((done) => {
    const inherited = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: '', TMPDIR: folder };
    execFile(command, args, { env: { ...inherited, ...env }, cwd: folder }, (error, stdout, stderr) => {
      done({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr });
    });
  });
}

/** The first Python that has the modules; Debian's, where another one comes first in PATH. */
async function findPython(modules: string): Promise<string | undefined> {
  for (const python of ['python3', '/usr/bin/python3']) {
    const { code } = await run(python, ['-c', `import sys, ${modules}; sys.exit(sys.version_info < (3, 11))`]);
    if (code === 0) return python;
  }
  return undefined;
}

const python = await findPython('pytest');
const builder = await findPython('setuptools, wheel');
/**
 * Builds the wheel by the backend that pyproject.toml names and unpacks it, which is what pip does, in one process and without a
 * network.
 */
const install = `
import os, sys, zipfile
from setuptools import build_meta
_, source, site = sys.argv
os.chdir(source)
zipfile.ZipFile(build_meta.build_wheel(source)).extractall(site)`;
const arguments_ = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--rootdir', folder];

describe('the pytest plugin', () => {
  let server: RunningServer;
  before(async () => {
    server = await startServer({ config: { Server: { auth: true, user: 'ada', password: 's3cret' } } });
  });
  after(() => server?.stop());

  it('gives labs, consoles, impairments and verdicts', {
    skip: !python && 'Python 3.11 with pytest is not installed',
  }, async () => {
    const env = { PATCHBAY_URL: server.url, PATCHBAY_USER: 'ada', PATCHBAY_PASSWORD: 's3cret', PYTHONPATH: here };
    const options = ['-p', 'pytest_patchbay.plugin', '--patchbay-command', program, join(here, 'tests')];
    const { code, output } = await run(python ?? '', [...arguments_, ...options], env);
    assert.equal(code, 0, output);
    assert.match(output, /8 passed/);
  });

  it('runs the example', { skip: !python && 'Python 3.11 with pytest is not installed' }, async () => {
    await cp(resolve(here, '../../examples'), join(folder, 'examples'), { recursive: true });
    const env = { PATCHBAY_URL: server.url, PATCHBAY_USER: 'ada', PATCHBAY_PASSWORD: 's3cret', PYTHONPATH: here };
    const options = ['-p', 'pytest_patchbay.plugin', '--patchbay-command', program, join(folder, 'examples')];
    const ask = () => run(python ?? '', [...arguments_, ...options], env);
    let { code, output } = await ask();
    // A busy machine makes a verdict void, and its report says to run the test again.
    for (let again = 0; again < 3 && /'verdict': 'void'/.test(output); again += 1) ({ code, output } = await ask());
    assert.equal(code, 0, output);
    assert.match(output, /2 passed/);
  });

  const skip = !(python && builder) && 'Python 3.11 with pytest, setuptools and wheel is not installed';
  it('is found by pytest when its wheel is installed, and starts a server where none is named', { skip }, async () => {
    // The build writes beside the sources.
    const source = join(folder, 'source');
    await cp(here, source, { recursive: true });
    const site = join(folder, 'site');
    const installed = await run(builder ?? '', ['-c', install, source, site]);
    assert.equal(installed.code, 0, installed.output);
    await writeFile(join(folder, 'lab.yaml'), 'nodes: {A: {kind: vpcs}, S: {kind: ethernet_switch}}\nlinks: [[A, S]]\n');
    await writeFile(join(folder, 'test_own.py'), 'def test_own(lab):\n    assert lab.node("A").status == "started"\n');
    const env = { PYTHONPATH: site, PATCHBAY_URL: '', PATCHBAY_COMMAND: program };
    const { code, output } = await run(python ?? '', [...arguments_, join(folder, 'test_own.py')], env);
    assert.equal(code, 0, output);
    assert.match(output, /1 passed/);
  });
});
