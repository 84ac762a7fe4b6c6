/**
 * Strips telnet commands (RFC 854) from a console's output, because its WebSocket carries the same bytes as its TCP port. Sends no
 * replies: the console works with its defaults. Commands may be split between messages.
 */
const SE = 240;
const SB = 250;
const WILL = 251;
const WONT = 252;
const DO = 253;
const IAC = 255;
const timingMark = 6;
const windowSize = 31;

/** Asks the console to mark the place in its output where it received this request (RFC 860). */
export const askForMark: Uint8Array<ArrayBuffer> = Uint8Array.of(IAC, DO, timingMark);

/** Offers and sends the size of the window (RFC 1073), in characters. A console whose terminal has no size ignores it. */
export function windowSizeMessage(columns: number, rows: number): Uint8Array<ArrayBuffer> {
  const bytes = [columns >> 8, columns & 255, rows >> 8, rows & 255].flatMap((byte) => (byte === IAC ? [IAC, IAC] : [byte]));
  return Uint8Array.of(IAC, WILL, windowSize, IAC, SB, windowSize, ...bytes, IAC, SE);
}

type StripperState = 'data' | 'command' | 'option' | 'sub' | 'sub-command';

export class TelnetStripper {
  #state: StripperState = 'data';
  #verb = 0;
  readonly #marked: () => void;

  /** `marked`: called for the console's reply to `askForMark`, whether it agrees or refuses. */
  constructor(marked: () => void = () => undefined) {
    this.#marked = marked;
  }

  push(bytes: Uint8Array): Uint8Array {
    if (this.#state === 'data' && !bytes.includes(IAC)) return bytes;
    const data = new Uint8Array(bytes.length);
    let length = 0;
    for (const byte of bytes) {
      if (!this.#step(byte)) continue;
      data[length] = byte;
      length += 1;
    }
    return data.subarray(0, length);
  }

  /** Advances the state; returns whether the byte is data. */
  #step(byte: number): boolean {
    switch (this.#state) {
      case 'data':
        if (byte !== IAC) return true;
        this.#state = 'command';
        return false;
      case 'command':
        this.#verb = byte;
        this.#state = byte === SB ? 'sub' : byte >= WILL && byte !== IAC ? 'option' : 'data';
        return byte === IAC;
      case 'option':
        this.#state = 'data';
        if (byte === timingMark && (this.#verb === WILL || this.#verb === WONT)) this.#marked();
        return false;
      case 'sub':
        if (byte === IAC) this.#state = 'sub-command';
        return false;
      case 'sub-command':
        this.#state = byte === SE ? 'data' : 'sub';
        return false;
    }
  }
}
