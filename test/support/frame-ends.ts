/** The two sides of a link in tests: a Unix stream server like QEMU's, and a datagram socket like that of vpcs. */
import { createSocket, type Socket as Datagrams } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { waitFor } from './wait-for.ts';

export interface FrameEnd {
  readonly frames: Buffer[];
  send(frame: Uint8Array): void;
  close(): Promise<void>;
}

/** Listens and takes one connection after another, as `-netdev stream,server=on` does. */
export class StreamEnd implements FrameEnd {
  readonly path: string;
  readonly frames: Buffer[] = [];
  /** Times at which each of `frames` came, by `performance.now()`. */
  readonly times: number[] = [];
  connections = 0;
  socket: Socket | undefined;
  readonly #server: Server;
  #rest: Buffer = Buffer.alloc(0);

  private constructor(path: string) {
    this.path = path;
    this.#server = createServer((socket) => {
      this.socket = socket;
      this.connections += 1;
      this.#rest = Buffer.alloc(0);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        if (this.socket === socket) this.socket = undefined;
      });
      socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    });
  }

  static async listen(path: string): Promise<StreamEnd> {
    const end = new StreamEnd(path);
    end.#server.listen(path);
    await once(end.#server, 'listening');
    return end;
  }

  get port(): { type: 'stream'; path: string } {
    return { type: 'stream', path: this.path };
  }

  send(...frames: Uint8Array[]): void {
    this.sendRaw(Buffer.concat(frames.map(prefixed)));
  }

  sendRaw(bytes: Uint8Array): void {
    if (!this.socket) throw new Error('no peer is connected');
    this.socket.write(bytes);
  }

  async connected(count = 1): Promise<void> {
    await waitFor(() => this.connections >= count && this.socket, { what: `connection ${count} to ${this.path}` });
  }

  async receive(count: number): Promise<Buffer[]> {
    return waitFor(() => this.frames.length >= count && this.frames, { what: `${count} frames`, everyMs: 2 });
  }

  async close(): Promise<void> {
    this.#server.close();
    this.socket?.destroy();
    await once(this.#server, 'close');
  }

  #onData(chunk: Buffer): void {
    const now = performance.now();
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 4) {
      const end = 4 + this.#rest.readUInt32BE(0);
      if (this.#rest.length < end) return;
      this.frames.push(Buffer.from(this.#rest.subarray(4, end)));
      this.times.push(now);
      this.#rest = this.#rest.subarray(end);
    }
  }
}

export type UdpFamily = 'udp4' | 'udp6';

export class UdpEnd implements FrameEnd {
  readonly frames: Buffer[] = [];
  /** Where `send` goes. */
  peer = 0;
  readonly #host: string;
  readonly #socket: Datagrams;
  #closed = false;

  private constructor(family: UdpFamily) {
    this.#host = family === 'udp4' ? '127.0.0.1' : '::1';
    this.#socket = createSocket(family);
  }

  static async bind(family: UdpFamily = 'udp4'): Promise<UdpEnd> {
    const end = new UdpEnd(family);
    end.#socket.bind(0, end.#host);
    await once(end.#socket, 'listening');
    end.#socket.on('error', () => undefined);
    end.#socket.on('message', (frame) => end.frames.push(frame));
    return end;
  }

  get number(): number {
    return this.#socket.address().port;
  }

  send(frame: Uint8Array): void {
    this.#socket.send(frame, this.peer, this.#host);
  }

  async receive(count: number): Promise<Buffer[]> {
    return waitFor(() => this.frames.length >= count && this.frames, { what: `${count} datagrams`, everyMs: 2 });
  }

  /** May be called again. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#socket.close();
    await once(this.#socket, 'close');
  }
}

export function prefixed(frame: Uint8Array): Buffer {
  const buffer = Buffer.alloc(4 + frame.length);
  buffer.writeUInt32BE(frame.length, 0);
  buffer.set(frame, 4);
  return buffer;
}

/** A port number that was free a moment ago. */
export async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  await once(socket, 'close');
  return port;
}
