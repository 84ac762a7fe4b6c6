/** Limits what one client (an address) may have at a time: connections, requests in progress, uploads; and what begins in one turn. */
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { clientKey } from '../api/client-key.ts';
import { fault } from '../api/faults.ts';
import { bareAnswer } from './broken-requests.ts';
import { clientOf } from './client-address.ts';

/** Limits per client; 0: no limit. */
export interface ClientLimits {
  readonly connections: number;
  readonly requests: number;
  readonly uploads: number;
}

type RequestKind = keyof ClientLimits;

/** Requests that begin in one turn of the event loop: a client can send 1,500 in a packet, and each takes 0.1 to 0.2 ms. */
export const mostInTurn = 20;

/** Names the setting that holds a limit, for the message. */
const settings: Record<RequestKind, string> = {
  connections: 'max_connections_per_client',
  requests: 'max_requests_per_client',
  uploads: 'max_uploads_per_client',
};

/** Counts per client; a client with a count of 0 takes no memory. */
class Counts {
  readonly #counts = new Map<string, number>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds one and returns the function that releases it, once; undefined at the limit. */
  take(client: string): (() => void) | undefined {
    const count = this.#counts.get(client) ?? 0;
    if (this.#limit > 0 && count >= this.#limit) return undefined;
    this.#counts.set(client, count + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const left = (this.#counts.get(client) ?? 1) - 1;
      if (left > 0) this.#counts.set(client, left);
      else this.#counts.delete(client);
    };
  }
}

/**
 * Refuses connections, requests and uploads above the limits. `serverHeader` is for connections that are refused before a request.
 */
export function limitClients(app: FastifyInstance, limits: ClientLimits, serverHeader: string): void {
  const connections = new Counts(limits.connections);
  const requests = new Counts(limits.requests);
  const uploads = new Counts(limits.uploads);
  app.server.on('connection', (socket: Socket) => {
    const release = connections.take(clientKey(socket.remoteAddress));
    if (release) socket.once('close', release);
    else refuse(socket, app, { serverHeader, limit: limits.connections });
  });
  app.addHook('onRequest', async (request, reply) => {
    const client = clientOf(request);
    const release = requests.take(client);
    if (!release) throw tooMany('requests', limits);
    // The request of a WebSocket counts until its connection ends.
    if (request.headers.upgrade !== undefined) request.raw.socket.once('close', release);
    reply.raw.once('close', release);
    if (!isUpload(request)) return;
    const endUpload = uploads.take(client);
    if (!endUpload) throw tooMany('uploads', limits);
    reply.raw.once('close', endUpload);
  });
}

/** Begins a few requests in each turn of the event loop, in the order in which they came. */
export function beginInTurns(app: FastifyInstance): void {
  let begun = 0;
  const waiting: (() => void)[] = [];
  const nextTurn = () => {
    const due = waiting.splice(0, mostInTurn);
    begun = due.length;
    if (begun > 0) setImmediate(nextTurn);
    for (const begin of due) begin();
  };
  app.addHook('onRequest', (_request, _reply, done) => {
    if (begun === 0) setImmediate(nextTurn);
    if (begun === mostInTurn) waiting.push(done);
    else {
      begun += 1;
      done();
    }
  });
}

function isUpload({ routeOptions, headers }: FastifyRequest): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return routeOptions.config?.isUpload === true && hasBody;
}

function tooMany(kind: RequestKind, limits: ClientLimits): Error {
  return fault('too_many_at_once', { what: kind, limit: limits[kind], setting: settings[kind] });
}

/** Answers 503 on a plain connection and closes it. A TLS connection has no session yet, so it is only closed. */
function refuse(socket: Socket, app: FastifyInstance, { serverHeader, limit }: { serverHeader: string; limit: number }): void {
  const { status, message } = fault('too_many_at_once', { what: 'connections', limit, setting: settings.connections });
  socket.on('error', () => undefined);
  if (!('setSecureContext' in app.server)) socket.write(bareAnswer({ status, message, serverHeader }));
  socket.destroySoon();
}
