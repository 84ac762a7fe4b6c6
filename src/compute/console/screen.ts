/**
 * The screen of a machine for a browser: the bytes of RFB (RFC 6143) between the emulator's VNC socket and a client's WebSocket, as
 * they are. Nothing is dropped on the way: a client that does not read holds the emulator's side, and the other way round it is let
 * go.
 */
import { connect, type Socket as TcpSocket } from 'node:net';
import { fault } from '../../api/faults.ts';
import type { Socket } from '../../api/route.ts';
import type { NodeView, ScreenSource } from '../../emulators/driver.ts';
import { connectSocket } from '../../process/unix-socket.ts';

export interface ScreenAddress {
  /** Name of the node, for people. */
  readonly name: string;
  readonly at: { readonly path: string } | { readonly host: string; readonly port: number };
}

/**
 * Returns the address of a node's screen; undefined for nodes without one. Machines that version 0.1 started serve it at their TCP
 * port themselves.
 */
export function screenOf(
  { name, console: { type, port, host } }: Pick<NodeView, 'name' | 'console'>,
  source: ScreenSource | undefined,
): ScreenAddress | undefined {
  if (type !== 'vnc' || port === null) return undefined;
  return { name, at: source === undefined ? { host: reachable(host), port } : { path: source.path } };
}

const connectLimitMs = 5000;
/** Bytes queued for a client at which the emulator has to wait, and the interval in milliseconds at which that is checked. */
const pauseBytes = 1024 * 1024;
const lookAgainMs = 10;
/** Input that the emulator has not taken: a client that sends more is no keyboard and mouse. */
const inputLimitBytes = 4 * 1024 * 1024;

export class Screen {
  readonly #emulator: TcpSocket;

  private constructor(emulator: TcpSocket) {
    this.#emulator = emulator;
  }

  /** `signal` ends when the client has gone before it was joined. @throws node_console */
  static async open({ name, at }: ScreenAddress, signal: AbortSignal): Promise<Screen> {
    const emulator = 'path' in at ? connectSocket(at.path) : connect({ ...at, noDelay: true });
    emulator.setTimeout(connectLimitMs, () => emulator.destroy(new Error('it did not answer in time')));
    await new Promise<void>((resolve, reject) => {
      emulator.once('connect', resolve);
      emulator.once('error', reject);
    }).catch((cause: Error) => {
      throw fault('node_console', { name, reason: `its screen cannot be reached: ${cause.message}` }, { cause });
    });
    emulator.setTimeout(0);
    // `close` follows and is where the end is dealt with.
    emulator.on('error', () => undefined);
    signal.addEventListener('abort', () => emulator.destroy(), { once: true });
    if (signal.aborted) emulator.destroy();
    return new Screen(emulator);
  }

  join(client: Socket): void {
    const emulator = this.#emulator;
    emulator.on('data', (bytes) => {
      client.send(bytes);
      if (client.bufferedAmount > pauseBytes) holdUntilRead(emulator, client);
    });
    emulator.on('close', () => client.close());
    client.onMessage((bytes) => {
      if (emulator.writableLength > inputLimitBytes) client.close(1009, 'too much input');
      else emulator.write(bytes);
    });
    client.onClose(() => emulator.destroy());
    if (emulator.destroyed) client.close();
  }
}

function holdUntilRead(emulator: TcpSocket, client: Socket): void {
  emulator.pause();
  const look = setInterval(() => {
    if (!emulator.destroyed && client.bufferedAmount > pauseBytes / 2) return;
    clearInterval(look);
    emulator.resume();
  }, lookAgainMs);
}

/** An address to connect to: a server that listens on all of them is reached on the loopback. */
function reachable(host: string): string {
  return { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
}
