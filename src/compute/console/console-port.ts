/** The TCP port of a console: admitted clients are passed on; others receive the reason and are disconnected. */
import { createServer, type Server, type Socket } from 'node:net';
import { fault } from '../../api/faults.ts';
import type { Admission } from '../host/console-admission.ts';

export interface ConsolePortOptions {
  /** Address to listen on. */
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Decides which clients may connect; undefined: all. */
  readonly admits?: Admission | undefined;
  /** Message to refused clients, in the protocol of the console. */
  readonly refusal: string | Uint8Array;
}

const maxClients = 100;
const keepAliveMs = 60_000;
/** Time that a client has to read the remaining output when the port closes or refuses it. Milliseconds. */
const lingerMs = 250;

export class ConsolePort {
  readonly #options: ConsolePortOptions;
  readonly #accept: (socket: Socket) => void;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #isClosed = false;

  private constructor(options: ConsolePortOptions, accept: (socket: Socket) => void) {
    this.#options = options;
    this.#accept = accept;
    this.#server = createServer(
      { noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs },
      (socket) => void this.#admit(socket),
    );
    this.#server.maxConnections = maxClients;
  }

  /** `accept` is called for each client that is admitted. @throws console_unavailable when the port cannot be listened on */
  static async open(options: ConsolePortOptions, accept: (socket: Socket) => void): Promise<ConsolePort> {
    const { host, port } = options;
    const opened = new ConsolePort(options, accept);
    const server = opened.#server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause: NodeJS.ErrnoException) => {
        const reason = cause.code === 'EADDRINUSE' ? 'another program uses it' : cause.message;
        reject(fault('console_unavailable', { host, port, reason }, { cause }));
      });
      server.listen({ host, port, exclusive: true }, resolve);
    });
    // Errors after this concern single connections that could not be accepted.
    server.on('error', () => {});
    return opened;
  }

  get number(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : this.#options.port;
  }

  /** Sockets of all clients. */
  get sockets(): Iterable<Socket> {
    return this.#sockets;
  }

  /** Disconnects all clients; resolves when the port is free again. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroySoon();
    const force = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, lingerMs);
    await closed;
    clearTimeout(force);
  }

  async #admit(socket: Socket): Promise<void> {
    const { admits, refusal } = this.#options;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    // `close` follows.
    socket.on('error', () => {});
    if (admits === undefined) return this.#accept(socket);
    const isAdmitted = await admits(socket).catch(() => false);
    if (this.#isClosed || socket.destroyed) socket.destroy();
    else if (isAdmitted) this.#accept(socket);
    else refuse(socket, refusal);
  }
}

/** A refused client takes none of the places for long: it may neither read nor close, or have closed already. */
function refuse(socket: Socket, refusal: string | Uint8Array): void {
  socket.resume().end(refusal);
  const force = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(force));
}
