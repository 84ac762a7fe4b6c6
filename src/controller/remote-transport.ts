/**
 * A compute elsewhere: its API over HTTP, its events over a WebSocket.
 *
 * Theory of operation. Disconnected → (capabilities asked, version compared, WebSocket open) → connected → (WebSocket ends)
 * → disconnected, and again after a second; after a failed attempt, after five. Any call on a disconnected compute first connects.
 * A compute that answers but cannot be used (version, credentials) is not asked again in the background.
 */
import type { Readable } from 'node:stream';
import type { Agent, Dispatcher, request, WebSocket } from 'undici';
import { type Fault, fault, isFault } from '../api/faults.ts';
import { fill, requestOf } from '../api/local-transport.ts';
import type { Method, RouteKey } from '../api/route.ts';
import type { ComputeAnswer, ComputeCall, ComputeEvent, Join, RawAnswer, Transport, TransportState } from '../api/transport.ts';
import { EventStream } from '../lib/event-stream.ts';
import type { Compute } from '../schema/compute.ts';
import { acceptRemoteSocket } from './remote-socket.ts';

export interface RemoteAddress {
  readonly name: string;
  readonly protocol: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  readonly user: string | null;
  readonly password: string | null;
}

const defaultTimeoutMs = 120_000;
const connectTimeoutMs = 5_000;
const retryMs = 5_000;
const reconnectMs = 1_000;
/** Computes say something every second; one that is silent this long is gone. */
const silenceMs = 15_000;

/** Loaded with the first call to another compute: most servers have none, and it is a tenth of their start. */
interface Library {
  readonly agent: Agent;
  readonly request: typeof request;
  readonly WebSocket: typeof WebSocket;
}

async function loadLibrary(): Promise<Library> {
  const { Agent, request, WebSocket } = await import('undici');
  return { agent: new Agent({ connect: { timeout: connectTimeoutMs } }), request, WebSocket };
}

export class RemoteTransport implements Transport {
  #state: TransportState = Object.freeze({ connected: false, capabilities: { version: null, node_types: [] }, lastError: null });
  readonly #address: RemoteAddress;
  readonly #version: string;
  #loading: Promise<Library> | undefined;
  readonly #events = new EventStream<ComputeEvent>();
  readonly #states = new EventStream<TransportState>();
  #connecting: Promise<void> | undefined;
  #socket: WebSocket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(address: RemoteAddress, version: string) {
    this.#address = address;
    this.#version = version;
  }

  get state(): TransportState {
    return this.#state;
  }

  connect(): Promise<void> {
    if (this.#state.connected) return Promise.resolve();
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async call<T>(key: RouteKey, { path = {}, body, timeoutMs = defaultTimeoutMs }: ComputeCall = {}): Promise<ComputeAnswer<T>> {
    await this.connect();
    const [method] = key.split(' ') as [Method];
    const isEmpty = body === undefined || (typeof body === 'object' && body !== null && Object.keys(body).length === 0);
    const text = isEmpty ? null : JSON.stringify(body);
    const answer = await this.#request(method, fill(key, path), { body: text, timeoutMs, what: requestOf(key, path) });
    const content = await answer.body.text();
    if (content === '') return { status: answer.statusCode, body: undefined as T };
    try {
      return { status: answer.statusCode, body: JSON.parse(content) as T };
    } catch {
      throw fault('compute_refused', { name: this.#address.name, reason: `its answer to ${requestOf(key, path)} is not JSON` });
    }
  }

  async raw(method: Method, path: string, body?: Readable | Uint8Array): Promise<RawAnswer> {
    await this.connect();
    const what = `${method} ${path.replace(/^\/v2\/compute/, '')}`;
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    const answer = await this.#request(method, encoded, { body: body ?? null, timeoutMs: 0, what });
    const headers = Object.entries(answer.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]);
    return { status: answer.statusCode, headers: Object.fromEntries(headers), body: answer.body };
  }

  /** Why a compute refuses does not pass its WebSocket library: the fault says only that it did. */
  async socket(path: string, signal: AbortSignal): Promise<Join> {
    await this.connect();
    const { agent, WebSocket } = await this.#library();
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    const upstream = new WebSocket(this.#socketUrl(encoded), { dispatcher: agent, headers: this.#headers() });
    return acceptRemoteSocket(upstream, signal).catch((error: Error) => {
      throw this.#unreachable(`GET ${path.replace(/^\/v2\/compute/, '')}`, error.message, error);
    });
  }

  events(listener: (event: ComputeEvent) => void): () => void {
    return this.#events.subscribe(listener);
  }

  onState(listener: (state: TransportState) => void): () => void {
    return this.#states.subscribe(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
    await (await this.#loading)?.agent.destroy();
  }

  async #connect(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      const answer = await this.#request('GET', '/v2/compute/capabilities', {
        body: null,
        timeoutMs: retryMs,
        what: 'GET /capabilities',
      });
      const capabilities = this.#check(await answer.body.text());
      await this.#listen();
      this.#set({ connected: true, capabilities, lastError: null });
    } catch (error) {
      const isAway = isFault(error, 'compute_unreachable') || isFault(error, 'compute_timeout');
      const reason = isAway || !isFault(error) ? error : this.#refused(error);
      this.#set({ ...this.#state, connected: false, lastError: (reason as Error).message });
      if (isAway) this.#later(retryMs);
      throw reason;
    }
  }

  /** The compute answered, and not with what was asked for. */
  #refused(error: Fault): Fault {
    if (error.code === 'compute_refused') return error;
    const reason = error.code === 'compute_route_missing' ? 'it is not a server of this API' : error.message;
    return fault('compute_refused', { name: this.#address.name, reason }, { cause: error });
  }

  #check(text: string): Compute['capabilities'] {
    const refuse = (reason: string) => fault('compute_refused', { name: this.#address.name, reason });
    let given: Partial<Compute['capabilities']>;
    try {
      given = JSON.parse(text) ?? {};
    } catch {
      throw refuse('it is not a server of this API');
    }
    if (typeof given.version !== 'string') throw refuse('it does not say its version');
    if (stable(given.version) !== stable(this.#version))
      throw refuse(`its version is ${given.version}, this server has ${this.#version}`);
    return Object.freeze({ ...given, version: given.version, node_types: given.node_types ?? [] });
  }

  async #listen(): Promise<void> {
    const { agent, WebSocket } = await this.#library();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const socket = new WebSocket(this.#socketUrl('/v2/compute/notifications/ws'), { dispatcher: agent, headers: this.#headers() });
    const silence = setTimeout(() => socket.close(), silenceMs).unref();
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('message', ({ data }) => {
      silence.refresh();
      if (typeof data === 'string') this.#receive(data);
    });
    socket.addEventListener('error', () => reject(this.#unreachable('GET /notifications/ws', 'the connection failed')));
    socket.addEventListener('close', () => {
      clearTimeout(silence);
      reject(this.#unreachable('GET /notifications/ws', 'the connection was closed'));
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#set({ ...this.#state, connected: false });
      this.#later(reconnectMs);
    });
    this.#socket = socket;
    await promise;
  }

  #receive(text: string): void {
    try {
      const { action, event, project_id } = JSON.parse(text) as ComputeEvent;
      if (typeof action === 'string') this.#events.emit({ action, event, project_id });
    } catch {
      // What is not JSON is no event.
    }
  }

  #library(): Promise<Library> {
    this.#loading ??= loadLibrary();
    return this.#loading;
  }

  #later(delayMs: number): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.connect().catch(() => undefined), delayMs).unref();
  }

  #set(state: TransportState): void {
    const { connected, lastError } = this.#state;
    this.#state = Object.freeze(state);
    if (state.connected !== connected || state.lastError !== lastError) this.#states.emit(this.#state);
  }

  async #request(
    method: Method,
    path: string,
    { body, timeoutMs, what }: { body: string | Readable | Uint8Array | null; timeoutMs: number; what: string },
  ): Promise<Dispatcher.ResponseData> {
    const { agent, request } = await this.#library();
    let answer: Dispatcher.ResponseData;
    try {
      answer = await request(`${this.#origin()}${path}`, {
        method,
        body,
        dispatcher: agent,
        headers: { ...this.#headers(), ...(body !== null && { 'content-type': contentType(body) }) },
        headersTimeout: 0,
        bodyTimeout: 0,
        ...(timeoutMs > 0 && { signal: AbortSignal.timeout(timeoutMs) }),
      });
    } catch (error) {
      const isTimeout = (error as Error).name === 'TimeoutError';
      throw this.#unreachable(what, isTimeout ? `no answer within ${timeoutMs / 1000} s` : (error as Error).message, error);
    }
    if (answer.statusCode < 300) return answer;
    throw this.#faultOf(answer.statusCode, await answer.body.text(), what);
  }

  #unreachable(what: string, reason: string, cause?: unknown): Fault {
    return fault('compute_unreachable', { name: this.#address.name, request: what, reason }, { cause });
  }

  #faultOf(status: number, text: string, request: string): Fault {
    const { name } = this.#address;
    const message = messageOf(text);
    if (status === 400) return fault('compute_bad_request', { request, message: text });
    if (status === 401) return fault('compute_unauthorized', { name });
    if (status === 403) return fault('compute_forbidden', { message });
    if (status === 404) return fault('compute_route_missing', { request });
    if (status === 408 || status === 504) return fault('compute_timeout', { name, request });
    if (status === 409) return fault('compute_said', { message });
    if (status === 503) return fault('compute_busy', { name, request, message });
    return fault('compute_failed', { name, request, message });
  }

  #origin(): string {
    const { protocol, host, port } = this.#address;
    const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
    return `${protocol}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
  }

  #socketUrl(path: string): string {
    return `${this.#origin().replace(/^http/, 'ws')}${path}`;
  }

  #headers(): Record<string, string> {
    const { user, password } = this.#address;
    return user === null ? {} : { authorization: `Basic ${Buffer.from(`${user}:${password ?? ''}`).toString('base64')}` };
  }
}

function contentType(body: string | Readable | Uint8Array): string {
  return typeof body === 'string' ? 'application/json' : 'application/octet-stream';
}

/** Versions are compared without what follows the first dash. */
function stable(version: string): string {
  return version.split('-', 1)[0] ?? '';
}

function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : text;
  } catch {
    return text;
  }
}
