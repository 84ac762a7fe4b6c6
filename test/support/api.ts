/** A small HTTP client for tests: JSON in and out, bodies on any method, the answer as it came. */
import { Agent, request } from 'undici';

export type JsonObject = Record<string, unknown>;

export interface Answer<T = JsonObject> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON, taken at its word; undefined when it is empty or no JSON. */
  readonly json: T;
}

export interface CallOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

export interface Api {
  readonly url: string;
  get<T = JsonObject>(path: string, body?: unknown): Promise<Answer<T>>;
  post<T = JsonObject>(path: string, body?: unknown): Promise<Answer<T>>;
  put<T = JsonObject>(path: string, body?: unknown): Promise<Answer<T>>;
  delete<T = JsonObject>(path: string, body?: unknown): Promise<Answer<T>>;
  call<T = JsonObject>(method: string, path: string, options?: CallOptions): Promise<Answer<T>>;
  close(): Promise<void>;
}

/** `path` begins with `/v2`. */
export function api(url: string): Api {
  const dispatcher = new Agent({ headersTimeout: 120_000, bodyTimeout: 120_000 });
  async function call<T>(method: string, path: string, { body, raw, headers = {} }: CallOptions = {}): Promise<Answer<T>> {
    const payload = raw ?? (body === undefined ? null : JSON.stringify(body));
    const type = raw === undefined && payload !== null ? { 'content-type': 'application/json' } : {};
    const answer = await request(`${url}${path}`, { method, dispatcher, body: payload, headers: { ...type, ...headers } });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, text, json: parsed(text) as T };
  }
  return {
    url,
    call,
    get: (path, body) => call('GET', path, { body }),
    post: (path, body) => call('POST', path, { body }),
    put: (path, body) => call('PUT', path, { body }),
    delete: (path, body) => call('DELETE', path, { body }),
    close: () => dispatcher.destroy(),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
