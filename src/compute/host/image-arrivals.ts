/**
 * Images that arrive from other computes or from the controller, piece by piece. What has arrived stays in a hidden file beside the
 * images when a transfer breaks off, also over a restart, and the next attempt for the same content continues it. It becomes an
 * image only when its SHA-256 is the expected one.
 */
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fault, isFault } from '../../api/faults.ts';
import type { Checksums } from '../../emulators/host/checksums.ts';
import type { ImageFolder } from '../../emulators/host/images.ts';
import { KeyedMutex } from '../../lib/mutex.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import type { ImageArrival, ImageArrivalStart, ImageFetch } from '../../schema/image-transfer.ts';

type Expected = Pick<ImageArrivalStart, 'filename' | 'filesize' | 'sha256'>;

interface ArrivingImage extends Expected {
  readonly id: string;
  readonly folder: ImageFolder;
  /** Path of the partial file. */
  readonly partial: string;
  /** Cuts the piece that is being received. */
  abort: AbortController;
}

const partialEnd = '.arriving';
/** Partial files that were not written to for so long are removed. */
const abandonedMs = 7 * 86_400_000;

/** Transfers at a time. The one that was used longest ago is forgotten for another; its bytes stay, and `begin` continues it. */
export const mostArrivals = 256;

export class ImageArrivals {
  readonly #checksums: Checksums;
  /** The one that was used last is last. */
  readonly #arrivals = new Map<string, ArrivingImage>();
  /** Locks by partial file: a transfer that was forgotten may still write to it. */
  readonly #locks = new KeyedMutex();

  constructor(checksums: Checksums) {
    this.#checksums = checksums;
  }

  /** Continues what began earlier; a piece that is still under way is cut. @throws path_forbidden, storage_failed */
  async begin(folder: ImageFolder, { filename, filesize, sha256 }: Expected): Promise<ImageArrival> {
    await folder.uploadTarget(filename);
    const partial = join(folder.directory, `.${sha256}${partialEnd}`);
    const known = [...this.#arrivals.values()].find((one) => one.partial === partial);
    const isSame = known?.filename === filename && known.filesize === filesize;
    const arrival: ArrivingImage = {
      ...{ id: isSame ? known.id : crypto.randomUUID(), folder, filename, filesize, sha256, partial },
      abort: new AbortController(),
    };
    known?.abort.abort(new Error('the transfer began again'));
    if (known) this.#arrivals.delete(known.id);
    this.#arrivals.set(arrival.id, arrival);
    for (const id of this.#arrivals.keys()) {
      if (this.#arrivals.size <= mostArrivals) break;
      this.#arrivals.delete(id);
    }
    return this.#locks.run(partial, async () => {
      await removeAbandoned(folder.directory);
      await removeUnusable(partial, filesize);
      return shown(arrival, null);
    });
  }

  /** Takes bytes from this place on. Those of a body that breaks off are kept. @throws image_transfer_missing, invalid_request, storage_failed */
  async append(id: string, from: number, source: Readable): Promise<void> {
    source.on('error', () => undefined);
    const { problem } = await this.#receive(id, async (arrival, received) => {
      if (from !== received) throw fault('invalid_request', { reason: `the next byte is ${received}` });
      return write(arrival, received, source);
    });
    if (problem !== null) throw fault('invalid_request', { reason: problem });
  }

  /** Reads the next bytes from another compute. @throws image_transfer_missing, storage_failed */
  fetch(id: string, { bytes, ...source }: ImageFetch): Promise<ImageArrival> {
    return this.#receive(id, async (arrival, received) => {
      const wanted = { from: received, bytes: Math.min(bytes, arrival.filesize - received) };
      if (wanted.bytes === 0) return null;
      return write(arrival, received, Readable.from(fetchPiece(source, wanted, arrival.abort.signal), { objectMode: false }));
    });
  }

  /**
   * Moves the complete image to its place. Returns false, and removes it, when its content is not the expected one. @throws
   * image_transfer_missing, invalid_request, image_refused
   */
  async finish(id: string): Promise<boolean> {
    const arrival = this.#get(id);
    return this.#locks.run(arrival.partial, async () => {
      const { partial, filesize, sha256 } = arrival;
      const received = await sizeOf(partial);
      if (received < filesize) throw fault('invalid_request', { reason: `only ${received} of ${filesize} bytes have arrived` });
      if (filesize === 0) await (await openPartial(arrival)).close();
      const sum = await this.#checksums.sha256(partial);
      // The server ends, or the disk fails: the received bytes may be right, and are kept.
      if (sum === null) throw fault('storage_failed', { reason: `${partial} could not be summed` });
      const isRight = received === filesize && sum === sha256;
      if (isRight) await place(arrival);
      else await rm(partial, { force: true });
      this.#arrivals.delete(arrival.id);
      return isRight;
    });
  }

  #get(id: string): ArrivingImage {
    const arrival = this.#arrivals.get(id.toLowerCase());
    if (!arrival) throw fault('image_transfer_missing', { transfer_id: id });
    this.#arrivals.delete(arrival.id);
    this.#arrivals.set(arrival.id, arrival);
    return arrival;
  }

  /** `take` answers why no more came. */
  #receive(id: string, take: (arrival: ArrivingImage, received: number) => Promise<string | null>): Promise<ImageArrival> {
    const arrival = this.#get(id);
    return this.#locks.run(arrival.partial, async () => {
      // The transfer may have ended, or begun again, meanwhile.
      if (this.#get(id) !== arrival) throw fault('image_transfer_missing', { transfer_id: id });
      return shown(arrival, await take(arrival, await sizeOf(arrival.partial)));
    });
  }
}

/** @throws path_forbidden, image_refused: then it is removed; storage_failed */
async function place({ folder, filename, partial }: ArrivingImage): Promise<void> {
  await sync(partial);
  await folder.adopt(filename, partial).catch(async (error: unknown) => {
    if (isFault(error, 'image_refused')) await rm(partial, { force: true });
    throw error;
  });
}

async function shown({ id, partial }: ArrivingImage, problem: string | null): Promise<ImageArrival> {
  return { arrival_id: id, received: await sizeOf(partial), problem };
}

/** Writes received bytes, never more than the image has. @throws storage_failed */
async function write(arrival: ArrivingImage, received: number, source: Readable): Promise<string | null> {
  const { filesize, abort } = arrival;
  const file = await openPartial(arrival);
  let problem: string | null = null;
  let left = filesize - received;
  async function* bounded() {
    try {
      for await (const chunk of source as AsyncIterable<Buffer>) {
        left -= chunk.length;
        if (left < 0) throw new Error('there were more bytes than the image has');
        yield chunk;
      }
    } catch (error) {
      problem = (error as Error).message;
    }
  }
  // A cable that was pulled ends no stream.
  const cut = () => source.destroy(new Error('the transfer began again'));
  abort.signal.addEventListener('abort', cut);
  if (abort.signal.aborted) cut();
  await pipeline(bounded, file.createWriteStream())
    .catch(failed)
    .finally(() => abort.signal.removeEventListener('abort', cut));
  return problem;
}

function failed(cause: Error): never {
  throw fault('storage_failed', { reason: cause.message }, { cause });
}

async function sizeOf(path: string): Promise<number> {
  return (await lstat(path).catch(() => undefined))?.size ?? 0;
}

/** Removes a partial file that is longer than the image, or is no regular file. @throws storage_failed */
async function removeUnusable(path: string, filesize: number): Promise<void> {
  const facts = await lstat(path).catch(() => undefined);
  if (facts && (!facts.isFile() || facts.size > filesize)) await removeTree(path).catch(failed);
}

/** @throws storage_failed */
async function openPartial({ folder, partial }: ArrivingImage): Promise<FileHandle> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  await mkdir(folder.directory, { recursive: true }).catch(failed);
  return open(partial, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o644).catch(failed);
}

/** @throws storage_failed */
async function sync(path: string): Promise<void> {
  const file = await open(path, 'r+').catch(failed);
  await file
    .sync()
    .catch(failed)
    .finally(() => file.close());
}

/** Removes abandoned partial files. Never rejects. */
export async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith('.') || !name.endsWith(partialEnd)) continue;
    const path = join(folder, name);
    const facts = await lstat(path).catch(() => undefined);
    if (facts && Date.now() - facts.mtimeMs > abandonedMs) await removeTree(path).catch(() => undefined);
  }
}

type ImageSource = Omit<ImageFetch, 'bytes'>;

/** Time limit of a piece, connecting included. */
const pieceLimitMs = 100_000;

/**
 * Reads a piece of an image from another compute, at most the wanted bytes. Redirects are refused.
 * @throws why no more came, without any text of the other side: the caller learns neither whether a server listens there nor what
 * it answered
 */
async function* fetchPiece(
  { protocol, host, port, departure_id, secret }: ImageSource,
  wanted: { readonly from: number; readonly bytes: number },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const origin = `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const answer = await fetch(`${origin}/v2/compute/image_departures/${departure_id}/bytes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'patchbay-compute' },
    body: JSON.stringify({ secret, ...wanted }),
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(pieceLimitMs)]),
  }).catch((cause: Error) => {
    throw new Error(`${host} port ${port} did not give it`, { cause });
  });
  if (answer.status !== 200) {
    await answer.body?.cancel();
    throw new Error(`${host} port ${port} did not give it`);
  }
  let left = wanted.bytes;
  for await (const chunk of answer.body ?? []) {
    left -= chunk.length;
    if (left < 0) throw new Error(`${host} port ${port} sent more than it was asked for`);
    yield chunk;
  }
}
