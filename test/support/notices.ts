/** A listener of notifications for tests: messages parsed, pings apart. */
import assert from 'node:assert/strict';
import { waitFor } from './wait-for.ts';
import { openWebSocket, type WebSocketClient } from './web-socket.ts';

export interface Notice {
  readonly action: string;
  readonly event: Record<string, unknown>;
  readonly seq?: number;
}

export interface Listener {
  /** All but pings, in order. */
  notices(): Notice[];
  /** The first that this accepts. */
  find(accepts: (notice: Notice) => boolean, what: string): Promise<Notice>;
  /** The largest number received, also in pings. */
  seq(): number;
  readonly socket: WebSocketClient;
  close(): Promise<void>;
}

/** Resolves when the first message, a ping, arrives. */
export async function listen(url: string, headers?: Record<string, string>): Promise<Listener> {
  const socket = await openWebSocket(url, headers);
  const all = () => socket.messages.map((message) => JSON.parse(String(message)) as Notice);
  await waitFor(() => socket.messages.length > 0, { what: `a ping on ${url}` });
  assert.equal(all()[0]?.action, 'ping');
  const notices = () => all().filter(({ action }) => action !== 'ping');
  return {
    socket,
    notices,
    find: (accepts, what) => waitFor(() => notices().find(accepts), { what }),
    seq: () => Math.max(...all().map(({ seq = 0 }) => seq)),
    close: async () => {
      socket.close();
      await socket.closed;
    },
  };
}
