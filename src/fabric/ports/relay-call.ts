/**
 * Meets the other end of a link at a relay (`src/controller/relay/`), where neither can be connected to directly. What follows on the socket is
 * what two ends send each other on a connection of their own: the relay has no part in their proofs and keys.
 *
 * ```
 * end:    hello (lib/relay-hello.ts)
 * relay → accept: 1    accept → relay: 1    relay → connect: 1
 * ```
 *
 * The end that accepts answers before the other one is told: no byte of the other end comes together with one of the relay.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { relayHello } from '../../lib/relay-hello.ts';
import type { StreamSpec } from '../protocol.ts';

const ready = Buffer.from([1]);

/** A socket to the other end when it has come, too; undefined when that fails or `signal` aborts. Never rejects. */
export async function callRelay({ relay, role }: StreamSpec, signal: AbortSignal): Promise<Socket | undefined> {
  if (!relay) return undefined;
  const socket = connect({ host: relay.host, port: relay.port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 });
  socket.on('error', () => undefined);
  const end = () => socket.destroy();
  signal.addEventListener('abort', end);
  try {
    socket.write(relayHello(role, relay.ticket));
    while (socket.read(ready.length) === null) {
      if (socket.readableEnded || socket.destroyed) return undefined;
      await Promise.race([once(socket, 'readable', { signal }), once(socket, 'close', { signal })]);
    }
    if (role === 'accept') socket.write(ready);
    return socket;
  } catch {
    socket.destroy();
    return undefined;
  } finally {
    signal.removeEventListener('abort', end);
  }
}
