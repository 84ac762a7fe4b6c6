/** The Engine's HTTP API over its Unix socket. @see docs.docker.com/engine/api, 1.40 and later */
import type { Duplex } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import { fault } from '../../api/faults.ts';
import { request } from '../../lib/node-http.ts';

const oldestApi = [1, 40] as const;
const findMs = 30_000;

export interface ContainerState {
  readonly Id: string;
  readonly State: { readonly Running: boolean; readonly Paused: boolean; readonly Pid: number; readonly ExitCode: number };
  readonly Config: { readonly Labels: Record<string, string> | null };
}
export interface DockerImage {
  readonly Config: {
    readonly Entrypoint: readonly string[] | null;
    readonly Cmd: readonly string[] | null;
    readonly User: string;
    readonly Volumes: Readonly<Record<string, object>> | null;
  } | null;
}

export class DockerEngine {
  readonly #socketPath: string;
  #pool: Promise<Pool> | undefined;
  #checked: Promise<void> | undefined;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /** @throws docker_engine_missing, docker_failed when it is too old */
  check(): Promise<void> {
    this.#checked ??= this.#check().catch((error) => {
      this.#checked = undefined;
      throw error;
    });
    return this.#checked;
  }

  async get<T>(path: string): Promise<T> {
    return JSON.parse(await this.text(path)) as T;
  }

  text(path: string): Promise<string> {
    return this.#text('GET', path);
  }

  /** Undefined when there is no such thing. An engine that does not answer keeps no server from starting. */
  async find<T>(path: string): Promise<T | undefined> {
    const { status, text } = await this.#ask('GET', path, undefined, AbortSignal.timeout(findMs));
    if (status === 404) return undefined;
    if (status >= 400) throw refused(text);
    return JSON.parse(text) as T;
  }

  /** Answers what the engine does; that there was nothing to do (304) is success. */
  async post<T = unknown>(path: string, body?: object, signal?: AbortSignal): Promise<T> {
    const text = await this.#text('POST', path, body, signal);
    return (text.trim() === '' ? undefined : JSON.parse(text)) as T;
  }

  /** Deletes an object of the engine; an object that does not exist counts as deleted. */
  async delete(path: string): Promise<void> {
    const { status, text } = await this.#ask('DELETE', path);
    if (status >= 400 && status !== 404) throw refused(text);
  }

  /** Each JSON line of an answer as it comes. A refusal is one, too, with the key `error`. @throws docker_engine_missing, also half-way */
  async follow(path: string, onLine: (line: Record<string, unknown>) => void): Promise<void> {
    const { statusCode, body } = await this.#request('POST', path);
    if (statusCode >= 400) return onLine({ error: wordsOf(await body.text()) });
    let rest = '';
    try {
      for await (const text of body.setEncoding('utf8')) {
        const lines = `${rest}${text}`.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if (line.trim() !== '') onLine(JSON.parse(line) as Record<string, unknown>);
      }
    } catch (error) {
      throw this.#unreachable(error as Error);
    }
  }

  /** The two directions of a container's terminal, or of a command in it. */
  attach(path: string, body?: object): Promise<Duplex> {
    const text = JSON.stringify(body ?? {});
    const headers = {
      connection: 'Upgrade',
      upgrade: 'tcp',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    };
    return new Promise((resolve, reject) => {
      const asked = request({ socketPath: this.#socketPath, method: 'POST', path, headers });
      asked.once('upgrade', (_answer, socket, head) => {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      });
      asked.once('response', (answer) => {
        answer.resume();
        reject(refused(`status ${answer.statusCode}`));
      });
      asked.once('error', (error) => reject(this.#unreachable(error)));
      asked.end(text);
    });
  }

  async #check(): Promise<void> {
    const { ApiVersion } = JSON.parse(await this.#text('GET', '/version')) as { ApiVersion: string };
    const [major = 0, minor = 0] = ApiVersion.split('.').map(Number);
    if (major < oldestApi[0] || (major === oldestApi[0] && minor < oldestApi[1])) {
      throw fault('docker_failed', { reason: `The Docker engine speaks API ${ApiVersion}: ${oldestApi.join('.')} is needed` });
    }
  }

  async #text(method: 'GET' | 'POST', path: string, body?: object, signal?: AbortSignal): Promise<string> {
    const answer = await this.#ask(method, path, body, signal);
    if (answer.status >= 400) throw refused(answer.text);
    return answer.text;
  }

  /** The whole answer. */
  async #ask(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: object,
    signal?: AbortSignal,
  ): Promise<{ status: number; text: string }> {
    const answer = await this.#request(method, path, body, signal);
    try {
      return { status: answer.statusCode, text: await answer.body.text() };
    } catch (error) {
      throw this.#unreachable(error as Error);
    }
  }

  async #request(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: object,
    signal?: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const content = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    try {
      return await (await this.#connections()).request({ method, path, ...content, ...(signal && { signal }) });
    } catch (error) {
      throw this.#unreachable(error as Error);
    }
  }

  /** Loaded at first use. Requests may take as long as a container runs, or an image takes to come. */
  #connections(): Promise<Pool> {
    this.#pool ??= import('undici').then(({ Pool }) => {
      return new Pool('http://docker', { socketPath: this.#socketPath, headersTimeout: 0, bodyTimeout: 0 });
    });
    return this.#pool;
  }

  #unreachable(error: Error & { code?: string }): Error {
    return fault('docker_engine_missing', { socket: this.#socketPath, reason: error.code ?? error.message }, { cause: error });
  }
}

function refused(text: string): Error {
  return fault('docker_failed', { reason: `The Docker engine refused: ${wordsOf(text)}` });
}

/** The engine's own words. */
function wordsOf(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text.trim();
  } catch {
    // The text is not JSON and is shown as it is.
    return text.trim();
  }
}
