/** The API inside its own server: calls routes without a socket, on behalf of the current request's requester. */
import { Readable } from 'node:stream';
import { LocalTransport } from '../../src/api/local-transport.ts';
import type { Method, Route } from '../../src/api/route.ts';
import type { Join } from '../../src/api/transport.ts';
import type { LabApi } from './lab-api.ts';

/** Longest text of one answer, bytes. */
const maxTextBytes = 4_194_304;

export class RoutesApi implements Pick<LabApi, 'json'> {
  readonly #transport: LocalTransport<Record<never, never>>;

  constructor(routes: readonly Route[]) {
    const events = { subscribe: () => () => undefined };
    this.#transport = new LocalTransport({ routes, events, capabilities: { version: null, node_types: [] }, isOnBehalf: true });
  }

  async json<T>(method: Method, path: string, body?: unknown): Promise<T> {
    const bytes = await this.read(method, path, body === undefined ? undefined : Buffer.from(JSON.stringify(body)));
    return (bytes.length === 0 ? undefined : JSON.parse(Buffer.from(bytes).toString())) as T;
  }

  /** Opens a WebSocket of the API. @throws faults of the route */
  socket(path: string, signal: AbortSignal): Promise<Join> {
    return this.#transport.socket(path, signal);
  }

  /** Returns the pieces of a long answer. @throws faults of the route */
  async stream(path: string): Promise<AsyncIterable<Uint8Array>> {
    const { body } = await this.#transport.raw('GET', path);
    return body instanceof Uint8Array ? Readable.from([body]) : (body as AsyncIterable<Uint8Array>);
  }

  /** Returns the bytes of an answer. @throws faults of the route */
  async read(method: Method, path: string, body?: Uint8Array): Promise<Uint8Array> {
    const answer = await this.#transport.raw(method, path, body);
    if (answer.body instanceof Uint8Array) return answer.body;
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      // A lab file cannot hold a text of this length, so the rest cannot make them equal.
      if (bytes > maxTextBytes) break;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }
}
