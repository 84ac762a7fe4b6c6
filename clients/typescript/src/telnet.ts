/** Removes telnet commands (RFC 854) from the output of a console; they may be split between messages. */
const SE = 240;
const SB = 250;
const WILL = 251;
const IAC = 255;

export class TelnetStripper {
  #state: 'data' | 'command' | 'option' | 'sub' | 'sub-command' = 'data';

  push(bytes: Uint8Array): Uint8Array {
    return bytes.filter((byte) => this.#isData(byte));
  }

  #isData(byte: number): boolean {
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
