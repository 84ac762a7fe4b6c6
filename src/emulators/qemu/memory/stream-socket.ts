/** Unix sockets over which QEMU sends or receives a stream once. */
import { createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { openRegular } from '../../../lib/regular-file.ts';
import { connectSocket } from '../../../process/unix-socket.ts';

/** Buffer of a socket of the server. QEMU sends a guest's memory faster than a process on a busy host gets scheduled. */
export const bufferBytes = 4 * 2 ** 20;

export interface Receiving {
  readonly stream: Promise<Socket>;
  close(): void;
}

/** Listens at a path. @throws errors of the system */
export async function listenOnce(path: string): Promise<Receiving> {
  const { promise: stream, resolve } = Promise.withResolvers<Socket>();
  const sockets: Socket[] = [];
  const server = createServer({ pauseOnConnect: true, highWaterMark: bufferBytes }, (socket) => {
    server.close();
    sockets.push(socket);
    // The pipelines of its two directions have more than ten together.
    socket.setMaxListeners(20);
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

/** QEMU knows the end of its stream, and closes as soon as it has read that: before, in our eyes, all was sent. */
const closedByReader = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'EPIPE', 'ECONNRESET']);

/** Sends a file, which a symbolic link is not; whether the reader liked it, the reader must be asked. @throws errors of the file, and of the connection as it is made */
export async function sendFile(path: string, socket: string): Promise<void> {
  const { file } = await openRegular(path, { noFollow: true });
  await pipeline(file.createReadStream(), connectSocket(socket)).catch((error: NodeJS.ErrnoException) => {
    if (!closedByReader.has(error.code ?? '')) throw error;
  });
}
