/**
 * The container image: its format; with PATCHBAY_TEST_IMAGE=1 (minutes, packages of Debian) it is built twice, loaded into a Docker engine, and
 * serves a lab with the restrictions under which Kubernetes runs it. PATCHBAY_TEST_IMAGE=FILE takes an image that was built.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { imageNames, writeImage } from '../../packaging/oci/archive.ts';
import { containerConfig } from '../../packaging/oci/build.ts';
import { DockerEngine, noEngine } from '../support/docker-engine.ts';
import { missingPrograms } from '../support/missing-programs.ts';
import { waitFor } from '../support/wait-for.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'patchbay-image-test-'));
});
after(() => rm(folder, { recursive: true, force: true }));

interface Blob {
  readonly digest: string;
  readonly size: number;
}

describe('the image file', () => {
  const layerText = 'a layer '.repeat(100);
  const layerDigest = createHash('sha256').update(layerText).digest('hex');
  const write = (name: string) =>
    writeImage({
      file: join(folder, name),
      layers: [{ tar: join(folder, 'layer.tar'), comment: 'of a test' }],
      name: 'patchbay:test',
      architecture: 'amd64',
      config: containerConfig,
      seconds: 1_700_000_000,
    });

  it('is an OCI layout whose blobs have their digests, and lists them for older engines', async () => {
    await writeFile(join(folder, 'layer.tar'), layerText);
    const digest = await write('one.tar');
    const read = async (name: string) => (await run('tar', ['-xOf', join(folder, 'one.tar'), name], { encoding: 'buffer' })).stdout;
    const readJson = async (name: string) => JSON.parse((await read(name)).toString());
    const readBlob = async (blob: Blob) => {
      const content = await read(`blobs/sha256/${blob.digest.slice(7)}`);
      assert.equal(`sha256:${createHash('sha256').update(content).digest('hex')}`, blob.digest);
      assert.equal(content.length, blob.size);
      return content;
    };
    assert.deepEqual(await readJson('oci-layout'), { imageLayoutVersion: '1.0.0' });
    const [entry] = (await readJson('index.json')).manifests;
    assert.equal(entry.digest, digest);
    const manifest = JSON.parse((await readBlob(entry)).toString());
    const config = JSON.parse((await readBlob(manifest.config)).toString());
    assert.equal(gunzipSync(await readBlob(manifest.layers[0])).toString(), layerText);
    assert.deepEqual(config.rootfs.diff_ids, [`sha256:${layerDigest}`]);
    assert.equal(config.created, '2023-11-14T22:13:20Z');
    const inTar = (blob: Blob) => `blobs/sha256/${blob.digest.slice(7)}`;
    const [ofDocker] = await readJson('manifest.json');
    assert.deepEqual(ofDocker, {
      Config: inTar(manifest.config),
      RepoTags: ['patchbay:test'],
      Layers: [inTar(manifest.layers[0])],
    });
  });

  it('has the same bytes when it is made again', async () => {
    await writeFile(join(folder, 'layer.tar'), layerText);
    await Promise.all([write('one.tar'), write('two.tar')]);
    assert.ok((await readFile(join(folder, 'one.tar'))).equals(await readFile(join(folder, 'two.tar'))));
  });

  it('has the name of a registry, or that of the default one', () => {
    const wholes = {
      'patchbay:1': 'docker.io/library/patchbay:1',
      'me/patchbay:1': 'docker.io/me/patchbay:1',
      'registry.example:5000/labs/patchbay:1.2': 'registry.example:5000/labs/patchbay:1.2',
      'localhost/patchbay:1': 'localhost/patchbay:1',
    };
    for (const [name, whole] of Object.entries(wholes)) assert.equal(imageNames(name).whole, whole);
    assert.equal(imageNames('registry.example:5000/labs/patchbay:1.2').tag, '1.2');
    for (const name of ['patchbay', 'registry.example:5000/patchbay', 'Patchbay:1', ':1', 'a/../b:1', 'patchbay:a b'])
      assert.throws(() => imageNames(name), /with a tag/, name);
  });

  it('runs as the user that the objects for Kubernetes name', async () => {
    const objects = await readFile(join(root, 'packaging/kubernetes/base/controller.yaml'), 'utf8');
    const [, user, group] = /runAsUser: (\d+)\s+runAsGroup: (\d+)/.exec(objects) ?? assert.fail('no user in controller.yaml');
    assert.equal(containerConfig.User, `${user}:${group}`);
  });
});

const wish = process.env.PATCHBAY_TEST_IMAGE ?? '';
const isBuilt = wish.includes('/');
const skip =
  wish === ''
    ? 'PATCHBAY_TEST_IMAGE=1 builds the image'
    : ((await noEngine()) ?? (await missingPrograms(['mmdebstrap', 'mmdebstrap'])));

describe('the image of this checkout', { skip, timeout: 900_000 }, () => {
  it('is equal when it is built twice', { skip: isBuilt && 'PATCHBAY_TEST_IMAGE names an image' }, async () => {
    const env = { ...process.env, SOURCE_DATE_EPOCH: '1700000000' };
    const files = [join(folder, 'first.tar'), join(folder, 'second.tar')];
    for (const file of files) await run(process.execPath, ['packaging/oci/build.ts', '--out', file], { cwd: root, env });
    await run('cmp', files);
  });

  it('serves a lab without network, capabilities, a writable root and new privileges', async () => {
    await using parts = new AsyncDisposableStack();
    const engine = await DockerEngine.start();
    parts.defer(() => engine.stop());
    const docker = async (...args: string[]) => (await run('docker', ['-H', `unix://${engine.socket}`, ...args])).stdout.trim();
    // The engine's name for it is that of the file.
    assert.match(await docker('load', '-i', isBuilt ? wish : join(folder, 'first.tar')), /Loaded image: patchbay:latest/);
    const restrictions = ['--network=none', '--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges', '--tmpfs=/tmp'];
    const id = await docker('run', '--detach', ...restrictions, 'patchbay:latest');
    const inside = (...args: string[]) => docker('exec', id, '/usr/lib/patchbay/node_modules/.bin/node', ...args);
    await waitFor(() => docker('logs', id).then((text) => text.includes('listening')), {
      what: 'the server in the image',
      limitMs: 60_000,
    });
    assert.equal(await docker('exec', id, 'id', '-u'), '1000');
    const lab = await readFile(join(import.meta.dirname, 'container-image-lab.mjs'), 'utf8');
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    const found = JSON.parse(await inside('--input-type=module', '--eval', lab));
    assert.deepEqual(found, { server: `Patchbay/${version}`, page: 200, ping: true });
    await docker('rm', '--force', '--volumes', id);
  });
});
