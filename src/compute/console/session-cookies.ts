/**
 * Browsers send a cookie to all ports of a host. The session of a browser that signed in at this server must not reach the page of
 * a container: its value is replaced by as many `x`, in any request of a connection, however its bytes arrive.
 */
import { sessionCookiePrefix } from '../../lib/session-cookie.ts';

const prefix = Buffer.from(sessionCookiePrefix);
const [equalsSign, filler] = Buffer.from('=x');
const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39;
const valueBytes = new Set(Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'));

export class SessionCookies {
  /** Part of the cookie to which the next byte may belong. */
  #part: 'prefix' | 'port' | 'value' = 'prefix';
  /** Bytes of the prefix that have come. */
  #matched = 0;

  /** Changes the next bytes of a client in place, and returns them. Their number stays, so that lengths in heads remain right. */
  hide(bytes: Buffer): Buffer {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (this.#part === 'value' && valueBytes.has(byte)) bytes[at] = filler as number;
      else if (this.#part === 'port' && byte === equalsSign) this.#part = 'value';
      else if (this.#part !== 'port' || !isDigit(byte)) this.#matchPrefix(byte);
    }
    return bytes;
  }

  /** Its first byte does not come again in it. */
  #matchPrefix(byte: number): void {
    this.#part = 'prefix';
    if (byte === prefix[this.#matched]) this.#matched += 1;
    else this.#matched = byte === prefix[0] ? 1 : 0;
    if (this.#matched < prefix.length) return;
    this.#part = 'port';
    this.#matched = 0;
  }
}
