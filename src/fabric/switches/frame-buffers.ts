/** Memory of queues, which share it: a queue has some only while frames are in it, so that ten thousand idle ports take none. */

/** A queue begins with the smallest and exchanges it when it needs more. Bytes. */
const sizes = [4 * 1024, 64 * 1024, 512 * 1024] as const;
/** Largest buffer. */
export const largestBytes = sizes[2];
/** Most free bytes that are kept for the next queue; the rest is freed. */
const keptBytes = 16 * 1024 * 1024;

export class FrameBuffers {
  readonly #free = new Map<number, Buffer[]>(sizes.map((size) => [size, []]));
  #freeBytes = 0;

  /** A buffer of at least so many bytes, at most `largestBytes`; its content is arbitrary. */
  take(bytes: number): Buffer {
    const size = sizes.find((each) => each >= bytes) ?? largestBytes;
    const kept = this.#free.get(size)?.pop();
    if (!kept) return Buffer.allocUnsafeSlow(size);
    this.#freeBytes -= size;
    return kept;
  }

  /** The caller does not use it any more. */
  give(buffer: Buffer): void {
    if (this.#freeBytes + buffer.length > keptBytes) return;
    this.#freeBytes += buffer.length;
    this.#free.get(buffer.length)?.push(buffer);
  }
}
