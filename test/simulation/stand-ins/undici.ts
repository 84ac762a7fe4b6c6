/** Stands in for undici where the controller reaches its computes: requests and WebSockets over the simulated network. */
import { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import { type Connection, simulation, type Wire } from '../engine/simulation.ts';

/** Socket of a connection, as far as the controller uses it. */
class SimulatedSocket extends EventEmitter {
  readonly remoteAddress = '10.0.0.2';
  readonly connection: Connection;

  constructor(host: string) {
    super();
    this.connection = { host, isOpen: true, onEnd: () => undefined, end: (error) => this.destroy(error) };
  }

  destroy(error?: Error): void {
    if (!this.connection.isOpen) return;
    this.connection.isOpen = false;
    const { onEnd } = this.connection;
    // Nothing listens to errors of one that was closed without a reason.
    if (error && this.listenerCount('error') > 0) this.emit('error', error);
    this.emit('close');
    onEnd(error ?? new Error('closed'));
  }
}

type Connect = (options: { hostname: string }, done: (error: Error | null, socket: SimulatedSocket | null) => void) => void;

export function buildConnector(): Connect {
  return ({ hostname }, done) => done(null, new SimulatedSocket(hostname));
}

export class Agent {
  readonly #connect: Connect;
  readonly #sockets = new Set<SimulatedSocket>();

  constructor({ connect }: { connect: Connect }) {
    this.#connect = connect;
  }

  open(host: string): SimulatedSocket {
    let opened: SimulatedSocket | undefined;
    this.#connect({ hostname: host }, (error, socket) => {
      if (error) throw error;
      opened = socket ?? undefined;
    });
    if (!opened) throw new Error('no connection');
    const socket = opened;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  }

  async destroy(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy(new Error('The client is destroyed'));
  }
}

interface RequestOptions {
  readonly method: string;
  readonly body: string | Readable | Uint8Array | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Agent;
  readonly signal?: AbortSignal;
}

export async function request(address: string, { method, body, headers, dispatcher, signal }: RequestOptions) {
  if (body !== null && typeof body !== 'string') throw new Error('the simulated network carries no files');
  const { hostname, pathname, search } = new URL(address);
  if (signal?.aborted) throw signal.reason;
  const socket = dispatcher.open(hostname);
  const { promise: failed, reject } = Promise.withResolvers<never>();
  const { connection } = socket;
  connection.onEnd = (error) => reject(error ?? new Error('other side closed'));
  const abort = () => socket.destroy(signal?.reason as Error);
  signal?.addEventListener('abort', abort);
  // Node keeps a signal that something listens to.
  socket.once('close', () => signal?.removeEventListener('abort', abort));
  const path = pathname + search;
  const answered = simulation().internet.request({ host: hostname, method, path, body, headers, connection });
  const { status, text } = await Promise.race([answered, failed]);
  failed.catch(() => undefined);
  socket.destroy();
  return { statusCode: status, headers: { 'content-type': 'application/json' }, body: new Body(text) };
}

class Body {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    if (this.#text !== '') yield Buffer.from(this.#text);
  }

  async dump(): Promise<void> {}
}

export class WebSocket extends EventTarget {
  readonly #socket: SimulatedSocket;
  readonly #wire: Wire;
  #isClosed = false;

  constructor(address: string, { dispatcher }: { dispatcher: Agent }) {
    super();
    const { hostname, pathname } = new URL(address);
    this.#socket = dispatcher.open(hostname);
    const { connection } = this.#socket;
    connection.onEnd = () => this.#closed();
    this.#wire = simulation().internet.openSocket(hostname, pathname, connection);
    this.#wire.onOpen = () => this.dispatchEvent(new Event('open'));
    this.#wire.onMessage = (data) => this.dispatchEvent(Object.assign(new Event('message'), { data }));
    this.#wire.onClose = () => this.#closed();
  }

  close(): void {
    this.#wire.close();
    simulation().kernel.after(1, () => this.#socket.destroy());
  }

  #closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.dispatchEvent(new Event('close'));
  }
}
