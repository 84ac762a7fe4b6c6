/** A port on a Unix stream socket on which another process listens. */
import { connect, type Socket } from 'node:net';
import { Retry } from '../../lib/retry.ts';
import { FramedSocket } from './framed-socket.ts';
import { type FabricPort, type PortOwner, portRetry } from './port.ts';

export function openStream(spec: { path: string }, owner: PortOwner): FabricPort {
  return new StreamPort(spec.path, owner);
}

class StreamPort implements FabricPort {
  readonly problem = undefined;
  readonly opened = Promise.resolve();
  connected = false;
  oversized = 0;
  readonly #path: string;
  readonly #frames: FramedSocket;
  readonly #retry = new Retry(portRetry, () => this.#connect());
  #socket: Socket | undefined;
  #closed = false;

  constructor(path: string, owner: PortOwner) {
    this.#path = path;
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
    const frames = this.#frames;
    const socket: Socket = connect({
      path: this.#path,
      onread: { buffer: frames.area, callback: (length) => this.#read(socket, length) },
    });
    this.#socket = socket;
    frames.use(socket);
    // The first cause is of no use here: whatever it was, the remedy is to connect again, which 'close' does.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#lost(socket));
    socket.once('connect', () => {
      this.connected = true;
      this.#retry.succeeded();
      frames.ready();
    });
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
