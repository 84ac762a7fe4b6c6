/**
 * Images that other computes read from this one. A reader needs no credentials of this server: the secret of a departure, which the controller
 * gives it, opens one image as it was when the departure began, until the controller ends it.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { fault } from '../../api/faults.ts';
import { Stream } from '../../api/route.ts';
import type { Checksums } from '../../emulators/host/checksums.ts';
import type { ImageFolder } from '../../emulators/host/images.ts';
import type { ImageDeparture, ImagePiece } from '../../schema/image-transfer.ts';

interface DepartingImage {
  readonly path: string;
  readonly filename: string;
  readonly filesize: number;
  readonly mtimeMs: number;
  readonly ino: number;
  readonly secret: Buffer;
  usedAt: number;
}

/** A controller that was killed ends none of them. */
const unusedMs = 600_000;
const most = 256;

export class ImageDepartures {
  readonly #checksums: Checksums;
  readonly #departures = new Map<string, DepartingImage>();

  constructor(checksums: Checksums) {
    this.#checksums = checksums;
  }

  /** @throws path_forbidden, image_missing, image_not_allowed */
  async begin(folder: ImageFolder, filename: string): Promise<ImageDeparture> {
    const path = await folder.downloadSource(filename);
    const file = await openImage(path, filename);
    const { size: filesize, mtimeMs, ino } = await file.stat().finally(() => file.close());
    const sha256 = await this.#checksums.sha256(path);
    if (sha256 === null) throw missing(filename);
    this.#sweep();
    const departure_id = crypto.randomUUID();
    const secret = randomBytes(32);
    this.#departures.set(departure_id, { path, filename, filesize, mtimeMs, ino, secret, usedAt: performance.now() });
    return { departure_id, secret: secret.toString('hex'), filesize, sha256 };
  }

  /** A piece; shorter at the end of the image. @throws image_transfer_missing also for a wrong secret, image_missing, invalid_request */
  async read(id: string, { secret, from, bytes }: ImagePiece): Promise<Stream> {
    const departure = this.#departures.get(id.toLowerCase());
    if (!departure || !timingSafeEqual(departure.secret, Buffer.from(secret, 'hex')))
      throw fault('image_transfer_missing', { transfer_id: id });
    const { path, filename, filesize, mtimeMs, ino } = departure;
    if (from >= filesize) throw fault('invalid_request', { reason: `the image has only ${filesize} bytes` });
    departure.usedAt = performance.now();
    const file = await openImage(path, filename);
    try {
      const now = await file.stat();
      if (now.size !== filesize || now.mtimeMs !== mtimeMs || now.ino !== ino) throw missing(filename);
    } catch (error) {
      await file.close();
      throw error;
    }
    const end = Math.min(from + bytes, filesize);
    const source = file.createReadStream({ start: from, end: end - 1, highWaterMark: readBytes });
    return new Stream('application/octet-stream', source, { 'content-length': String(end - from) });
  }

  /** @throws image_transfer_missing */
  end(id: string): void {
    if (!this.#departures.delete(id.toLowerCase())) throw fault('image_transfer_missing', { transfer_id: id });
  }

  #sweep(): void {
    const now = performance.now();
    for (const [id, { usedAt }] of this.#departures)
      if (now - usedAt > unusedMs || this.#departures.size >= most) this.#departures.delete(id);
  }
}

const readBytes = 2 ** 18;

/** @throws image_missing */
async function openImage(path: string, filename: string): Promise<FileHandle> {
  return open(path, 'r').catch((cause: Error) => {
    throw missing(filename, cause);
  });
}

function missing(image: string, cause?: Error) {
  return fault('image_missing', { image }, { extra: { image }, ...(cause && { cause }) });
}
