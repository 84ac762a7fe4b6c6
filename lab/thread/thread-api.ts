/** The server's API inside a thread: requests are messages to the server. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Method } from '../../src/api/route.ts';
import { isMissing, type LabApi } from '../state/lab-api.ts';
import type { ThreadAnswer, ThreadRequest } from './lab-job.ts';
import type { ThreadWire } from './thread-wires.ts';

/** A failed request. The server finds the original error by the request's id. */
export class FailedRequest extends Error {
  readonly status: number;
  readonly request: number;
  constructor(message: string, status: number, request: number) {
    super(message);
    this.status = status;
    this.request = request;
  }
}

export class ThreadApi implements LabApi {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, (answer: ThreadAnswer) => void>();
  #requests = 0;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (answer: ThreadAnswer) => {
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
  }

  async json<T>(method: Method, path: string, body?: unknown): Promise<T> {
    const text = await this.#read(method, path, body === undefined ? undefined : Buffer.from(JSON.stringify(body)));
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

  /** Opens a console or a long answer of the API. */
  protected connect(path: string, how: ThreadWire['how']): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#port.postMessage({ wire: { path, how, port: port2 } satisfies ThreadWire }, [port2]);
    return port1;
  }

  async #read(method: Method, path: string, body?: Uint8Array): Promise<string> {
    this.#requests += 1;
    const id = this.#requests;
    const answered = new Promise<ThreadAnswer>((resolve) => this.#waiting.set(id, resolve));
    this.#port.postMessage({ id, method, path, body } satisfies ThreadRequest);
    const answer = await answered;
    if ('error' in answer) throw new FailedRequest(answer.error.message, answer.error.status, id);
    return Buffer.from(answer.body).toString();
  }
}
