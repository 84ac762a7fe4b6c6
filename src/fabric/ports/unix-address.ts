/** Addresses of Unix sockets, for system calls. */
import { endianness } from 'node:os';

/** `struct sockaddr_un`: family, then the path with its final NUL. @see unix(7) */
export interface SocketAddress {
  readonly bytes: Buffer;
}
export const unixFamily = 1;
const maxPathBytes = 107;

/** Undefined for a path that is too long. */
export function unixAddress(path: string): SocketAddress | undefined {
  const text = Buffer.from(path);
  if (text.length === 0 || text.length > maxPathBytes || text.includes(0)) return undefined;
  const bytes = Buffer.alloc(2 + text.length + 1);
  if (endianness() === 'LE') bytes.writeUInt16LE(unixFamily);
  else bytes.writeUInt16BE(unixFamily);
  text.copy(bytes, 2);
  return { bytes };
}
