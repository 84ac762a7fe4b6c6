/** The TypeScript client: built from the document of a real server, compiled as its users compile it, and run against that server. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type RunningServer, startServer } from '../../../test/support/server.ts';

const run = promisify(execFile);
const here = resolve(import.meta.dirname, '..');
const compiler = resolve(here, '../../node_modules/typescript/bin/tsc');
const login = { user: 'ada', password: 's3crét' };
const folder = await mkdtemp(join(tmpdir(), 'pb-client-'));
after(() => rm(folder, { recursive: true }));
let server: RunningServer;

/** Runs Node; the output also of a program that fails. */
async function node(...args: readonly string[]): Promise<{ code: number; output: string }> {
  const env = { ...process.env, PATCHBAY_URL: server.url, PATCHBAY_USER: login.user, PATCHBAY_PASSWORD: login.password };
  return run(process.execPath, args, { cwd: here, env }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({ code: error.code, output: error.stdout + error.stderr }),
  );
}

describe('the TypeScript client', () => {
  before(async () => {
    server = await startServer({ config: { Server: { auth: true, ...login } } });
    const headers = { authorization: `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}` };
    const document = await fetch(`${server.url}/openapi.json`, { headers });
    await writeFile(join(folder, 'openapi.json'), await document.text());
  });
  after(() => server?.stop());

  it('is generated from the document of the server, and compiles', async () => {
    assert.deepEqual(await node('build.mjs', join(folder, 'openapi.json')), { code: 0, output: '' });
    assert.deepEqual(await node(compiler, '-p', 'test', '--checkers', '1'), { code: 0, output: '' });
  });

  it('runs the example', async () => {
    const packages = join(folder, 'node_modules');
    await mkdir(packages);
    await symlink(here, join(packages, 'patchbay-client'));
    await cp(resolve(here, '../../examples'), folder, { recursive: true });
    const { code, output } = await node(join(folder, 'round-trip.ts'));
    assert.equal(code, 0, output);
    assert.match(output, /^0 ms each way: time=[\d.]+ ms\n50 ms each way: time=1\d\d\.\d+ ms\nround-trip\.pcap: \d+ bytes\n$/);
  });

  it('refuses calls that the API does not have', async () => {
    const wrong = join(folder, 'wrong.mts');
    const lines = [
      `import { Patchbay } from '${join(here, 'dist/index.js')}';`,
      `const { api } = await Patchbay.connect({ url: '' });`,
      `await api.call('GET /v2/nothing');`,
      `await api.call('GET /v2/projects/{project_id}');`,
      `await api.call('POST /v2/projects', { body: { nme: 'x' } });`,
      `const text: string = (await api.call('GET /v2/projects')).length;`,
    ];
    await writeFile(wrong, lines.join('\n'));
    const { output } = await node(
      compiler,
      '--noEmit',
      '--strict',
      '--ignoreConfig',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--checkers',
      '1',
      wrong,
    );
    const found = Array.from(output.matchAll(/wrong\.mts\((\d+),/g), ([, line]) => Number(line));
    assert.deepEqual([...new Set(found)], [3, 4, 5, 6], output);
  });

  it('applies labs, drives consoles, impairs and captures links', async () => {
    assert.deepEqual(await node('test/walk.ts'), { code: 0, output: 'walked\n' });
  });
});
