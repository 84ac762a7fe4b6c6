/** A WebSocket of a remote compute, joined to a client's: text stays text, bytes stay bytes, and neither end outlives the other. */
import type { WebSocket } from 'undici';
import type { Join } from '../../api/transport.ts';

/** Bytes queued for an end that does not read any more; it is disconnected then, because frames of a console cannot be dropped. */
const queueLimitBytes = 8 * 1024 * 1024;
/** Close codes of RFC 6455, section 7.4.1. */
const goingAway = 1001;
const tooSlow = 1008;

/**
 * Resolves when the compute has accepted. Its messages wait until the client is connected.
 * @throws the library's error when the compute refuses or cannot be reached
 */
export async function acceptRemoteSocket(upstream: WebSocket, signal: AbortSignal): Promise<Join> {
  upstream.binaryType = 'arraybuffer';
  let deliver: ((data: string | ArrayBuffer) => void) | undefined;
  const early: (string | ArrayBuffer)[] = [];
  upstream.addEventListener('message', ({ data }) => (deliver ? deliver(data) : early.push(data)));
  const leave = () => upstream.close();
  signal.addEventListener('abort', leave);
  upstream.addEventListener('close', () => signal.removeEventListener('abort', leave));
  await opened(upstream);
  if (signal.aborted) leave();
  return (client) => {
    deliver = (data) => {
      client.send(typeof data === 'string' ? data : new Uint8Array(data));
      if (client.bufferedAmount > queueLimitBytes) client.close(tooSlow, 'the console was not read');
    };
    for (const data of early.splice(0)) deliver(data);
    client.onMessage((bytes, isBinary) => {
      if (upstream.readyState !== upstream.OPEN) return;
      // A copy: the client's buffer may be used again.
      upstream.send(isBinary ? new Uint8Array(bytes) : Buffer.from(bytes).toString('utf8'));
      if (upstream.bufferedAmount > queueLimitBytes) client.close(tooSlow, 'the compute does not read');
    });
    client.onClose(leave);
    const end = () => client.close(goingAway, 'the compute closed the connection');
    if (upstream.readyState === upstream.OPEN) upstream.addEventListener('close', end);
    else end();
  };
}

function opened(upstream: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    upstream.addEventListener('open', () => resolve());
    upstream.addEventListener('error', ({ message }) => reject(new Error(message || 'the compute refused')));
    upstream.addEventListener('close', () => reject(new Error('the connection was closed')));
  });
}
