/** Requests exactly as written: methods with unusual bodies, bytes that are not JSON, paths that no client library would send. */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { Agent, request } from '../../src/lib/node-http.ts';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** Method and path of the request, for failure messages. */
  readonly request: string;
  text(): string;
  json<T = Record<string, unknown>>(): T;
}

export interface Ask {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Record<string, string>;
  /** Default 120,000 ms. */
  readonly limitMs?: number;
  /** Number of bytes to read: the rest of the answer is not waited for. */
  readonly readBytes?: number;
}

/** A client of one server; keeps connections open. `close` ends them. */
export class RawClient {
  readonly #headers: Record<string, string>;
  readonly base: URL;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  /** `headers`: sent with every request. */
  constructor(base: string, headers: Record<string, string> = {}) {
    this.#headers = headers;
    this.base = new URL(base);
  }

  /** `line` is method and path, such as `GET /v2/version`; the path goes out byte for byte. */
  send(line: string, ask: Ask = {}): Promise<Reply> {
    const [method = 'GET', path = '/'] = split(line);
    const payload = ask.raw ?? (ask.body === undefined ? undefined : JSON.stringify(ask.body));
    const headers: Record<string, string> = { ...this.#headers, ...ask.headers };
    if (payload !== undefined) headers['content-length'] ??= String(Buffer.byteLength(payload));
    const { hostname, port } = this.base;
    return new Promise((resolve, reject) => {
      const outgoing = request({ agent: this.#agent, hostname, port, method, path, headers }, (answer) => {
        const chunks: Buffer[] = [];
        const settle = (bytes: Buffer) => resolve(replyOf(line, answer.statusCode ?? 0, answer.headers, bytes));
        answer.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          const read = ask.readBytes === undefined ? undefined : Buffer.concat(chunks);
          if (!read || read.length < (ask.readBytes ?? 0)) return;
          settle(read.subarray(0, ask.readBytes));
          outgoing.destroy();
        });
        answer.on('error', reject);
        answer.on('end', () => settle(Buffer.concat(chunks)));
      });
      outgoing.on('error', (error) => reject(new Error(`${line}: ${error.message}`, { cause: error })));
      outgoing.setTimeout(ask.limitMs ?? 120_000, () => outgoing.destroy(new Error('no answer in time')));
      outgoing.end(payload);
    });
  }

  /** Sends, and expects this status; answers the body. */
  async get<T = Record<string, unknown>>(path: string): Promise<T> {
    return expectStatus(await this.send(`GET ${path}`), 200).json<T>();
  }

  /** `POST`s, expecting 201 unless another status is given. */
  async post<T = Record<string, unknown>>(path: string, body: unknown = {}, status = 201): Promise<T> {
    const reply = expectStatus(await this.send(`POST ${path}`, { body, limitMs: 120_000 }), status);
    return (reply.bytes.length > 0 ? reply.json<T>() : {}) as T;
  }

  async put<T = Record<string, unknown>>(path: string, body: unknown, status = 200): Promise<T> {
    return expectStatus(await this.send(`PUT ${path}`, { body }), status).json<T>();
  }

  async delete(path: string): Promise<void> {
    expectStatus(await this.send(`DELETE ${path}`), 204);
  }

  close(): void {
    this.#agent.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function split(line: string): [string, string] {
  const space = line.indexOf(' ');
  return [line.slice(0, space), line.slice(space + 1)];
}

function replyOf(request: string, status: number, headers: IncomingHttpHeaders, bytes: Buffer): Reply {
  // The answer is unpacked, as by every client that accepts gzip.
  const plain = () => (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes);
  return {
    request,
    status,
    headers,
    bytes,
    text: () => plain().toString('utf8'),
    json: <T>() => JSON.parse(plain().toString('utf8')) as T,
  };
}

export function expectStatus(reply: Reply, status: number): Reply {
  assert.equal(reply.status, status, `${reply.request}: ${reply.status} instead of ${status}: ${reply.text().slice(0, 600)}`);
  return reply;
}

/** Never part of a message: frames of a stack, or files of the program. */
const innards = /\n\s+at |node:internal|node_modules|\/src\/[\w/-]+\.ts/;

/** The answer is a refusal in the promised form. @returns its body */
export function expectFault(reply: Reply, status: number | readonly number[], says?: RegExp): Record<string, unknown> {
  const expected = typeof status === 'number' ? [status] : status;
  const place = `${reply.request.slice(0, 200)}: ${reply.text().slice(0, 400)}`;
  assert.ok(expected.includes(reply.status), `${reply.status} instead of ${expected.join(' or ')}: ${place}`);
  assert.equal(reply.headers['content-type'], 'application/json', place);
  const body = reply.json();
  assert.equal(body.status, reply.status, place);
  assert.equal(typeof body.message, 'string', place);
  const message = body.message as string;
  assert.notEqual(message.trim(), '', place);
  assert.doesNotMatch(message, innards, place);
  if (says) assert.match(message, says, place);
  return body;
}
