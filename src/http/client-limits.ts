/** How much one client may have at a time: connections, requests that are being answered, uploads. A client is an address. */
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fault } from '../api/faults.ts';
import { bareAnswer } from './broken-requests.ts';
import { clientKey, clientOf } from './client-address.ts';

/** Each by client, 0: without a limit. */
export interface ClientLimits {
  readonly connections: number;
  readonly requests: number;
  readonly uploads: number;
}

type RequestKind = keyof ClientLimits;

/** The setting that sets a limit, for the message. */
const settings: Record<RequestKind, string> = {
  connections: 'max_connections_per_client',
  requests: 'max_requests_per_client',
  uploads: 'max_uploads_per_client',
};

/** Counts by client; one that has nothing takes no memory. */
class Counts {
  readonly #counts = new Map<string, number>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** What gives it back, once; undefined at the limit. */
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

/** `serverHeader` is for connections that are refused before they ask anything. */
export function limitClients(app: FastifyInstance, limits: ClientLimits, serverHeader: string): void {
  const connections = new Counts(limits.connections);
  const requests = new Counts(limits.requests);
  const uploads = new Counts(limits.uploads);
  app.server.on('connection', (socket: Socket) => {
    const giveBack = connections.take(clientKey(socket.remoteAddress));
    if (giveBack) socket.once('close', giveBack);
    else refuse(socket, app, { serverHeader, limit: limits.connections });
  });
  app.addHook('onRequest', async (request, reply) => {
    const client = clientOf(request);
    const giveBack = requests.take(client);
    if (!giveBack) throw tooMany('requests', limits);
    // A WebSocket is answered when its connection ends.
    if (request.headers.upgrade !== undefined) request.raw.socket.once('close', giveBack);
    reply.raw.once('close', giveBack);
    if (!isUpload(request)) return;
    const endUpload = uploads.take(client);
    if (!endUpload) throw tooMany('uploads', limits);
    reply.raw.once('close', endUpload);
  });
}

function isUpload({ routeOptions, headers }: FastifyRequest): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return routeOptions.config?.isUpload === true && hasBody;
}

function tooMany(kind: RequestKind, limits: ClientLimits): Error {
  return fault('too_many_at_once', { what: kind, limit: limits[kind], setting: settings[kind] });
}

/** A connection of TLS has not been agreed on yet, and is only closed. */
function refuse(socket: Socket, app: FastifyInstance, { serverHeader, limit }: { serverHeader: string; limit: number }): void {
  const { status, message } = fault('too_many_at_once', { what: 'connections', limit, setting: settings.connections });
  socket.on('error', () => undefined);
  if (!('setSecureContext' in app.server)) socket.write(bareAnswer({ status, message, serverHeader }));
  socket.destroySoon();
}
