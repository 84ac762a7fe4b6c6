/** A console that its emulator serves itself, on a Unix socket: each admitted client of the TCP port has a connection of its own to it. */
import type { Socket } from 'node:net';
import type { IsKnownHost } from '../../lib/known-hosts.ts';
import { sessionCookiePrefix } from '../../lib/session-cookie.ts';
import { connectSocket } from '../../process/unix-socket.ts';
import { ConsolePort, type ConsolePortOptions } from './console-port.ts';
import { admitRequest } from './web-requests.ts';

interface RelayOptions extends ConsolePortOptions {
  /** Path of the emulator's socket. */
  readonly path: string;
  /** Checks the names under which browsers ask for a console that is a web page. */
  readonly isKnownHost?: IsKnownHost | undefined;
}

export class ConsoleRelay {
  readonly #options: RelayOptions;
  #port: ConsolePort;

  private constructor(options: RelayOptions, port: ConsolePort) {
    this.#options = options;
    this.#port = port;
  }

  /** @throws console_unavailable when the port cannot be listened on */
  static async open(options: RelayOptions): Promise<ConsoleRelay> {
    return new ConsoleRelay(options, await listen(options));
  }

  get port(): number {
    return this.#port.number;
  }

  /** Disconnects all clients, and lets new ones in. */
  async reset(): Promise<void> {
    const port = this.#port.number;
    await this.#port.close();
    this.#port = await listen({ ...this.#options, port });
  }

  /** Resolves when the port is free again. */
  close(): Promise<void> {
    return this.#port.close();
  }
}

function listen(options: RelayOptions): Promise<ConsolePort> {
  const { isKnownHost, path } = options;
  return ConsolePort.open(options, (client) => {
    if (isKnownHost === undefined) join(client, connectSocket(path));
    else void joinPage(client, path, isKnownHost);
  });
}

async function joinPage(client: Socket, path: string, isKnownHost: IsKnownHost): Promise<void> {
  const head = await admitRequest(client, isKnownHost);
  if (client.destroyed) return;
  if (head === undefined) {
    client.resume().end(refusalOfHost);
    return;
  }
  const emulator = connectSocket(path);
  const sessions = new SessionCookies();
  emulator.write(sessions.hide(head));
  // The head was read before the pipe attaches its listener.
  client.on('data', (bytes: Buffer) => sessions.hide(bytes));
  join(client, emulator);
}

const refusalOfHost =
  'HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n' +
  'This machine is not known under that name: use its IP address, or add the name to allowed_hosts in [Server].\n';

/**
 * Pipes both ways. Bytes already received are delivered before the other side is closed; a side that does not read holds the other.
 */
function join(client: Socket, emulator: Socket): void {
  // `close` follows.
  emulator.on('error', () => {});
  emulator.on('close', () => client.destroySoon());
  client.on('close', () => emulator.destroySoon());
  client.pipe(emulator);
  emulator.pipe(client);
}

const prefix = Buffer.from(sessionCookiePrefix);
const [equalsSign, filler] = Buffer.from('=x');
const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39;
const valueBytes = new Set(Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'));

/**
 * Browsers send a cookie to all ports of a host. The session of a browser that signed in at this server must not reach the page of
 * a container: its value is replaced by as many `x`, in any request of a connection, however its bytes arrive.
 */
class SessionCookies {
  /** Part of the cookie to which the next byte may belong. */
  #part: 'prefix' | 'port' | 'value' = 'prefix';
  /** Number of the prefix's bytes that have been matched. */
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

  /** Matches the prefix without going back, because its first byte does not occur in it again. */
  #matchPrefix(byte: number): void {
    this.#part = 'prefix';
    if (byte === prefix[this.#matched]) this.#matched += 1;
    else this.#matched = byte === prefix[0] ? 1 : 0;
    if (this.#matched < prefix.length) return;
    this.#part = 'port';
    this.#matched = 0;
  }
}
