/**
 * Ranges of ports for one test server, so that servers of concurrent tests never collide. A block belongs to the process that listens
 * on its guard port; the kernel frees it when that process ends, however it ends. All lie outside the ports that Linux gives
 * to outgoing connections (32768 to 60999).
 */
import { createServer, type Server } from 'node:net';
import { waitFor } from './wait-for.ts';

const blocks = 24;
const firstGuard = 61_000;
const ranges = {
  console: { first: 10_000, size: 400 },
  vnc_console: { first: 20_000, size: 50 },
  udp: { first: 22_000, size: 400 },
} as const;
/** First port that belongs to no block: tests of a driver or the console may use it and those up to 32767. */
export const firstFreePort = 31_700;

export interface PortBlock {
  /** Keys for the section `[Server]`. */
  readonly settings: Readonly<Record<string, number>>;
  release(): Promise<void>;
}

export async function takePortBlock(): Promise<PortBlock> {
  // Begins anywhere, so that tests that start together seldom try the same one.
  const start = process.pid % blocks;
  return await waitFor(
    async () => {
      for (let tried = 0; tried < blocks; tried++) {
        const index = (start + tried) % blocks;
        const guard = await listen(firstGuard + index);
        if (guard !== undefined) return makeBlock(index, guard);
      }
      return undefined;
    },
    { what: 'a free block of ports', limitMs: 60_000, everyMs: 100 },
  );
}

function makeBlock(index: number, guard: Server): PortBlock {
  const settings: Record<string, number> = {};
  for (const [name, { first, size }] of Object.entries(ranges)) {
    settings[`${name}_start_port_range`] = first + index * size;
    settings[`${name}_end_port_range`] = first + index * size + size - 1;
  }
  return { settings, release: () => new Promise((resolve) => guard.close(() => resolve())) };
}

function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.unref();
      resolve(server);
    });
  });
}
