/** The two ends of a relay, like QEMU's: Unix stream servers, one per path, to which the relay connects. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

/** Called with received bytes, in one static buffer per end. */
export type Receive = (length: number, buffer: Buffer) => void;

export class Ends {
  readonly a: End;
  readonly b: End;

  constructor(folder: string, name: string) {
    this.a = new End(`${folder}/${name}-a`);
    this.b = new End(`${folder}/${name}-b`);
  }

  async connected(): Promise<void> {
    await Promise.all([this.a.connected, this.b.connected]);
  }

  close(): void {
    this.a.close();
    this.b.close();
  }
}

export class End {
  readonly path: string;
  readonly connected: Promise<unknown>;
  onReceive: Receive = () => undefined;
  socket: Socket | undefined;
  readonly #server: Server;

  constructor(path: string) {
    this.path = path;
    this.#server = createServer({ highWaterMark: 256 * 1024 }, (socket) => {
      this.socket = socket;
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => this.onReceive(chunk.length, chunk));
    });
    this.#server.listen(path);
    this.connected = once(this.#server, 'connection');
  }

  /** File descriptor of the connected socket; Node has no public name for it. */
  get fd(): number {
    const { _handle } = this.socket as unknown as { _handle?: { fd: number } };
    if (!_handle) throw new Error('no peer is connected');
    return _handle.fd;
  }

  close(): void {
    this.#server.close();
    this.socket?.destroy();
  }
}

/** `count` frames of `frameBytes` each, length-prefixed, from station 1 to station 2. */
export function framesOf(frameBytes: number, count: number): Buffer {
  const step = 4 + frameBytes;
  const buffer = Buffer.alloc(step * count);
  for (let frame = 0; frame < count; frame += 1) {
    buffer.writeUInt32BE(frameBytes, frame * step);
    buffer.set([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1], frame * step + 4);
  }
  return buffer;
}
