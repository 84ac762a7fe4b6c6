/** A client of a local or remote server over HTTP or HTTPS. */

import type { LabApi } from '../lab/state/lab-api.ts';
import type { Method } from '../src/api/route.ts';

/** An unsuccessful answer, with the server's message. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  /** HTTP status; 0 without an answer. */
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

export interface ServerAddress {
  /** `http://host:port`, without credentials. */
  readonly url: string;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** Name of the requester, for the history of projects. Default: the user. */
  readonly client?: string;
}

/** Longest wait for an answer: nodes may boot, or images be copied, first. Milliseconds. */
const answerLimitMs = 1_200_000;

export class ServerClient implements LabApi {
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #signal: AbortSignal | undefined;

  readonly #address: ServerAddress;

  constructor(address: ServerAddress, signal?: AbortSignal) {
    const { url, user, password, client } = address;
    this.#address = address;
    this.url = url.replace(/\/+$/, '');
    this.#signal = signal;
    const token = user === undefined ? undefined : Buffer.from(`${user}:${password ?? ''}`).toString('base64');
    this.#headers = {
      'user-agent': 'patchbay-cli',
      ...(token && { authorization: `Basic ${token}` }),
      ...(client !== undefined && { 'x-patchbay-client': client }),
    };
  }

  /** Returns a client without the signal, for requests that must be made after Ctrl-C. */
  withoutSignal(): ServerClient {
    return new ServerClient(this.#address);
  }

  async json<T>(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    const answer = await this.send(method, path, body === undefined ? undefined : JSON.stringify(body), signal);
    const text = await answer.text();
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  async text(path: string): Promise<string | undefined> {
    try {
      return await (await this.send('GET', path)).text();
    } catch (error) {
      if (error instanceof RequestError && error.status === 404) return undefined;
      throw error;
    }
  }

  async upload(path: string, text: string): Promise<void> {
    await (await this.send('POST', path, text)).arrayBuffer();
  }

  /** Sends a request and returns the unread answer. @throws RequestError */
  async send(method: Method, path: string, body?: string, signal?: AbortSignal): Promise<Response> {
    const answer = await this.#fetch(method, path, body, signal);
    if (answer.ok) return answer;
    const text = await answer.text().catch(() => '');
    throw new RequestError(answer.status, this.#explain(answer.status, text));
  }

  async #fetch(method: Method, path: string, body: string | undefined, signal = this.#signal): Promise<Response> {
    const limit = AbortSignal.timeout(answerLimitMs);
    try {
      return await fetch(`${this.url}${path}`, {
        method,
        headers: { ...this.#headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body }),
        signal: AbortSignal.any([limit, ...(this.#signal ? [this.#signal] : []), ...(signal ? [signal] : [])]),
      });
    } catch (error) {
      if (this.#signal?.aborted || signal?.aborted) throw error;
      throw new RequestError(0, `No answer from ${this.url}: ${reasonOf(error)}. Start a server, or set PATCHBAY_URL`, {
        cause: error,
      });
    }
  }

  #explain(status: number, text: string): string {
    if (status === 401)
      return `${this.url} needs a user and a password: set PATCHBAY_USER and PATCHBAY_PASSWORD, or write them to the netrc file`;
    try {
      const { message } = JSON.parse(text) as { message?: unknown };
      if (typeof message === 'string') return message;
    } catch {
      // The answer is not Patchbay's.
    }
    return `${this.url} answered with status ${status}`;
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || String((cause as NodeJS.ErrnoException).code ?? cause.name);
}
