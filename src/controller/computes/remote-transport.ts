/**
 * A remote compute: its API over HTTP, its events over a WebSocket.
 *
 * Theory of operation. Disconnected → (capabilities asked, version compared, WebSocket open) → connected → (WebSocket ends)
 * → disconnected, and retried with exponential backoff (1 s to 5 s). Any call on a disconnected compute first connects.
 * A compute that answers but cannot be used (version, credentials) is not asked again in the background.
 */
import type { Readable } from 'node:stream';
import type { Dispatcher, WebSocket } from 'undici';
import type { CallArguments, KeyOf, ReplyOfKey } from '../../api/client.ts';
import { type Fault, fault, isFault } from '../../api/faults.ts';
import { fill, requestOf } from '../../api/local-transport.ts';
import type { Method, RouteKey } from '../../api/route.ts';
import type { ComputeCall, ComputeEvent, Join, RawAnswer, Transport, TransportState } from '../../api/transport.ts';
import type { ComputeApi } from '../../compute/api.ts';
import { EventStream } from '../../lib/event-stream.ts';
import { Retry } from '../../lib/retry.ts';
import type { ComputeObject } from '../../schema/compute.ts';
import type { TSchema } from '../../schema/type.ts';
import { answerText, capabilitiesOf, checkReply, faultOfAnswer, makeEventReader } from './remote-answers.ts';
import { type RemoteAddress, RemoteConnections, type RemoteRequest } from './remote-connections.ts';
import { acceptRemoteSocket } from './remote-socket.ts';

const defaultTimeoutMs = 120_000;
const events = 'GET /notifications/ws';
/** A compute whose host answers has this long to say its capabilities, and again for its WebSocket: it may be slow. */
const attemptMs = 20_000;
const retryTimes = { firstMs: 1_000, longestMs: 5_000 };
/** A compute that answers but cannot be used needs its administrator: it is tried again at this interval. */
const refusedRetryMs = 30_000;
/** Computes say something every second. One that is silent this long hangs, though its host answers (`remote-connections.ts`). */
const silenceMs = 60_000;
/** An attempt that took longer failed for want of an answer: another one at once would keep the requester waiting as long. */
const promptMs = 1_000;

interface RemoteTransportOptions {
  /** Version of the GNS3 API that is spoken. */
  readonly version: string;
  /** The compute must have the same; otherwise the same major and minor number. */
  readonly sameVersion: boolean;
  readonly warn: (message: string) => void;
  /** Schemas of the replies, by the routes' keys without regular expressions. */
  readonly replies: ReadonlyMap<string, TSchema>;
}

interface RemoteRequestOptions extends RemoteRequest {
  /** 0: without a limit, and `signal` may end it. */
  readonly timeoutMs: number;
  /** Name of the request in messages. */
  readonly what: string;
}

export class RemoteTransport implements Transport<ComputeApi> {
  #state: TransportState = Object.freeze({ connected: false, capabilities: { version: null, node_types: [] }, lastError: null });
  readonly #address: RemoteAddress;
  readonly #options: RemoteTransportOptions;
  readonly #connections: RemoteConnections;
  readonly #events = new EventStream<ComputeEvent>();
  readonly #states = new EventStream<TransportState>();
  #connecting: Promise<void> | undefined;
  #socket: WebSocket | undefined;
  readonly #retry = new Retry(retryTimes, () => this.#connectNow().catch(() => undefined));
  /** Error of the last attempt when an earlier retry would be useless; kept until the next attempt. */
  #hopeless: Error | undefined;
  #closed = false;
  /** Why no connection is made. */
  #held: string | null = null;
  #epoch: number | null = null;

  constructor(address: RemoteAddress, options: RemoteTransportOptions) {
    this.#options = options;
    this.#address = address;
    this.#connections = new RemoteConnections(address, options.version);
  }

  get state(): TransportState {
    return this.#state;
  }

  connect(): Promise<void> {
    if (this.#state.connected) return Promise.resolve();
    if (this.#held !== null) return Promise.reject(this.#unreachable('GET /capabilities', this.#held));
    if (this.#hopeless) return Promise.reject(this.#hopeless);
    return this.#connectNow();
  }

  #connectNow(): Promise<void> {
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async call<K extends KeyOf<ComputeApi>>(key: K, ...[call]: CallArguments<ComputeApi, K>): Promise<ReplyOfKey<ComputeApi, K>> {
    const schema = this.#options.replies.get(key);
    const answer = await this.#call(key, call);
    const source = { name: this.#address.name, request: requestOf(key, call?.path ?? {}) };
    const text = await answerText(answer.body, source);
    // Answers of routes without a reply schema are not parsed.
    const reply = schema && (await checkReply(schema, { ...source, text }));
    return reply as ReplyOfKey<ComputeApi, K>;
  }

  async send<K extends KeyOf<ComputeApi>>(key: K, ...[call]: CallArguments<ComputeApi, K>): Promise<void> {
    await (await this.#call(key, call)).body.dump();
  }

  async #call(
    key: RouteKey,
    { path = {}, body, timeoutMs = defaultTimeoutMs, signal }: ComputeCall = {},
  ): Promise<Dispatcher.ResponseData> {
    // A request that waits for the connection was decided before: by what was known of the slice then.
    const epoch = this.#epoch;
    await this.connect();
    const [method] = key.split(' ') as [Method];
    const isEmpty = body === undefined || (typeof body === 'object' && body !== null && Object.keys(body).length === 0);
    const text = isEmpty ? null : JSON.stringify(body);
    const options = { body: text, timeoutMs, epoch, what: requestOf(key, path), ...(signal && { signal }) };
    return this.#request(method, fill(key, path), options);
  }

  async raw(method: Method, path: string, body?: Readable | Uint8Array, signal?: AbortSignal): Promise<RawAnswer> {
    const epoch = this.#epoch;
    await this.connect();
    const what = `${method} ${path.replace(/^\/v2\/compute/, '')}`;
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    const options = { body: body ?? null, timeoutMs: 0, epoch, what, ...(signal && { signal }) };
    const answer = await this.#request(method, encoded, options);
    const headers = Object.entries(answer.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]);
    return { status: answer.statusCode, headers: Object.fromEntries(headers), body: answer.body };
  }

  /** Opens a WebSocket. The WebSocket library does not report why a compute refuses, so the fault only says that it did. */
  async socket(path: string, signal: AbortSignal): Promise<Join> {
    await this.connect();
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    const upstream = await this.#connections.openSocket(encoded);
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

  hold(reason: string | null): void {
    if (this.#held === reason) return;
    this.#held = reason;
    if (reason === null) {
      this.#hopeless = undefined;
      this.connect().catch(() => undefined);
      return;
    }
    this.#retry.stop();
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    this.#connections.cut(reason);
    this.#set({ ...this.#state, connected: false, lastError: reason });
  }

  setEpoch(epoch: number | null): void {
    this.#epoch = epoch;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#retry.stop();
    this.#socket?.close();
    await this.#connections.close();
  }

  async #connect(): Promise<void> {
    this.#retry.stop();
    this.#hopeless = undefined;
    const begun = performance.now();
    try {
      const answer = await this.#request('GET', '/v2/compute/capabilities', {
        body: null,
        timeoutMs: attemptMs,
        epoch: this.#epoch,
        what: 'GET /capabilities',
      });
      const capabilities = this.#check(await answerText(answer.body, { name: this.#address.name, request: 'GET /capabilities' }));
      await this.#listen();
      if (this.#held !== null) throw this.#abandoned(this.#held);
      this.#retry.succeeded();
      this.#set({ connected: true, capabilities, lastError: null });
    } catch (error) {
      const isAway = isFault(error, 'compute_unreachable') || isFault(error, 'compute_timeout');
      const reason = isAway || !isFault(error) ? error : this.#refused(error);
      if (isAway && performance.now() - begun > promptMs) this.#hopeless = reason as Error;
      if (!this.#closed && this.#held === null) this.#retry.failed(isAway ? 0 : refusedRetryMs);
      this.#set({ ...this.#state, connected: false, lastError: this.#held ?? (reason as Error).message });
      throw reason;
    }
  }

  /** Closes a socket that was held while it connected, and returns the reason as an error. */
  #abandoned(reason: string): Fault {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    return this.#unreachable(events, reason);
  }

  /** The compute answered, but not as a compute does. */
  #refused(error: Fault): Fault {
    if (error.code === 'compute_refused') return error;
    const reason = error.code === 'compute_route_missing' ? 'it is not a server of this API' : error.message;
    return fault('compute_refused', { name: this.#address.name, reason }, { cause: error });
  }

  #check(text: string): ComputeObject['capabilities'] {
    const refuse = (reason: string) => fault('compute_refused', { name: this.#address.name, reason });
    const given = capabilitiesOf(text);
    if (!given) throw refuse('it is not a server of this API');
    if (given.version === null) throw refuse('it does not say its version');
    const { version, sameVersion, warn } = this.#options;
    if (stable(given.version) !== stable(version)) {
      const difference = `its version is ${given.version}, this server has ${version}`;
      if (series(given.version) !== series(version)) throw refuse(difference);
      if (sameVersion) throw refuse(`${difference}, and GNS3 demands the same; same_compute_version = False in [Server] allows it`);
      warn(`Compute '${this.#address.name}': ${difference}`);
    }
    return Object.freeze(given);
  }

  async #listen(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const read = await makeEventReader();
    const socket = await this.#connections.openSocket('/v2/compute/notifications/ws');
    // Requests that wait for it would wait in vain.
    const cut = () => this.#connections.cut(`it sent nothing for ${silenceMs / 1000} s`);
    const silence = watchSilence(silenceMs, cut);
    const opening = setTimeout(
      () => reject(this.#unreachable(events, `no answer within ${attemptMs / 1000} s`)),
      attemptMs,
    ).unref();
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('message', ({ data }) => {
      silence.restart();
      // Messages that were in flight when this side closed the socket are ignored.
      if (this.#socket !== socket) return;
      const event = typeof data === 'string' ? read(data) : undefined;
      if (event) this.#events.emit(event);
    });
    socket.addEventListener('error', () => reject(this.#unreachable(events, 'the connection failed')));
    socket.addEventListener('close', () => {
      silence.end();
      reject(this.#unreachable(events, 'the connection was closed'));
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      // A failed attempt says so itself.
      if (!this.#state.connected) return;
      if (!this.#closed) this.#retry.failed();
      this.#set({ ...this.#state, connected: false, lastError: 'The connection was lost' });
    });
    this.#socket = socket;
    try {
      await promise;
    } catch (error) {
      this.#socket = undefined;
      socket.close();
      throw error;
    } finally {
      clearTimeout(opening);
    }
  }

  #set(state: TransportState): void {
    const { connected, lastError } = this.#state;
    this.#state = Object.freeze(state);
    if (state.connected !== connected || state.lastError !== lastError) this.#states.emit(this.#state);
  }

  async #request(
    method: Method,
    path: string,
    { body, timeoutMs, what, signal, epoch }: RemoteRequestOptions,
  ): Promise<Dispatcher.ResponseData> {
    let answer: Dispatcher.ResponseData;
    try {
      answer = await this.#connections.request(method, path, {
        body,
        epoch,
        ...(signal && { signal }),
        ...(timeoutMs > 0 && { signal: AbortSignal.timeout(timeoutMs) }),
      });
    } catch (error) {
      const isTimeout = (error as Error).name === 'TimeoutError';
      throw this.#unreachable(what, isTimeout ? `no answer within ${timeoutMs / 1000} s` : (error as Error).message, error);
    }
    if (answer.statusCode < 300) return answer;
    const { name } = this.#address;
    const text = await answerText(answer.body, { name, request: what });
    const code = answer.headers['x-error-code'];
    throw faultOfAnswer({ name, request: what, status: answer.statusCode, code: String(code ?? ''), text });
  }

  #unreachable(what: string, reason: string, cause?: unknown): Fault {
    return fault('compute_unreachable', { name: this.#address.name, request: what, reason }, { cause });
  }
}

/** Major and minor number. */
function series(version: string): string {
  return version.split('.', 2).join('.');
}

/** Versions are compared without what follows the first dash. */
function stable(version: string): string {
  return version.split('-', 1)[0] ?? '';
}

/** Number of steps in which the limit of silence is counted. */
const silenceSteps = 20;

interface Silence {
  restart(): void;
  end(): void;
}

/**
 * Detects that a connection has gone silent: calls `onSilent` once, when `restart` was not called for `limitMs`. A process that stood still
 * itself (stopped, asleep, busy) reads what arrived meanwhile before the next step: that time counts as one step, however long it was.
 */
export function watchSilence(limitMs: number, onSilent: () => void): Silence {
  let quiet = 0;
  const timer = setInterval(() => {
    quiet += 1;
    if (quiet < silenceSteps) return;
    clearInterval(timer);
    onSilent();
  }, limitMs / silenceSteps).unref();
  return {
    restart: () => {
      quiet = 0;
    },
    end: () => clearInterval(timer),
  };
}
