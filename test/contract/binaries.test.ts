/** The list of emulator binaries. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { expectFault } from '../support/raw-http.ts';
import { withServer } from '../support/with-server.ts';
import { platforms } from './qemu-words.ts';
import { assertShape, binaryShape } from './shapes.ts';

interface Binary {
  path: string;
  version: string;
}

const folder = await realpath(await mkdtemp(join(tmpdir(), 'pb-bin-')));
after(() => rm(folder, { recursive: true, force: true }));

/** An emulator that only prints its version, and logs each call. */
async function fake(name: string, version: string): Promise<void> {
  const text = `#!/bin/sh\necho calls >> ${folder}/calls-${name}\necho "QEMU emulator version ${version} (Debian 1:${version})"\n`;
  await writeFile(join(folder, name), text);
  await chmod(join(folder, name), 0o755);
}
async function callCount(name: string): Promise<number> {
  return (await readFile(join(folder, `calls-${name}`), 'utf8').catch(() => '')).split('\n').length - 1;
}

await fake('qemu-system-sh4', '7.9.1');
await fake('qemu-system-mips64el', '8.0.3');
await symlink(join(folder, 'qemu-system-sh4'), join(folder, 'qemu-system-arm'));
await writeFile(join(folder, 'qemu-system-alpha'), 'not executable');
await fake('qemu-system-x86_64.old~', '1.0');

const bench = await withServer({ env: { PATH: `${folder}:${process.env.PATH}:${folder}/` } });
const ask = (body?: unknown) => bench.client.send('GET /v2/compute/qemu/binaries', body === undefined ? {} : { body });
const list = async (body?: unknown) => (await ask(body)).json<Binary[]>();

describe('GET /v2/compute/qemu/binaries', () => {
  test('every entry has path and version, both text', async () => {
    const binaries = await list();
    assert.ok(binaries.length >= 2);
    for (const binary of binaries) {
      assertShape(binary, binaryShape, 'binary');
      assert.deepEqual(Object.keys(binary), ['path', 'version']);
      assert.match(binary.path, /^\//);
      assert.match(binary.version, /^\d+\.\d+/);
    }
  });

  test('a file is listed once, whatever ways in PATH lead to it', async () => {
    const files = await Promise.all((await list()).map(({ path }) => realpath(path)));
    assert.equal(new Set(files).size, files.length);
  });

  test('what cannot be executed is not listed', async () => {
    assert.ok(!(await list()).some(({ path }) => path.endsWith('-alpha')));
  });

  test('the version is read once for each file, and again after the file changed', async () => {
    await list();
    const calls = await callCount('qemu-system-mips64el');
    assert.equal(calls, 1);
    await Promise.all([list(), list(), list()]);
    assert.equal(await callCount('qemu-system-mips64el'), 1);
    await fake('qemu-system-mips64el', '8.10.20');
    const found = (await list()).find(({ path }) => path.endsWith('mips64el'));
    assert.equal(found?.version, '8.10.20');
    assert.equal(await callCount('qemu-system-mips64el'), 2);
  });

  test('archs filters', async () => {
    const named = async (archs: string[]) => (await list({ archs })).map(({ path }) => path.replace(/^.*\//, ''));
    assert.deepEqual(await named(['mips64el']), ['qemu-system-mips64el']);
    assert.deepEqual(await named(['mips']), []);
    assert.deepEqual(await named([]), []);
    assert.deepEqual((await named(['x86_64', 'mips64el'])).sort(), ['qemu-system-mips64el', 'qemu-system-x86_64']);
  });

  for (const arch of platforms) {
    test(`${arch} is a known name`, async () => {
      for (const { path } of await list({ archs: [arch] })) assert.ok(path.endsWith(arch), path);
    });
  }

  const refused: unknown[] = [
    { archs: ['vax'] },
    { archs: ['x86_64', 'vax'] },
    { archs: [''] },
    { archs: [5] },
    { archs: 'x86_64' },
    { archs: null },
    { archs: {} },
    { arch: [] },
    [],
    'x86_64',
    5,
  ];
  for (const body of refused) {
    test(`${JSON.stringify(body)}: 400`, async () => {
      expectFault(await ask(body), 400);
    });
  }

  test('as query parameter archs is text: 400', async () => {
    expectFault(await bench.client.send('GET /v2/compute/qemu/binaries?archs=x86_64'), 400, /archs/);
  });
});

test('through the controller the list is the same', async () => {
  assert.deepEqual(await bench.client.get('/v2/computes/local/qemu/binaries'), await list());
});
