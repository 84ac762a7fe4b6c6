/** A WebSocket client for tests: keeps received messages, and waits for expected ones. */
import { WebSocket } from 'undici';
import { waitFor } from './wait-for.ts';

export interface WebSocketClient {
  /** All messages so far, in order; binary ones as bytes. */
  readonly messages: readonly (string | Buffer)[];
  /** The first message from the last match on that this accepts; earlier ones are passed over. */
  next(accepts: (message: string | Buffer) => boolean, limitMs?: number): Promise<string | Buffer>;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  /** Resolves with the code when the connection has ended. */
  readonly closed: Promise<number>;
  close(): void;
}

/** `url` may begin with http; `headers` are sent with the request. Rejects when the server refuses. */
export async function openWebSocket(url: string, headers: Record<string, string> = {}): Promise<WebSocketClient> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers });
  socket.binaryType = 'arraybuffer';
  const messages: (string | Buffer)[] = [];
  let passed = 0;
  socket.addEventListener('message', ({ data }) => {
    messages.push(typeof data === 'string' ? data : Buffer.from(data as ArrayBuffer));
  });
  const closed = new Promise<number>((resolve) => socket.addEventListener('close', ({ code }) => resolve(code)));
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', ({ message }) => reject(new Error(`${url}: ${message || 'refused'}`)));
  });
  return {
    messages,
    closed,
    send: (data) => socket.send(data),
    close: () => socket.close(),
    next: (accepts, limitMs = 5000) =>
      waitFor(
        () => {
          while (passed < messages.length) {
            const message = messages[passed++];
            if (message !== undefined && accepts(message)) return message;
          }
          return undefined;
        },
        { what: `a message on ${url}`, limitMs },
      ),
  };
}
