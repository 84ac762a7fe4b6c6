/**
 * Opens Unix sockets in folders in which another user's programs create files: such a program can put a symbolic link to any socket of the
 * host (a container engine's, another machine's) in the place of its own, and the server or the fabric, which may be root, would speak to it.
 */
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { connect, type IpcNetConnectOpts, Socket, type SocketConstructorOpts } from 'node:net';

/** O_PATH, which Node does not name. @see open(2), asm-generic/fcntl.h */
const pathOnly = 0o10000000;

/** Opens the file of a socket, without connecting to it. @throws errors of the system, ENOTSOCK for another file or a symbolic link */
export function openSocketFile(path: string): number {
  const descriptor = openSync(path, pathOnly | constants.O_NOFOLLOW);
  if (fstatSync(descriptor).isSocket()) return descriptor;
  closeSync(descriptor);
  throw Object.assign(new Error(`ENOTSOCK: ${path} is not a socket`), { code: 'ENOTSOCK' });
}

interface SocketOptions extends SocketConstructorOpts, Omit<IpcNetConnectOpts, 'path'> {
  /** Buffer in bytes. */
  readonly highWaterMark?: number;
}

/** Connects like `connect` of `node:net`, but only to a socket that stands at the path itself: a symbolic link there is an error. */
export function connectSocket(path: string, options: SocketOptions = {}): Socket {
  if (process.platform !== 'linux') return connect({ ...options, path });
  let descriptor: number;
  try {
    descriptor = openSocketFile(path);
  } catch (error) {
    const socket = new Socket(options);
    // Later, as of `connect`: a pipeline takes no stream that is destroyed already.
    process.nextTick(() => socket.destroy(error as Error));
    return socket;
  }
  try {
    // The kernel connects before the call returns.
    return connect({ ...options, path: `/proc/self/fd/${descriptor}` });
  } finally {
    closeSync(descriptor);
  }
}
