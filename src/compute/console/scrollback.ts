/**
 * The last part of what a console has written, addressed by position in the whole stream: the one buffer from which every client
 * is served. A client that falls behind keeps a position, not a queue; what has left the buffer meanwhile is lost to it alone.
 */
const blockBytes = 4096;

interface ScrollbackBlock {
  /** Position of the block's first byte in the stream. */
  readonly at: number;
  readonly bytes: Uint8Array;
  used: number;
}

export class Scrollback {
  readonly #limitBytes: number;
  #blocks: ScrollbackBlock[] = [];
  #end = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Position after the last byte. */
  get end(): number {
    return this.#end;
  }

  /** Position of the oldest byte that is still there. */
  get start(): number {
    return this.#blocks[0]?.at ?? this.#end;
  }

  append(bytes: Uint8Array): void {
    for (let taken = 0; taken < bytes.length; ) {
      let block = this.#blocks.at(-1);
      if (block === undefined || block.used === blockBytes) {
        block = { at: this.#end, bytes: new Uint8Array(blockBytes), used: 0 };
        this.#blocks.push(block);
      }
      const part = bytes.subarray(taken, taken + blockBytes - block.used);
      block.bytes.set(part, block.used);
      block.used += part.length;
      taken += part.length;
      this.#end += part.length;
    }
    const first = this.#blocks.findIndex((block) => block.at + block.used > this.#end - this.#limitBytes);
    if (first > 0) this.#blocks = this.#blocks.slice(first);
  }

  /**
   * Bytes from a position on, at most one block of them; empty at the end. They are never written over, so they need no copy.
   * The position must not lie before `start`.
   */
  read(position: number): Uint8Array {
    const first = this.#blocks[0];
    if (first === undefined || position >= this.#end) return new Uint8Array(0);
    // Every block but the last is full, so the block can be computed.
    const block = this.#blocks[Math.floor((position - first.at) / blockBytes)];
    return block === undefined ? new Uint8Array(0) : block.bytes.subarray(position - block.at, block.used);
  }

  /**
   * Where a new client begins: the oldest byte, or, when older ones were lost, the first beginning of a line, so that it does not
   * see half a character or half an escape sequence.
   */
  entry(): number {
    if (this.start === 0) return 0;
    const lineEnd = this.read(this.start).indexOf(10);
    return lineEnd < 0 ? this.start : this.start + lineEnd + 1;
  }
}
