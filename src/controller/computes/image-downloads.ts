/**
 * Images that the server downloads from a URL to a compute. The bytes pass through the controller into an upload of the compute,
 * whose file gets its name when all have arrived; the last bytes leave here only when the checksums are right. So a download that
 * ends early, for whatever reason, leaves nothing.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { fault } from '../../api/faults.ts';
import { besideImages, wrongWithBaseName } from '../../lib/base-name.ts';
import { type DiskFloor, DiskFloorError } from '../../lib/disk-floor.ts';
import type { ImageDownload } from '../../schema/image-download.ts';
import type { NodeType } from '../../schema/node.ts';
import type { RegisteredCompute } from './compute.ts';
import { type OpenedImage, openImageSource } from './image-source.ts';

export interface DownloadRequester {
  readonly client?: string;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

export interface StartedDownload {
  /** Null: unknown. */
  readonly totalBytes: number | null;
  /**
   * Resolves with the number of bytes when the compute has the image. It must be called.
   * @throws download_failed, image_refused, disk_floor, and why the compute refuses
   */
  finish(onBytes: (done: number) => void): Promise<number>;
}

interface WantedDownload extends ImageDownload {
  readonly compute: RegisteredCompute;
}

/** The disk is looked at again after so many bytes. */
const lookEveryBytes = 2 ** 24;

export class ImageDownloads {
  /** Origins of `image_hosts`. */
  readonly #hosts: () => Promise<readonly string[]>;
  readonly #idleMs: number;
  /** Free space that must stay on this server's disks. */
  readonly #floor: DiskFloor;
  /** Downloads of one client at a time; 0: unlimited. */
  readonly #mostPerClient: number;
  /** Running downloads as `compute, kind and name`. */
  readonly #names = new Set<string>();
  readonly #clients = new Map<string, number>();
  readonly #ending = new AbortController();

  constructor(hosts: () => Promise<readonly string[]>, idleMs: number, floor: DiskFloor, mostPerClient: number) {
    this.#hosts = hosts;
    this.#idleMs = idleMs;
    this.#floor = floor;
    this.#mostPerClient = mostPerClient;
  }

  hosts(): Promise<readonly string[]> {
    return this.#hosts();
  }

  /**
   * Resolves when the other server has begun to send, or when the compute has that image already.
   * @throws invalid_request, image_host_refused, image_refused, download_failed, disk_floor, too_many_at_once
   */
  async begin(wanted: WantedDownload, { client = '', signal }: DownloadRequester): Promise<StartedDownload> {
    const wrong = wrongWithBaseName(wanted.filename);
    if (wrong !== undefined) throw fault('invalid_request', { reason: `filename: ${wrong}` });
    if (besideImages.test(wanted.filename))
      throw fault('invalid_request', { reason: 'filename: a file of this name is not listed as an image' });
    const release = this.#enter(`${wanted.compute.id}/${wanted.node_type}/${wanted.filename}`, wanted.filename, client);
    try {
      const listed = await findImage(wanted);
      if (listed !== undefined) {
        release();
        return { totalBytes: listed, finish: async () => listed };
      }
      const ends = AbortSignal.any([signal, this.#ending.signal]);
      const source = await openImageSource(wanted.url, { hosts: await this.#hosts(), idleMs: this.#idleMs, signal: ends });
      const finish = (onBytes: (done: number) => void) => this.#store(wanted, source, { signal: ends, onBytes }).finally(release);
      await this.#check(wanted, source).catch(async (error: unknown) => {
        await source.close();
        throw error;
      });
      return { totalBytes: source.sizeBytes, finish };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Ends those that are under way. */
  close(): void {
    this.#ending.abort();
  }

  #enter(key: string, filename: string, client: string): () => void {
    const count = this.#clients.get(client) ?? 0;
    if (this.#mostPerClient > 0 && count >= this.#mostPerClient)
      throw fault('too_many_at_once', {
        limit: this.#mostPerClient,
        what: 'downloads of images',
        setting: 'max_uploads_per_client',
      });
    if (this.#names.has(key)) throw fault('image_refused', { image: filename, reason: 'it is being downloaded already' });
    this.#names.add(key);
    this.#clients.set(client, count + 1);
    return () => {
      this.#names.delete(key);
      const left = (this.#clients.get(client) ?? 1) - 1;
      if (left > 0) this.#clients.set(client, left);
      else this.#clients.delete(client);
    };
  }

  /** Checks whatever the announced size allows to check before a byte is read. */
  async #check({ compute, filename, filesize }: WantedDownload, { sizeBytes }: OpenedImage): Promise<void> {
    if (filesize !== undefined && sizeBytes !== null && sizeBytes !== filesize) throw wrongSize(filename, filesize);
    if (compute.isLocal) await this.#requireSpace(sizeBytes ?? 0);
  }

  async #requireSpace(bytes?: number): Promise<void> {
    await this.#floor.check(bytes).catch((error: unknown) => {
      throw error instanceof DiskFloorError ? fault('disk_floor', { reason: error.message }, { cause: error }) : error;
    });
  }

  async #store(
    wanted: WantedDownload,
    source: OpenedImage,
    { signal, onBytes }: { readonly signal: AbortSignal; readonly onBytes: (done: number) => void },
  ): Promise<number> {
    const { compute, node_type, filename } = wanted;
    let done = 0;
    let failure: unknown;
    const requireSpace = () => (compute.isLocal ? this.#requireSpace() : undefined);
    async function* counted(): AsyncGenerator<Buffer> {
      let untilLook = lookEveryBytes;
      try {
        for await (const chunk of checked(source.bytes, wanted)) {
          done += chunk.length;
          onBytes(done);
          untilLook -= chunk.length;
          if (untilLook <= 0) {
            untilLook = lookEveryBytes;
            await requireSpace();
          }
          yield chunk;
        }
      } catch (error) {
        failure = error;
        throw error;
      }
    }
    // A stock compute replaces an image of this name that has come since it was listed.
    const place = compute.hasImageTransfers ? 'new_images' : 'images';
    const bytes = Readable.from(counted(), { objectMode: false });
    bytes.on('error', () => undefined);
    try {
      await compute.transport.raw('POST', `/v2/compute/${node_type}/${place}/${filename}`, bytes, signal);
      return done;
    } catch (error) {
      // The compute only knows that its upload ended.
      throw failure ?? error;
    } finally {
      bytes.destroy();
      await source.close();
    }
  }
}

/** The size of an image of this name, if it is the wanted one. @throws image_refused for another one */
async function findImage({ compute, node_type, filename, md5sum }: WantedDownload): Promise<number | undefined> {
  await compute.transport.connect();
  const path: `/v2/compute/${NodeType}/images` = `/v2/compute/${node_type}/images`;
  const images = await compute.transport.call(`GET ${path}`);
  const listed = images.find((image) => image.filename === filename);
  if (!listed) return undefined;
  if (md5sum !== undefined && listed.md5sum === md5sum.toLowerCase()) return listed.filesize;
  throw fault('image_refused', { image: filename, reason: 'the compute has an image of this name already: choose another name' });
}

/** The last piece comes when the whole is right. @throws image_refused */
async function* checked(source: AsyncIterable<Buffer>, wanted: ImageDownload): AsyncGenerator<Buffer> {
  const { filename, filesize, md5sum, sha256 } = wanted;
  const sums = [
    { title: 'MD5', sum: md5sum, hash: createHash('md5') },
    { title: 'SHA-256', sum: sha256, hash: createHash('sha256') },
  ].filter(({ sum }) => sum !== undefined);
  let held: Buffer | undefined;
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (filesize !== undefined && size > filesize) throw wrongSize(filename, filesize);
    for (const { hash } of sums) hash.update(chunk);
    if (held) yield held;
    held = chunk;
  }
  if (size === 0) throw fault('image_refused', { image: filename, reason: 'it is empty' });
  if (filesize !== undefined && size !== filesize) throw wrongSize(filename, filesize);
  for (const { title, sum, hash } of sums) {
    const reason = `its ${title} checksum is not ${sum?.toLowerCase()}`;
    if (hash.digest('hex') !== sum?.toLowerCase()) throw fault('image_refused', { image: filename, reason });
  }
  if (held) yield held;
}

function wrongSize(image: string, filesize: number) {
  return fault('image_refused', { image, reason: `it does not have ${filesize} bytes` });
}
