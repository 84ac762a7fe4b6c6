/** Bytes to and from a server on a bare TCP connection, for requests that no client library would send. */
import { connect, type Socket } from 'node:net';
import { waitFor } from './wait-for.ts';

export interface BareReply {
  /** 0 when the connection ended without an answer. */
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export interface BareOptions {
  /** Address of this side, such as 127.0.0.2. */
  readonly from?: string;
}

export class BareConnection {
  readonly socket: Socket;
  #received = '';
  #ended = false;

  constructor(port: number, { from }: BareOptions = {}) {
    this.socket = connect({ host: '127.0.0.1', port, ...(from !== undefined && { localAddress: from }) });
    this.socket.setEncoding('latin1').on('data', (text: string) => {
      this.#received += text;
    });
    this.socket
      .on('error', () => undefined)
      .on('close', () => {
        this.#ended = true;
      });
  }

  get ended(): boolean {
    return this.#ended;
  }

  get received(): string {
    return this.#received;
  }

  write(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  /** The first answer: its head, and as much of its body as it announces. */
  reply(limitMs = 30_000): Promise<BareReply> {
    return waitFor(() => parse(this.#received) ?? (this.#ended && none), { what: 'an answer', limitMs }) as Promise<BareReply>;
  }

  close(): void {
    this.socket.destroy();
  }
}

const none: BareReply = { status: 0, headers: new Map(), body: '' };

function parse(text: string): BareReply | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [line = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Map(
    lines.map((one) => [one.slice(0, one.indexOf(':')).toLowerCase(), one.slice(one.indexOf(':') + 1).trim()]),
  );
  const body = text.slice(end + 4);
  if (body.length < Number(headers.get('content-length') ?? 0)) return undefined;
  return { status: Number(line.split(' ')[1]), headers, body };
}

/** Sends these bytes on a connection of their own, and takes the answer. */
export async function ask(port: number, bytes: string | Uint8Array, options?: BareOptions): Promise<BareReply> {
  const connection = new BareConnection(port, options);
  connection.write(bytes);
  try {
    return await connection.reply();
  } finally {
    connection.close();
  }
}

/** A request without a body, or with one in JSON. */
export function requestText(line: string, headers: Readonly<Record<string, string>>, body?: unknown): string {
  const payload = body === undefined ? '' : JSON.stringify(body);
  const all = { ...headers, ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(payload)) }) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `${line} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${payload}`;
}

/** Headers that make a GET a WebSocket's. */
export const upgrade = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
};
