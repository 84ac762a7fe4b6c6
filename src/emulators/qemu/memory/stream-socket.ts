/** A Unix socket that one process connects to once, to send something and close. */
import { createServer, type Socket } from 'node:net';

export interface Receiving {
  readonly stream: Promise<Socket>;
  close(): void;
}

/** Listens at a path. @throws errors of the system */
export async function listenOnce(path: string): Promise<Receiving> {
  const { promise: stream, resolve } = Promise.withResolvers<Socket>();
  const sockets: Socket[] = [];
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    server.close();
    sockets.push(socket);
    socket.on('error', () => undefined);
    resolve(socket);
  });
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject);
  server.listen(path, listening.resolve);
  await listening.promise;
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { stream, close };
}
