/** Requests to a Kubernetes API server: objects, lists in pages, and watches as lines. */
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { Agent, Dispatcher } from 'undici';
import { LineSplitter } from '../../../lib/line-splitter.ts';
import { EngineError } from '../engine.ts';
import type { KubeAccess } from './kube-access.ts';
import type { KubeList, KubeObject, KubeStatus, WatchEvent } from './kube-objects.ts';

const timeoutMs = 20_000;
/** Size limit of an answer in bytes; etcd takes objects of 1.5 MiB, and a page has 100 of them at most. */
const longestAnswer = 32 << 20;
const pageSize = 100;
/** Pages of one list; a server that never comes to an end is given up. */
const mostPages = 1_000;
/** The server ends a watch after this time; bookmarks keep its place. */
const watchSeconds = 240;
const tokenAgeMs = 60_000;

/** The API server refused. `status` is that of HTTP; 0: it did not answer. */
export class KubeError extends EngineError {
  readonly status: number;
  /** Reason of the server for machines, such as `AlreadyExists`. */
  readonly word: string;

  constructor(
    message: string,
    { status = 0, word = '', ...options }: ErrorOptions & { status?: number; word?: string; isFinal?: boolean } = {},
  ) {
    super(message, options);
    this.status = status;
    this.word = word;
  }
}

type KubeMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

interface KubeRequest {
  readonly body?: object;
  readonly signal?: AbortSignal;
  /** Milliseconds without a byte; default 20 s. */
  readonly idleMs?: number;
}

export class KubeClient {
  readonly #open: () => Promise<KubeAccess>;
  #access: Promise<KubeAccess> | undefined;
  #agent: Promise<Agent> | undefined;
  #token: { readonly text: string; readonly readAt: number } | undefined;

  /** `open` is called with the first request, and again after it failed. Paths without a slash in front are of the namespace. */
  constructor(open: () => Promise<KubeAccess>) {
    this.#open = open;
  }

  /** @throws KubeError */
  async call<T = KubeObject>(method: KubeMethod, path: string, body?: object): Promise<T> {
    const answer = await this.#request(method, path, { ...(body && { body }), signal: AbortSignal.timeout(timeoutMs) });
    return (await readJson(answer)) as T;
  }

  /** All pages of a list, and the version from which a watch continues. */
  async list<T extends KubeObject>(path: string, selector: string): Promise<{ items: T[]; version: string }> {
    const items: T[] = [];
    let next = '';
    for (let page = 0; page < mostPages; page++) {
      const query = new URLSearchParams({
        limit: String(pageSize),
        ...(selector && { labelSelector: selector }),
        ...(next && { continue: next }),
      });
      const list = await this.call<KubeList<T>>('GET', `${path}?${query}`);
      if (!Array.isArray(list.items)) throw new KubeError(`The API server listed ${path} without items`);
      items.push(...list.items);
      next = list.metadata?.continue ?? '';
      if (next === '') return { items, version: list.metadata?.resourceVersion ?? '' };
    }
    throw new KubeError(`The API server lists ${path} in more than ${mostPages} pages`);
  }

  /**
   * Calls `onEvent` until the server ends the watch, `signal` aborts, or `onEvent` throws.
   * @throws KubeError when it cannot begin or breaks off
   */
  async watch(
    path: string,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
    onEvent: (event: WatchEvent) => void,
  ): Promise<void> {
    const all = new URLSearchParams({ ...query, watch: '1', allowWatchBookmarks: 'true', timeoutSeconds: String(watchSeconds) });
    const answer = await this.#request('GET', `${path}?${all}`, { signal, idleMs: (watchSeconds + 30) * 1000 });
    if (answer.statusCode >= 300) await readJson(answer);
    const lines = new LineSplitter((line) => onEvent(eventOf(line)));
    try {
      for await (const chunk of answer.body) {
        if (!lines.add(chunk as Buffer)) throw new KubeError('The API server sent an event that is too long');
      }
    } catch (cause) {
      if (signal.aborted) return;
      throw cause instanceof EngineError ? cause : new KubeError(`The watch broke off: ${(cause as Error).message}`, { cause });
    }
  }

  async close(): Promise<void> {
    await (await this.#agent)?.destroy();
  }

  async #request(method: KubeMethod, path: string, options: KubeRequest): Promise<Dispatcher.ResponseData> {
    const { body, signal, idleMs = timeoutMs } = options;
    const { request } = await import('undici');
    const access = await this.#opened();
    this.#agent ??= makeAgent(access);
    const full = path.startsWith('/') ? path : `/api/v1/namespaces/${encodeURIComponent(access.namespace)}/${path}`;
    try {
      const token = await this.#currentToken(access);
      return await request(`${access.origin}${full}`, {
        method,
        dispatcher: await this.#agent,
        headersTimeout: timeoutMs,
        bodyTimeout: idleMs,
        ...(signal && { signal }),
        headers: {
          accept: 'application/json',
          'user-agent': 'patchbay',
          ...(body && { 'content-type': 'application/json' }),
          ...(token !== '' && { authorization: `Bearer ${token}` }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
    } catch (cause) {
      throw new KubeError(`The API server at ${access.socketPath ?? access.origin} does not answer: ${(cause as Error).message}`, {
        cause,
      });
    }
  }

  #opened(): Promise<KubeAccess> {
    this.#access ??= this.#open().catch((error: unknown) => {
      this.#access = undefined;
      throw error;
    });
    return this.#access;
  }

  async #currentToken({ tokenFile }: KubeAccess): Promise<string> {
    if (tokenFile === undefined) return '';
    if (!this.#token || performance.now() - this.#token.readAt > tokenAgeMs)
      this.#token = { text: (await readFile(tokenFile, 'utf8')).trim(), readAt: performance.now() };
    return this.#token.text;
  }
}

async function makeAgent({ socketPath, authority }: KubeAccess): Promise<Agent> {
  const { Agent } = await import('undici');
  return new Agent({
    connect: {
      timeout: 5_000,
      keepAlive: true,
      ...(socketPath !== undefined && { socketPath }),
      ...(authority !== undefined && { ca: authority }),
    },
  });
}

function eventOf(line: string): WatchEvent {
  const event = parseObject(line) as unknown as WatchEvent;
  if (typeof event.type !== 'string' || typeof event.object !== 'object' || event.object === null)
    throw new KubeError('The API server sent something that is no event');
  return event;
}

async function readJson({ statusCode, body }: Dispatcher.ResponseData): Promise<KubeObject> {
  const value = parseObject(await readText(body));
  if (statusCode < 300) return value;
  const { message = `status ${statusCode}`, reason = '' } = value as KubeStatus;
  const isQuota = /exceeded quota/.test(message);
  throw new KubeError(`Kubernetes refuses: ${String(message).slice(0, 800)}`, {
    status: statusCode,
    word: String(reason),
    // A quota may have room again.
    isFinal: [400, 403, 404, 422].includes(statusCode) && !isQuota,
  });
}

async function readText(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += (chunk as Buffer).length;
      if (size > longestAnswer) throw new KubeError(`The API server answered more than ${longestAnswer >> 20} MiB`);
      chunks.push(chunk as Buffer);
    }
  } catch (cause) {
    throw cause instanceof EngineError ? cause : new KubeError(`The API server broke off: ${(cause as Error).message}`, { cause });
  }
  return Buffer.concat(chunks).toString();
}

function parseObject(text: string): KubeObject {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as KubeObject;
  } catch {
    // The message below says it.
  }
  throw new KubeError(`The API server answered something that is no JSON object: ${text.slice(0, 200)}`);
}
