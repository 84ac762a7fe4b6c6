/**
 * Takes telnet's commands out of what a console sends (RFC 854): its WebSocket speaks as its TCP port does. Nothing is answered: the
 * console offers what it would do anyway. Pieces may be split anywhere.
 */
const SE = 240;
const SB = 250;
const WILL = 251;
const IAC = 255;

type State = 'data' | 'command' | 'option' | 'sub' | 'sub-command';

export class TelnetStripper {
  #state: State = 'data';

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

  /** Whether the byte is data. */
  #step(byte: number): boolean {
    switch (this.#state) {
      case 'data':
        if (byte !== IAC) return true;
        this.#state = 'command';
        return false;
      case 'command':
        this.#state = byte === SB ? 'sub' : byte >= WILL && byte !== IAC ? 'option' : 'data';
        return byte === IAC;
      case 'option':
        this.#state = 'data';
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
