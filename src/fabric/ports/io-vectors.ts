/** Ranges of buffers for a system call. */

/** Where a buffer begins. */
export type AddressIn = (buffer: Buffer) => number;

/** Ranges of buffers that are written as one frame. */
export interface Pieces {
  clear(): void;
  /** False: there is no room for it, or the range is not within the buffer. */
  add(buffer: Buffer, start: number, end: number): boolean;
}

/** `struct iovec` of a 64-bit system: address and length, 8 bytes each. @see readv(2) */
const vectorWords = 4;
export const vectorBytes = vectorWords * Uint32Array.BYTES_PER_ELEMENT;

/** An array of `struct iovec`. The buffers are kept, so their memory is there while the array is. */
export class Vectors implements Pieces {
  readonly address: number;
  count = 0;
  readonly #addressIn: AddressIn;
  readonly #words: Uint32Array;
  readonly #buffers: Buffer[] = [];

  constructor(addressIn: AddressIn, room: number) {
    const memory = Buffer.allocUnsafeSlow(room * vectorBytes);
    this.#words = new Uint32Array(memory.buffer);
    this.#addressIn = addressIn;
    this.address = addressIn(memory);
  }

  clear(): void {
    this.count = 0;
  }

  add(buffer: Buffer, start: number, end: number): boolean {
    const at = this.count * vectorWords;
    if (!(start >= 0 && start < end && end <= buffer.length) || at >= this.#words.length) return false;
    const address = this.#addressIn(buffer) + start;
    this.#words[at] = address;
    this.#words[at + 1] = address / 0x1_0000_0000;
    this.#words[at + 2] = end - start;
    this.#words[at + 3] = 0;
    this.#buffers[this.count] = buffer;
    this.count += 1;
    return true;
  }
}
