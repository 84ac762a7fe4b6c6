/**
 * Unpacks what the Unix program `compress` has packed: LZW with codes of 9 to 16 bits. IOS packs its configuration so (`service
 * compress-config`).
 * @see https://en.wikipedia.org/wiki/Compress_(software), and the .Z section of the format documentation in IOUtools' NVRAM.md
 */

/** `1f 9d`, then the largest width of a code with the flag of "block mode". */
const magic = 0x1f9d;
const widthMask = 0x1f;
const blockMode = 0x80;
const firstWidth = 9;
const lastWidth = 16;
/** Code that clears all codes in block mode. */
const clear = 256;

export class LzwError extends Error {}

/** @throws LzwError for bytes that `compress` has not written, or that unpack to more than `limit` bytes */
export function unpackLzw(packed: Buffer, limit: number): Buffer {
  if (packed.length < 3 || packed.readUInt16BE(0) !== magic) throw new LzwError('it does not begin as a packed file');
  const flags = packed.readUInt8(2);
  const widest = flags & widthMask;
  if (widest < firstWidth || widest > lastWidth) throw new LzwError(`its codes have ${widest} bits`);
  const hasClear = (flags & blockMode) !== 0;
  const words = new LzwWords(hasClear ? clear + 1 : clear, 2 ** widest);
  // All codes share one buffer: a packed file of a few MiB can have millions of codes.
  const out = Buffer.allocUnsafeSlow(limit);
  let size = 0;
  let width = firstWidth;
  let at = 24;
  /** Codes are written in groups of eight; the rest of a group is skipped when their width changes. */
  let groupStart = at;
  const nextGroup = () => {
    const group = width * 8;
    at = groupStart + Math.ceil((at - groupStart) / group) * group;
    groupStart = at;
  };
  while (at + width <= packed.length * 8) {
    const code = bitsAt(packed, at, width);
    at += width;
    if (code === clear && hasClear) {
      nextGroup();
      width = firstWidth;
      words.reset();
      continue;
    }
    const word = words.take(code);
    if (word === undefined) throw new LzwError(`code ${code} is not defined`);
    if (size + word.length > limit) throw new LzwError(`it unpacks to more than ${limit} bytes`);
    out.set(word, size);
    size += word.length;
    if (words.next >= 2 ** width && width < widest) {
      nextGroup();
      width += 1;
    }
  }
  return Buffer.from(out.subarray(0, size));
}

/** Words of one byte. */
const single: readonly Buffer[] = Array.from({ length: 256 }, (_, byte) => Buffer.of(byte));

/** The words that codes stand for. */
class LzwWords {
  readonly #first: number;
  readonly #end: number;
  readonly #words: Buffer[] = [];
  #previous: Buffer | undefined;

  constructor(first: number, end: number) {
    this.#first = first;
    this.#end = end;
  }

  /** The code that is defined next. */
  get next(): number {
    return this.#first + this.#words.length;
  }

  reset(): void {
    this.#words.length = 0;
    this.#previous = undefined;
  }

  /** The word of a code, which defines the next one. */
  take(code: number): Buffer | undefined {
    const previous = this.#previous;
    let word = single[code] ?? this.#words[code - this.#first];
    if (previous !== undefined) {
      // The code that this one is about to define: the previous word and its own first byte.
      if (word === undefined && code === this.next) word = Buffer.concat([previous, previous.subarray(0, 1)]);
      if (word !== undefined && this.next < this.#end) this.#words.push(Buffer.concat([previous, word.subarray(0, 1)]));
    }
    this.#previous = word;
    return word;
  }
}

/** Bits are counted from the lowest one of the first byte. */
function bitsAt(bytes: Buffer, at: number, width: number): number {
  const byte = at >> 3;
  const three = (bytes[byte] ?? 0) | ((bytes[byte + 1] ?? 0) << 8) | ((bytes[byte + 2] ?? 0) << 16);
  return (three >> (at & 7)) & ((1 << width) - 1);
}
