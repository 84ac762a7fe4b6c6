/** The API inside its own server: routes are called without a socket, as the requester of the request that is being answered. */
import { LocalTransport } from '../../api/local-transport.ts';
import type { Method, Route } from '../../api/route.ts';
import { isMissing, type LabApi } from './lab-api.ts';

/** A text that one answer may have, in bytes. */
const maxTextBytes = 4_194_304;

export class RoutesApi implements LabApi {
  readonly #transport: LocalTransport<Record<never, never>>;

  constructor(routes: readonly Route[]) {
    const events = { subscribe: () => () => undefined };
    this.#transport = new LocalTransport({ routes, events, capabilities: { version: null, node_types: [] } });
  }

  async json<T>(method: Method, path: string, body?: unknown): Promise<T> {
    const given = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const text = await this.#read(method, path, given);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  async text(path: string): Promise<string | undefined> {
    try {
      return await this.#read('GET', path);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async upload(path: string, text: string): Promise<void> {
    await this.#read('POST', path, Buffer.from(text));
  }

  async #read(method: Method, path: string, body?: Buffer): Promise<string> {
    const answer = await this.#transport.raw(method, path, body);
    if (answer.body instanceof Uint8Array) return Buffer.from(answer.body).toString();
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      // Nothing that a lab file gives is so long: the rest cannot make it equal.
      if (bytes > maxTextBytes) break;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString();
  }
}
