/** Consoles and streams of the API for a thread: each is a port to it, and no more is sent than the thread has read. */
import type { MessagePort } from 'node:worker_threads';
import type { Socket } from '../../src/api/route.ts';
import type { RoutesApi } from '../state/routes-api.ts';

/** A message on such a port. `ended`: the last one, with the reason where it is an error. Pieces are acknowledged by `read`. */
export type WireMessage = { readonly bytes: Uint8Array } | { readonly ended: string };

export interface ThreadWire {
  readonly path: string;
  readonly how: 'socket' | 'stream';
  readonly port: MessagePort;
}

export async function joinWire(api: RoutesApi, { path, how, port }: ThreadWire): Promise<void> {
  const closed = new AbortController();
  port.on('close', () => closed.abort());
  const end = (reason: string) => {
    port.postMessage({ ended: reason } satisfies WireMessage);
    port.close();
  };
  try {
    if (how === 'socket') (await api.socket(path, closed.signal))(socketOf(port, end));
    else {
      await sendStream(await api.stream(path), port, closed.signal);
      end('');
    }
  } catch (error) {
    end((error as Error).message || 'it failed');
  }
}

function socketOf(port: MessagePort, end: (reason: string) => void): Socket {
  const unread: { readonly length: number; readonly sent: (() => void) | undefined }[] = [];
  let bufferedAmount = 0;
  let onMessage: ((data: Uint8Array, isBinary: boolean) => void) | undefined;
  port.on('message', (message: WireMessage | 'read') => {
    if (message === 'read') {
      const { length = 0, sent } = unread.shift() ?? {};
      bufferedAmount -= length;
      sent?.();
    } else if ('bytes' in message) onMessage?.(message.bytes, true);
  });
  return {
    get bufferedAmount() {
      return bufferedAmount;
    },
    send: (data, sent) => {
      const bytes = typeof data === 'string' ? Buffer.from(data) : data;
      unread.push({ length: bytes.length, sent });
      bufferedAmount += bytes.length;
      port.postMessage({ bytes: new Uint8Array(bytes) } satisfies WireMessage);
    },
    onMessage: (listener) => {
      onMessage = listener;
    },
    onClose: (listener) => void port.on('close', listener),
    close: (_code, reason = '') => end(reason),
  };
}

async function sendStream(source: AsyncIterable<Uint8Array>, port: MessagePort, closed: AbortSignal): Promise<void> {
  let read: () => void = () => undefined;
  port.on('message', () => read());
  closed.addEventListener('abort', () => read(), { once: true });
  for await (const bytes of source) {
    const { promise, resolve } = Promise.withResolvers<void>();
    read = resolve;
    if (closed.aborted) return;
    port.postMessage({ bytes: new Uint8Array(bytes) } satisfies WireMessage);
    await promise;
  }
}
