/**
 * Authenticates the streams of a moving machine, whose bytes QEMU trusts, from the compute that sends them to the one that takes them.
 *
 * A sealed stream is a sequence of frames: length of the chunk (4 bytes, big-endian), HMAC-SHA256 of the frame's number (8 bytes), that length
 * and the chunk, the chunk. An empty chunk ends the stream. The key is derived from the secret of the move and the name and direction of the
 * stream, and each end uses a stream once: a frame that was changed, left out, moved, repeated, or that belongs to another stream or move,
 * does not reach QEMU, nor does anything behind it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Transform, type TransformCallback } from 'node:stream';

const lengthBytes = 4;
const codeBytes = 32;
const headerBytes = lengthBytes + codeBytes;
const largestChunk = 1024 * 1024;
/** Buffers of the transforms: as those of the sockets, so that each process of the path has data to work on. */
const bufferBytes = 4 * 2 ** 20;

export class BrokenSeal extends Error {
  override readonly name = 'BrokenSeal';
}

/** The side of a move that owns these seals. */
type MoveSide = 'departure' | 'arrival';

/** Seals of one move at one of its computes. Without a secret, which controllers of earlier versions do not give, streams are not sealed. */
export class MoveSeals {
  readonly #secret: string | undefined;
  readonly #side: MoveSide;
  readonly #used = new Set<string>();

  constructor(side: MoveSide, secret?: string) {
    this.#side = side;
    this.#secret = secret;
  }

  /** Transforms of a stream that is sent: none without a secret. @throws BrokenSeal when it was sent already */
  sending(stream: string): Transform[] {
    return this.#use(stream, this.#side === 'departure' ? 'arrival' : 'departure').map((key) => new Sealer(key));
  }

  /** Transforms of a stream that is taken: none without a secret. @throws BrokenSeal when it was taken already */
  taking(stream: string): Transform[] {
    return this.#use(stream, this.#side).map((key) => new Opener(key));
  }

  #use(stream: string, towards: MoveSide): Buffer[] {
    const name = `${stream} to ${towards}`;
    if (this.#used.has(name)) throw new BrokenSeal(`its stream ${stream} is used already`);
    this.#used.add(name);
    return this.#secret === undefined ? [] : [createHmac('sha256', this.#secret).update(`move of a machine: ${name}`).digest()];
  }
}

function codeOf(key: Buffer, number: bigint, chunk: Buffer): Buffer {
  const head = Buffer.alloc(8 + lengthBytes);
  head.writeBigUInt64BE(number);
  head.writeUInt32BE(chunk.length, 8);
  return createHmac('sha256', key).update(head).update(chunk).digest();
}

class Sealer extends Transform {
  readonly #key: Buffer;
  #number = 0n;

  constructor(key: Buffer) {
    super({ highWaterMark: bufferBytes });
    this.#key = key;
  }

  override _transform(bytes: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    for (let from = 0; from < bytes.length; from += largestChunk) this.#seal(bytes.subarray(from, from + largestChunk));
    done();
  }

  override _flush(done: TransformCallback): void {
    this.#seal(Buffer.alloc(0));
    done();
  }

  #seal(chunk: Buffer): void {
    const header = Buffer.alloc(headerBytes);
    header.writeUInt32BE(chunk.length);
    codeOf(this.#key, this.#number++, chunk).copy(header, lengthBytes);
    this.push(header);
    if (chunk.length > 0) this.push(chunk);
  }
}

class Opener extends Transform {
  readonly #key: Buffer;
  #number = 0n;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Bytes of the next frame, as far as they are known. */
  #needed = headerBytes;
  #hasEnded = false;

  constructor(key: Buffer) {
    super({ highWaterMark: bufferBytes });
    this.#key = key;
  }

  override _transform(bytes: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
    try {
      if (this.#bytes >= this.#needed) this.#open();
      done();
    } catch (error) {
      done(error as Error);
    }
  }

  override _flush(done: TransformCallback): void {
    done(this.#hasEnded ? null : new BrokenSeal('a stream of it was cut off'));
  }

  #open(): void {
    let rest = this.#parts.length === 1 && this.#parts[0] ? this.#parts[0] : Buffer.concat(this.#parts);
    for (;;) {
      this.#needed = headerBytes;
      if (rest.length < this.#needed) break;
      const length = rest.readUInt32BE();
      if (length > largestChunk) throw new BrokenSeal('a stream of it was changed on its way');
      this.#needed = headerBytes + length;
      if (rest.length < this.#needed) break;
      this.#take(rest.subarray(lengthBytes, headerBytes), rest.subarray(headerBytes, this.#needed));
      rest = rest.subarray(this.#needed);
    }
    if (this.#hasEnded && rest.length > 0) throw new BrokenSeal('a stream of it continues behind its end');
    this.#parts = rest.length > 0 ? [rest] : [];
    this.#bytes = rest.length;
  }

  #take(code: Buffer, chunk: Buffer): void {
    const isSealed = !this.#hasEnded && timingSafeEqual(code, codeOf(this.#key, this.#number++, chunk));
    if (!isSealed) throw new BrokenSeal('a stream of it was changed on its way');
    if (chunk.length === 0) this.#hasEnded = true;
    else this.push(chunk);
  }
}
