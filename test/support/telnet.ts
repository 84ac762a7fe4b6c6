/** A telnet client for tests: raw bytes kept, negotiation taken out of the text that `expect` looks at. */
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { waitFor } from './wait-for.ts';

/** Limit for a console that hangs: on a machine with ten busy processes per core a second takes ten. */
const hangMs = 60_000;

export interface TelnetClient {
  /** Waits until the text that arrived since the last match matches, and consumes it up to the end of the match. */
  expect(pattern: RegExp, limitMs?: number): Promise<RegExpExecArray>;
  send(data: string | Uint8Array): void;
  /** All bytes received so far, as they came. */
  received(): Buffer;
  /** Text that arrived and was not consumed. */
  pending(): string;
  /** Resolves when the other side has ended the connection. */
  readonly closed: Promise<void>;
  readonly socket: Socket;
  close(): void;
}

export async function openTelnet(port: number, host = '127.0.0.1'): Promise<TelnetClient> {
  const socket = connect({ port, host, noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  const chunks: Buffer[] = [];
  let consumed = 0;
  const arrived = new EventTarget();
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    chunks.push(bytes);
    arrived.dispatchEvent(new Event('data'));
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  void closed.then(() => arrived.dispatchEvent(new Event('data')));
  const text = () => withoutTelnet(Buffer.concat(chunks)).toString('utf8');
  return {
    socket,
    closed,
    received: () => Buffer.concat(chunks),
    pending: () => text().slice(consumed),
    send: (data) => void socket.write(data),
    close: () => void socket.destroy(),
    expect(pattern, limitMs = hangMs) {
      return new Promise((resolve, reject) => {
        const settle = (action: () => void) => {
          clearTimeout(limit);
          arrived.removeEventListener('data', look);
          action();
        };
        const fail = (why: string) =>
          settle(() =>
            reject(new Error(`${why}: ${pattern} was not seen; pending: ${JSON.stringify(text().slice(consumed).slice(-2000))}`)),
          );
        const look = () => {
          const match = pattern.exec(text().slice(consumed));
          if (match !== null) {
            consumed += match.index + match[0].length;
            settle(() => resolve(match));
          } else if (socket.destroyed) fail('the console closed the connection');
        };
        const limit = setTimeout(() => fail(`after ${limitMs} ms`), limitMs);
        arrived.addEventListener('data', look);
        look();
      });
    },
  };
}

/**
 * Types a command until the console shows the expected text: vpcs discards input while it finishes the command before,
 * so a single try may vanish without an echo. `tryMs`: how long one try may take, of those that are made for a minute; on a busy machine an echo takes
 * seconds, and a try that comes too early spoils the next command.
 */
export async function command(console: TelnetClient, line: string, shows: RegExp, tryMs = 4000): Promise<RegExpExecArray> {
  return await waitFor(
    () => {
      console.send(`${line}\r`);
      return console.expect(shows, tryMs);
    },
    { what: `an answer to "${line}"` },
  );
}

/** Skips the output that a console replays on connection: `expect` then sees new output only. For consoles that echo. */
export async function skipHistory(console: TelnetClient): Promise<void> {
  const marker = `m${randomUUID().slice(0, 8)}`;
  await command(console, marker, new RegExp(marker));
}

/** Removes commands of three bytes (WILL, WONT, DO, DONT and their option) and undoubles 0xff. */
export function withoutTelnet(bytes: Buffer): Buffer {
  const kept: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    const next = bytes[at + 1] ?? 0;
    if (byte !== 255) kept.push(byte);
    else if (next === 255) {
      kept.push(255);
      at += 1;
    } else at += next >= 251 ? 2 : 1;
  }
  return Buffer.from(kept);
}
