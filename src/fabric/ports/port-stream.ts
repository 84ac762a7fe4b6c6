/** A port on a Unix stream socket on which another process listens. */
import { closeSync } from 'node:fs';
import { type OnReadOpts, Socket } from 'node:net';
import { Retry } from '../../lib/retry.ts';
import { openSocketFile } from '../../process/unix-socket.ts';
import { FramedSocket } from './framed-socket.ts';
import type { Native } from './native.ts';
import { type FabricPort, type PortOwner, portRetry } from './port.ts';

export function openStream(spec: { path: string }, owner: PortOwner, native: Native): FabricPort {
  return new StreamPort(spec.path, owner, native);
}

class StreamPort implements FabricPort {
  readonly problem = undefined;
  readonly opened = Promise.resolve();
  connected = false;
  oversized = 0;
  readonly #path: string;
  readonly #native: Native;
  readonly #frames: FramedSocket;
  readonly #retry = new Retry(portRetry, () => this.#connect());
  #socket: Socket | undefined;
  #closed = false;

  constructor(path: string, owner: PortOwner, native: Native) {
    this.#path = path;
    this.#native = native;
    this.#frames = new FramedSocket(owner);
    this.#connect();
  }

  nudge(): void {
    if (!this.connected) this.#retry.nudge();
  }

  send(buffer: Buffer, start: number, end: number): boolean {
    return this.#frames.send(buffer, start, end);
  }

  resume(): void {
    this.#frames.resume();
  }

  close(): void {
    this.#closed = true;
    this.#retry.stop();
    this.#socket?.destroy();
    this.#lost(this.#socket);
  }

  #connect(): void {
    if (this.#closed) return;
    const onread: OnReadOpts = { buffer: this.#frames.area, callback: (length) => this.#read(socket, length) };
    const descriptor = this.#open();
    if (descriptor < 0) {
      this.#retry.failed();
      return;
    }
    const socket: Socket = new Socket({ fd: descriptor, onread });
    this.#socket = socket;
    this.#frames.use(socket, { native: this.#native, descriptor });
    // The first cause is of no use here: whatever it was, the remedy is to connect again, which 'close' does.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#lost(socket));
    this.#ready();
  }

  /** A descriptor that is connected; negative where no socket is there, or a link in its place. */
  #open(): number {
    let file: number;
    try {
      file = openSocketFile(this.#path);
    } catch {
      return -1;
    }
    const descriptor = this.#native.openStream(`/proc/self/fd/${file}`);
    closeSync(file);
    return descriptor;
  }

  #ready(): void {
    this.connected = true;
    this.#retry.succeeded();
    this.#frames.ready();
  }

  /** Always asks for more: whether to continue is decided with pause and resume. */
  #read(socket: Socket, length: number): boolean {
    this.#frames.took(socket, length);
    return true;
  }

  #lost(socket: Socket | undefined): void {
    if (socket !== this.#socket || !socket) return;
    this.#socket = undefined;
    this.connected = false;
    if (!this.#closed) this.#retry.failed();
    this.#frames.lost();
  }
}
