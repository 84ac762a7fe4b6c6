/** Bytes of a frame, read in network order. A read beyond the end throws RangeError: the frame is truncated. */
export class View {
  readonly bytes: Uint8Array;
  /** The bytes after it are padding. */
  readonly end: number;
  readonly #data: DataView;

  constructor(bytes: Uint8Array, end = bytes.length) {
    this.bytes = bytes;
    this.end = Math.min(end, bytes.length);
    this.#data = new DataView(bytes.buffer, bytes.byteOffset, this.end);
  }

  /** Returns the view with an earlier end. */
  until(end: number): View {
    return end < this.end ? new View(this.bytes, end) : this;
  }

  u8(at: number): number {
    return this.#data.getUint8(at);
  }

  u16(at: number): number {
    return this.#data.getUint16(at);
  }

  u32(at: number): number {
    return this.#data.getUint32(at);
  }

  mac(at: number): string {
    return Array.from({ length: 6 }, (_, place) => hex(this.u8(at + place), 2)).join(':');
  }

  ipv4(at: number): string {
    return Array.from({ length: 4 }, (_, place) => this.u8(at + place)).join('.');
  }

  /** Formatted by RFC 5952: the longest run of zeros is left out. */
  ipv6(at: number): string {
    const groups = Array.from({ length: 8 }, (_, place) => this.u16(at + place * 2).toString(16));
    const runs = groups.join(':').match(/(?<![^:])0(:0)+(?![^:])/g) ?? [];
    const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '');
    if (longest === '') return groups.join(':');
    const full = groups.join(':');
    const place = full.search(new RegExp(`(?<![^:])${longest}(?![^:])`));
    return `${full.slice(0, place).replace(/:$/, '')}::${full.slice(place + longest.length).replace(/^:/, '')}`;
  }

  /** Printable ASCII; a dot for every other byte. */
  text(at: number, length: number): string {
    this.check(at, length);
    return Array.from(this.bytes.subarray(at, at + length), (byte) =>
      byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.',
    ).join('');
  }

  check(at: number, length: number): void {
    if (at + length > this.end) throw new RangeError('cut off');
  }
}

export const hex = (value: number, digits = 4): string => value.toString(16).padStart(digits, '0');
