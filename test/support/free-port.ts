/** Ports for fabrics under test. */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports above those of a server's links (to 30000) and below those that the system gives to sockets by itself (from 32768). */
const [first, last] = [30_001, 32_767];

/**
 * Finds a number that is free for datagrams and for connections. A port that the system chose may be given to another socket before it is used.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(first, last + 1);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const socket = createSocket('udp4');
  try {
    server.listen(port, '0.0.0.0');
    await once(server, 'listening');
    socket.bind({ port, exclusive: true });
    await once(socket, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    const closed = [new Promise((done) => server.close(done)), new Promise<void>((done) => socket.close(done))];
    await Promise.all(closed);
  }
}
