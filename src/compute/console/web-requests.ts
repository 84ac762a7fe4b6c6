/**
 * Requests of browsers at the TCP ports of consoles. A web page of any origin can have its browser connect to a port of this machine and
 * send a text that it chose behind the head of a request; a page whose name was made to resolve to this machine (DNS rebinding) can read
 * the answer, too. The head itself is the browser's, and comes first.
 */
import type { Socket } from 'node:net';
import type { IsKnownHost } from '../../lib/known-hosts.ts';

/** A head that is longer is none of a browser: what they allow for is 8 to 256 KiB. */
const longestHeadBytes = 256 * 1024;
const requestStart = /^(?:GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH) /;
const requestLine = /^[A-Z]+ [^ ]* HTTP\/\d\.\d\r?$/;
/** The first record of TLS: its greeting holds texts that a hostile server chose before. */
const tlsGreeting = Buffer.from([0x16, 0x03]);

/** The answer to a browser at a console that is no page. */
export const refusalOfWebRequest =
  'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nThis port is a telnet console, not a web page.\n';

/** Lets the input of one telnet client through, unless it begins as a browser's. */
export class TelnetInput {
  /** Begins as a request does, and the end of its line has not come; undefined once the client is known to be none. */
  #held: Buffer | undefined = Buffer.alloc(0);

  /** @returns what may pass now; undefined: the client is a browser, and nothing of it may */
  push(bytes: Buffer): Uint8Array | undefined {
    if (this.#held === undefined) return bytes;
    if (this.#held.length === 0 && bytes.subarray(0, tlsGreeting.length).equals(tlsGreeting)) return undefined;
    const held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    const end = held.indexOf('\n');
    if (requestStart.test(held.toString('latin1', 0, 8))) {
      if (end >= 0 ? requestLine.test(held.toString('latin1', 0, end)) : held.length > longestHeadBytes) return undefined;
      if (end < 0) {
        this.#held = held;
        return new Uint8Array();
      }
    }
    this.#held = undefined;
    return held;
  }
}

/**
 * Reads the head of the first request of a client; later ones of a browser's connection have the same `Host`.
 * @returns the bytes that came; undefined when its `Host` is none of this server's, or the client ended before its head did
 */
export function admitRequest(client: Socket, isKnownHost: IsKnownHost): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    let head = Buffer.alloc(0);
    const settle = (result: Buffer | undefined) => {
      client.pause();
      client.off('data', take).off('close', drop).off('end', drop);
      resolve(result);
    };
    const drop = () => settle(undefined);
    const take = (bytes: Buffer) => {
      const from = Math.max(0, head.length - 3);
      head = Buffer.concat([head, bytes]);
      const end = head.indexOf('\r\n\r\n', from);
      if (end >= 0) settle(isKnownHost(hostOf(head.toString('latin1', 0, end))) ? head : undefined);
      else if (head.length > longestHeadBytes) drop();
    };
    client.on('data', take).once('close', drop).once('end', drop);
  });
}

/** Undefined without one: HTTP/1.0, which browsers do not speak. */
function hostOf(head: string): string | undefined {
  return /\r\nhost:[ \t]*([^\r\n]*)/i.exec(head)?.[1]?.trim();
}
