/** The HTTP API of a server, with its credentials. */
import { type Dispatcher, request, WebSocket } from 'undici';
import type { Method } from '../../../api/route.ts';
import type { ConsoleSocket } from '../console/console-connection.ts';
import { type CheckApi, RequestError } from './check-api.ts';

export interface ServerAccess {
  /** Such as `http://127.0.0.1:3080`. */
  readonly url: string;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
}

/** For an answer that does not come. Nodes may take long to start. */
const answerLimitMs = 300_000;

export class HttpApi implements CheckApi {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ url, user, password = '' }: ServerAccess) {
    this.#base = url.replace(/\/+$/, '');
    const credentials = Buffer.from(`${user}:${password}`).toString('base64');
    this.#headers = { 'x-patchbay-client': 'patchbay', ...(user !== undefined && { authorization: `Basic ${credentials}` }) };
  }

  async json<T = unknown>(method: Method, path: string, body?: unknown): Promise<T> {
    const answer = await this.#request(method, path, {
      ...(body !== undefined && { body: JSON.stringify(body), type: 'application/json' }),
    });
    const text = await answer.body.text();
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  async text(path: string): Promise<string | undefined> {
    try {
      return await (await this.#request('GET', path)).body.text();
    } catch (error) {
      if (error instanceof RequestError && error.status === 404) return undefined;
      throw error;
    }
  }

  async upload(path: string, text: string): Promise<void> {
    await (await this.#request('POST', path, { body: text, type: 'application/octet-stream' })).body.dump();
  }

  async stream(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return (await this.#request('GET', path, { signal, isEndless: true })).body;
  }

  socket(path: string, signal: AbortSignal): Promise<ConsoleSocket> {
    const url = `${this.#base.replace(/^http/, 'ws')}${path}`;
    const socket = new WebSocket(url, { headers: this.#headers });
    socket.binaryType = 'arraybuffer';
    return new Promise((resolve, reject) => {
      const fail = (reason: string) => reject(new RequestError(`the console ${path} could not be opened: ${reason}`));
      const abort = () => {
        socket.close();
        fail('it was ended');
      };
      signal.addEventListener('abort', abort, { once: true });
      const opened = new OpenSocket(socket);
      socket.addEventListener('open', () => {
        signal.removeEventListener('abort', abort);
        resolve(opened);
      });
      socket.addEventListener('error', (event) => fail(event.message || 'the server refused it'));
      socket.addEventListener('close', (event) => fail(event.reason || `closed with ${event.code}`));
      if (signal.aborted) abort();
    });
  }

  async #request(method: Method, path: string, options: RequestOptions = {}): Promise<Dispatcher.ResponseData> {
    const { body, type, signal, isEndless = false } = options;
    let answer: Dispatcher.ResponseData;
    try {
      answer = await request(`${this.#base}${path}`, {
        method,
        headers: { ...this.#headers, ...(type !== undefined && { 'content-type': type }) },
        headersTimeout: answerLimitMs,
        bodyTimeout: isEndless ? 0 : answerLimitMs,
        ...(body !== undefined && { body }),
        ...(signal && { signal }),
      });
    } catch (cause) {
      throw new RequestError(`${this.#base} did not answer ${method} ${path}: ${(cause as Error).message}`, undefined, { cause });
    }
    if (answer.statusCode < 400) return answer;
    const text = await answer.body.text();
    throw new RequestError(`${method} ${path}: ${messageOf(text) ?? `status ${answer.statusCode}`}`, answer.statusCode);
  }
}

interface RequestOptions {
  readonly body?: string;
  readonly type?: string;
  readonly signal?: AbortSignal;
  readonly isEndless?: boolean;
}

class OpenSocket implements ConsoleSocket {
  ended: string | undefined;
  readonly #socket: WebSocket;
  /** What came before there was a receiver. */
  #early: Uint8Array[] = [];
  #receive: ((bytes?: Uint8Array) => void) | undefined;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }: { data: unknown }) => {
      const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : Buffer.from(String(data));
      if (this.#receive) this.#receive(bytes);
      else this.#early.push(bytes);
    });
    socket.addEventListener('close', ({ reason }) => this.#end(reason || 'the server closed it'));
    socket.addEventListener('error', () => this.#end('the connection was lost'));
  }

  set onReceive(receive: (bytes?: Uint8Array) => void) {
    this.#receive = receive;
    for (const bytes of this.#early.splice(0)) receive(bytes);
    if (this.ended !== undefined) receive();
  }

  send(bytes: Uint8Array): void {
    this.#socket.send(bytes);
  }

  close(): void {
    this.#socket.close();
  }

  #end(reason: string): void {
    this.ended ??= reason;
    this.#receive?.();
  }
}

function messageOf(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}
