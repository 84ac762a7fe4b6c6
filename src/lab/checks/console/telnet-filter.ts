/** Drops commands of telnet (RFC 854), which consoles of telnet servers send between the text; UTF-8 has no byte 255. */
const iac = 255;
const will = 251;

export class TelnetFilter {
  /** Bytes of a command that are still to come; -1: its second byte decides. */
  #left = 0;

  apply(bytes: Uint8Array): Uint8Array {
    if (this.#left === 0 && !bytes.includes(iac)) return bytes;
    return bytes.filter((byte) => {
      if (this.#left > 0) this.#left -= 1;
      else if (this.#left < 0) this.#left = byte >= will && byte < iac ? 1 : 0;
      else if (byte === iac) this.#left = -1;
      else return true;
      return false;
    });
  }
}
