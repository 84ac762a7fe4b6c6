/** An image as one tar file: the OCI image layout, with the list by which Docker before version 25 loads it too. */
import { execFile } from 'node:child_process';
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';

const run = promisify(execFile);
// Source: https://github.com/opencontainers/image-spec/blob/v1.1.0/media-types.md
const media = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
};

export interface Image {
  /** Is written. */
  readonly file: string;
  /** Uncompressed tar files, the lowest first. */
  readonly layers: readonly { readonly tar: string; readonly comment: string }[];
  /** Name of the image with its tag, as `imageNames` takes it. */
  readonly name: string;
  readonly architecture: string;
  /** `config` of the image configuration. */
  readonly config: object;
  /** Time of creation, since 1970. */
  readonly seconds: number;
}

interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** Equal layers, settings and seconds give equal bytes. Returns the digest of the manifest, `sha256:…`. */
export async function writeImage({ file, layers, name, architecture, config, seconds }: Image): Promise<string> {
  const { whole, tag } = imageNames(name);
  await mkdir(path.dirname(file), { recursive: true });
  const stage = await mkdtemp(`${file}-`);
  try {
    const blobs = path.join(stage, 'blobs/sha256');
    await mkdir(blobs, { recursive: true });
    const stored: { blob: Blob; diffId: string }[] = [];
    for (const { tar } of layers) stored.push(await addLayer(blobs, tar));
    const created = `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
    const configuration = {
      created,
      architecture,
      os: 'linux',
      config,
      rootfs: { type: 'layers', diff_ids: stored.map(({ diffId }) => diffId) },
      history: layers.map(({ comment }) => ({ created, created_by: comment })),
    };
    const described = await addJson(blobs, media.config, configuration);
    const manifest = { schemaVersion: 2, mediaType: media.manifest, config: described, layers: stored.map(({ blob }) => blob) };
    const { digest, size } = await addJson(blobs, media.manifest, manifest);
    const annotations = {
      'io.containerd.image.name': whole,
      'org.opencontainers.image.ref.name': tag,
    };
    const entry = { mediaType: media.manifest, digest, size, platform: { architecture, os: 'linux' }, annotations };
    const inTar = (blob: Blob) => `blobs/sha256/${blob.digest.slice('sha256:'.length)}`;
    await writeJson(stage, 'oci-layout', { imageLayoutVersion: '1.0.0' });
    await writeJson(stage, 'index.json', { schemaVersion: 2, mediaType: media.index, manifests: [entry] });
    const ofDocker = { Config: inTar(described), RepoTags: [name], Layers: manifest.layers.map(inTar) };
    await writeJson(stage, 'manifest.json', [ofDocker]);
    await pack(stage, file, seconds);
    return digest;
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/**
 * `whole`: as containerd and Kubernetes call it. Source: https://github.com/distribution/reference
 * @throws when it is no name with a tag
 */
export function imageNames(name: string): { whole: string; tag: string } {
  const [, path, tag] = /^([a-z0-9][a-z0-9._-]*(?::\d+)?(?:\/[a-z0-9][a-z0-9._-]*)*):([\w][\w.-]{0,127})$/.exec(name) ?? [];
  if (path === undefined || tag === undefined) throw new Error(`${name} is not the name of an image with a tag: write NAME:TAG`);
  const [first = '', ...rest] = path.split('/');
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  return { whole: hasRegistry ? name : `docker.io/${rest.length > 0 ? '' : 'library/'}${name}`, tag };
}

async function addLayer(blobs: string, tar: string): Promise<{ blob: Blob; diffId: string }> {
  const [whole, compressed] = [createHash('sha256'), createHash('sha256')];
  const target = path.join(blobs, 'incoming');
  // A header of gzip has no time here, so that equal input gives equal bytes.
  await pipeline(createReadStream(tar), counting(whole), createGzip({ level: 6 }), counting(compressed), createWriteStream(target));
  const hex = compressed.digest('hex');
  await rename(target, path.join(blobs, hex));
  const { size } = await stat(path.join(blobs, hex));
  return { blob: { mediaType: media.layer, digest: `sha256:${hex}`, size }, diffId: `sha256:${whole.digest('hex')}` };
}

function counting(hash: Hash): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, next) {
      hash.update(chunk);
      next(null, chunk);
    },
  });
}

async function addJson(blobs: string, mediaType: string, content: object): Promise<Blob> {
  const text = JSON.stringify(content);
  const hex = createHash('sha256').update(text).digest('hex');
  await writeFile(path.join(blobs, hex), text);
  return { mediaType, digest: `sha256:${hex}`, size: Buffer.byteLength(text) };
}

const writeJson = (stage: string, name: string, content: object) => writeFile(path.join(stage, name), JSON.stringify(content));

async function pack(stage: string, file: string, seconds: number): Promise<void> {
  const same = [
    '--sort=name',
    `--mtime=@${seconds}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u=rwX,go=rX',
    '--format=ustar',
  ];
  const staged = `${stage}/.tar`;
  await run('tar', [...same, '-C', stage, '-cf', staged, 'blobs', 'index.json', 'manifest.json', 'oci-layout']);
  await rename(staged, file);
}
