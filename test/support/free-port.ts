/** Ports for fabrics under test. */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports that neither the system gives to sockets without one of their own, nor a server to its consoles and links. */
const [first, last] = [30_001, 32_767];

/**
 * Finds a number that is free for datagrams and for connections. One that the system chose might be another socket's by the time it is used.
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
