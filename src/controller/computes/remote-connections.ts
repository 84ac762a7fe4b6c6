/**
 * The connections to one remote compute, for requests and WebSockets. All of them can be cut: a pulled cable closes no
 * connection, and a request would wait for as long as the kernel retransmits, a quarter of an hour.
 *
 * Slow is not gone: the kernel of a compute that is busy or stopped still answers TCP keepalive probes, that of a host which cannot
 * be reached does not. One connection that ends for that reason ends them all.
 */
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Agent, Dispatcher, request, WebSocket } from 'undici';
import { fault } from '../../api/faults.ts';
import { epochHeader, ownAgent } from '../../api/own-agent.ts';
import type { Method } from '../../api/route.ts';
import { isPrivate } from '../../lib/private-address.ts';
import { goInClear } from './clear-credentials.ts';

export interface RemoteAddress {
  readonly name: string;
  readonly protocol: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  readonly user: string | null;
  readonly password: string | null;
  /** Whether credentials may be sent over plain HTTP to any address. */
  readonly clearCredentials: boolean;
}

export interface RemoteRequest {
  readonly body: string | Readable | Uint8Array | null;
  readonly signal?: AbortSignal;
  /** Epoch of the lease of a slice by which the request was decided; null: the compute has no lease. */
  readonly epoch: number | null;
}

const connectTimeoutMs = 5_000;
/** Probes begin after so long without a packet; Node sends one a second then and gives up after ten. @see setKeepAlive of node:net */
const probeAfterMs = 1_000;
const hostIsGone: ReadonlySet<string | undefined> = new Set(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN']);

/** Loaded with the first call to another compute: most servers have none, and it is a tenth of their start. */
interface Library {
  readonly agent: Agent;
  readonly request: typeof request;
  readonly WebSocket: typeof WebSocket;
}

export class RemoteConnections {
  readonly #origin: string;
  readonly #address: RemoteAddress;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #sockets = new Set<Socket>();
  #loading: Promise<Library> | undefined;

  /** `version`: of the GNS3 API that is spoken. */
  constructor(address: RemoteAddress, version: string) {
    this.#address = address;
    this.#origin = originOf(address);
    this.#headers = { ...credentialsOf(address), 'user-agent': ownAgent(version) };
  }

  /** `path` is percent-encoded. @throws what the library says */
  async request(method: Method, path: string, { body, signal, epoch }: RemoteRequest): Promise<Dispatcher.ResponseData> {
    const { agent, request } = await this.#library();
    return request(`${this.#origin}${path}`, {
      method,
      body,
      dispatcher: agent,
      headers: {
        ...this.#headers,
        ...(body !== null && { 'content-type': contentType(body) }),
        ...(epoch !== null && { [epochHeader]: String(epoch) }),
      },
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(signal && { signal }),
    });
  }

  /** `path` is percent-encoded. The WebSocket is not open yet. */
  async openSocket(path: string): Promise<WebSocket> {
    const { agent, WebSocket } = await this.#library();
    return new WebSocket(`${this.#origin.replace(/^http/, 'ws')}${path}`, { dispatcher: agent, headers: { ...this.#headers } });
  }

  /** Ends every connection at once; what waited for an answer fails for this reason. New ones can be made. */
  cut(reason: string): void {
    for (const socket of this.#sockets) socket.destroy(new Error(reason));
  }

  async close(): Promise<void> {
    await (await this.#loading)?.agent.destroy();
  }

  #library(): Promise<Library> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<Library> {
    const { Agent, buildConnector, request, WebSocket } = await import('undici');
    const connect = buildConnector({ timeout: connectTimeoutMs, keepAlive: true, keepAliveInitialDelay: probeAfterMs });
    const agent = new Agent({
      connect: (options, done) =>
        connect(options, (...result) => {
          const [, socket] = result;
          const problem = socket && this.#problemOf(socket);
          if (problem) {
            socket.destroy();
            done(problem, null);
            return;
          }
          if (socket) this.#keep(socket);
          done(...result);
        }),
    });
    return { agent, request, WebSocket };
  }

  /** Refuses credentials in clear when the name resolves to another address than at registration. Nothing has been sent yet. */
  #problemOf({ remoteAddress = '' }: Socket): Error | undefined {
    const { name, clearCredentials } = this.#address;
    if (clearCredentials || !goInClear(this.#address) || isPrivate(remoteAddress)) return undefined;
    return fault('credentials_in_clear', { name, address: remoteAddress });
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      if (hostIsGone.has(code)) this.cut(`its host does not answer (${code})`);
    });
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

function originOf({ protocol, host, port }: RemoteAddress): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${protocol}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

function credentialsOf({ user, password }: RemoteAddress): Record<string, string> {
  return user === null || user === ''
    ? {}
    : { authorization: `Basic ${Buffer.from(`${user}:${password ?? ''}`).toString('base64')}` };
}

function contentType(body: string | Readable | Uint8Array): string {
  return typeof body === 'string' ? 'application/json' : 'application/octet-stream';
}
