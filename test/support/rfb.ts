/** A client of screens: RFB 3.8 (RFC 6143), no authentication, raw pixels; over TCP or a WebSocket. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { waitFor } from './wait-for.ts';
import { openWebSocket } from './web-socket.ts';

export interface Wire {
  /** All bytes so far. */
  received(): Buffer;
  send(bytes: Uint8Array<ArrayBuffer>): void;
  close(): void;
  /** Resolves when the other side has ended it. */
  readonly closed: Promise<unknown>;
}

export async function overTcp(port: number): Promise<Wire> {
  const socket = connect(port, '127.0.0.1');
  const parts: Buffer[] = [];
  socket.on('data', (bytes) => parts.push(bytes));
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const received = () => {
    // Joined once: a picture comes in hundreds of parts.
    parts.splice(0, parts.length, Buffer.concat(parts));
    return parts[0] ?? Buffer.alloc(0);
  };
  return { received, send: (bytes) => void socket.write(bytes), close: () => socket.destroy(), closed };
}

export async function overWebSocket(url: string): Promise<Wire> {
  const socket = await openWebSocket(url);
  const received = () => Buffer.concat(socket.messages.map((message) => Buffer.from(message)));
  return { received, send: socket.send, close: socket.close, closed: socket.closed };
}

export type Pixel = readonly [red: number, green: number, blue: number];

export interface Screen {
  readonly width: number;
  readonly height: number;
  readonly name: string;
  /** The current picture: its pixels by position, as far as one update sent them. */
  picture(): Promise<(x: number, y: number) => Pixel | undefined>;
  close(): void;
}

const limitMs = 20_000;

/** The handshake (§7.1 to §7.3). */
export async function openScreen(wire: Wire): Promise<Screen> {
  let at = 0;
  const read = async (bytes: number): Promise<Buffer> => {
    await waitFor(() => wire.received().length >= at + bytes, { what: `${bytes} bytes of RFB`, limitMs });
    at += bytes;
    return wire.received().subarray(at - bytes, at);
  };
  const send = (...bytes: number[]) => wire.send(Uint8Array.from(bytes));
  assert.equal((await read(12)).toString('latin1'), 'RFB 003.008\n');
  wire.send(Uint8Array.from(Buffer.from('RFB 003.008\n')));
  const types = await read((await read(1)).readUInt8(0));
  assert.ok(types.includes(1), 'no authentication is offered');
  send(1);
  assert.equal((await read(4)).readUInt32BE(0), 0, 'accepted');
  send(1);
  const init = await read(24);
  const [width, height] = [init.readUInt16BE(0), init.readUInt16BE(2)];
  const format = pixelFormat(init.subarray(4, 20));
  const name = (await read(init.readUInt32BE(20))).toString('utf8');
  // SetEncodings: raw.
  send(2, 0, 0, 1, 0, 0, 0, 0);
  const picture = async () => {
    const pixels: Pixel[] = new Array(width * height);
    const request = Buffer.alloc(10);
    request.writeUInt8(3, 0);
    request.writeUInt16BE(width, 6);
    request.writeUInt16BE(height, 8);
    wire.send(Uint8Array.from(request));
    assert.equal((await read(1)).readUInt8(0), 0, 'an update of the picture');
    const rectangles = (await read(3)).readUInt16BE(1);
    for (let index = 0; index < rectangles; index++) {
      const header = await read(12);
      const [x = 0, y = 0, w = 0, h = 0] = [0, 2, 4, 6].map((place) => header.readUInt16BE(place));
      assert.equal(header.readInt32BE(8), 0, 'raw pixels');
      const bytes = await read(w * h * format.bytes);
      for (let row = 0; row < h; row++)
        for (let column = 0; column < w; column++)
          pixels[(y + row) * width + x + column] = format.pixel(bytes, (row * w + column) * format.bytes);
    }
    return (x: number, y: number) => pixels[y * width + x];
  };
  return { width, height, name, picture, close: wire.close };
}

/** PIXEL_FORMAT (§7.4) with true colours, of 32 bits. */
function pixelFormat(bytes: Buffer): { bytes: number; pixel(from: Buffer, at: number): Pixel } {
  const [bits, isBig, isTrueColour] = [bytes.readUInt8(0), bytes.readUInt8(2), bytes.readUInt8(3)];
  assert.deepEqual([bits, isTrueColour], [32, 1]);
  const [redMax, greenMax, blueMax] = [4, 6, 8].map((at) => bytes.readUInt16BE(at)) as [number, number, number];
  const [red, green, blue] = [10, 11, 12].map((at) => bytes.readUInt8(at)) as [number, number, number];
  return {
    bytes: bits / 8,
    pixel(from, at) {
      const value = isBig ? from.readUInt32BE(at) : from.readUInt32LE(at);
      return [(value >>> red) & redMax, (value >>> green) & greenMax, (value >>> blue) & blueMax];
    },
  };
}
