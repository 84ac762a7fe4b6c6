/** Typed calls of the HTTP API. Runs in Node 22 and newer, and in browsers. */
import type { Operations } from './generated.ts';

export interface ServerAddress {
  /** `http://host:3080` or `https://…`. */
  readonly url: string;
  readonly user?: string;
  readonly password?: string;
  /** Name of the client that changes something, for the history of projects (default: the user). */
  readonly client?: string;
}

/** An answer that is no success, with the server's sentence; `status` 0: there was no answer. */
export class PatchbayError extends Error {
  override readonly name = 'PatchbayError';
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

type Given<O extends { path: unknown; query: unknown; body: unknown }> = ([O['path']] extends [never]
  ? { readonly path?: undefined }
  : { readonly path: O['path'] }) &
  ([O['query']] extends [never] ? { readonly query?: undefined } : { readonly query?: O['query'] }) &
  ([O['body']] extends [never] ? { readonly body?: undefined } : { readonly body?: O['body'] }) & { readonly signal?: AbortSignal };

/** Nothing need be given where there are no parameters of the path. */
type Arguments<K extends keyof Operations> = [Operations[K]['path']] extends [never]
  ? [given?: Given<Operations[K]>]
  : [given: Given<Operations[K]>];

interface PlainGiven {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export class Api {
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ url, user, password = '', client }: ServerAddress) {
    this.url = url.replace(/\/+$/, '');
    this.#headers = {
      ...(user !== undefined && { authorization: `Basic ${base64(`${user}:${password}`)}` }),
      ...(client !== undefined && { 'x-patchbay-client': client }),
    };
  }

  /**
   * Calls an operation: `api.call('GET /v2/projects/{project_id}', { path: { project_id } })`. JSON is parsed, other answers are bytes.
   * @throws PatchbayError
   */
  async call<K extends keyof Operations>(operation: K, ...[given]: Arguments<K>): Promise<Operations[K]['answer']> {
    const answer = await this.send(operation, given as PlainGiven | undefined);
    const type = answer.headers.get('content-type') ?? '';
    if (type.startsWith('application/json')) return (await answer.json()) as Operations[K]['answer'];
    const bytes = new Uint8Array(await answer.arrayBuffer());
    return (bytes.length === 0 ? undefined : bytes) as Operations[K]['answer'];
  }

  /** The answer, unread: for streams. @throws PatchbayError */
  async send(operation: keyof Operations, given: PlainGiven = {}): Promise<Response> {
    const [method = 'GET', template = '/'] = operation.split(' ');
    const path = template.replaceAll(/\{([^}]*)\}/g, (_, name: string) => {
      const value = given.path?.[name];
      if (value === undefined) throw new TypeError(`${operation} needs ${name}`);
      return value.split('/').map(encodeURIComponent).join('/');
    });
    const query = Object.entries(given.query ?? {}).flatMap(([name, value]) =>
      value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`],
    );
    return this.#fetch(`${this.url}${path}${query.length > 0 ? `?${query.join('&')}` : ''}`, method, given);
  }

  async #fetch(url: string, method: string, { body, signal }: PlainGiven): Promise<Response> {
    const isBytes = body instanceof Uint8Array;
    const content = body === undefined ? undefined : isBytes ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body);
    let answer: Response;
    try {
      answer = await fetch(url, {
        method,
        headers: {
          ...this.#headers,
          ...(content !== undefined && { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' }),
        },
        ...(content !== undefined && { body: content }),
        ...(signal && { signal }),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new PatchbayError(0, `No answer from ${this.url}`, { cause: error });
    }
    if (answer.ok) return answer;
    throw new PatchbayError(answer.status, messageOf(await answer.text(), answer.status));
  }
}

function messageOf(text: string, status: number): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // The text is not an answer of Patchbay.
  }
  return `The server answered with status ${status}`;
}

function base64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}
