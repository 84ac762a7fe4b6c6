/** Mounts declared routes onto the HTTP server: the only file that knows both. */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { WebSocket } from '@fastify/websocket';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fault } from '../api/faults.ts';
import { asRequester, type Requester } from '../api/requester.ts';
import { Answer, type Call, methods, type Route, type Socket, Stream, Tagged } from '../api/route.ts';
import type { RouteMatch } from '../api/route-table.ts';
import { type BudgetedStream, streamBudgets } from '../api/stream-budgets.ts';
import { uploadOf } from '../api/upload.ts';
import type { DiskFloor } from '../lib/disk-floor.ts';
import { clientOf } from './client-address.ts';
import { declaredRoute, matchOf } from './declared-routes.ts';
import { generationOf } from './generations/generations.ts';
import type { LargeAnswers } from './large-answers.ts';

/** RFC 6455 §7.4.1: the server is overloaded. */
const overloadCode = 1013;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route needs no credentials: a static part of the page, or the login. */
    isPublic?: true;
    /** The body is a stream of any length. */
    isUpload?: true;
  }
  interface FastifyRequest {
    /** The user whose credentials, session or ticket were accepted. */
    user?: string;
    /** The value that a WebSocket route's `accept` returned before the upgrade. */
    accepted?: { call: Call; value: unknown };
  }
}

/** Mounts the declared routes with a JSON body, or those with a raw one, whose context must have a parser that passes it on unread. */
export function mountPlain(app: FastifyInstance, kind: 'json' | 'raw', answers: LargeAnswers, floor: DiskFloor): void {
  app.route({
    method: [...methods],
    url: '*',
    constraints: { kind },
    config: kind === 'raw' ? { isUpload: true } : {},
    // A connection that is not refused here would be upgraded and closed at once.
    preHandler: async (request) => {
      if (request.ws) throw fault('invalid_request', { reason: 'this address answers no WebSocket connections' });
    },
    handler: async (request, reply) => {
      const { route, params } = matchOf(request) as RouteMatch;
      const call = await callOf(route, params, request, reply.raw);
      answers.requireRoom(request);
      if (route.spec.fillsDisk) await floor.check();
      request.requester = identityOf(request);
      const value = await asRequester(request.requester, () => route.handle(call));
      return send(reply, route.spec.status ?? 200, value, answers);
    },
  });
}

/** Mounts the declared routes that serve a WebSocket. */
export function mountSockets(app: FastifyInstance): void {
  app.route({
    method: 'GET',
    url: '*',
    constraints: { kind: 'socket' },
    preHandler: async (request, reply) => {
      if (!request.ws) throw fault('upgrade_required', {});
      if (request.refusedSocket !== undefined) return request.noteUpgrade(reply);
      const { route, params } = matchOf(request) as RouteMatch;
      const call = await callOf(route, params, request);
      request.accepted = { call, value: await route.handle(call) };
      request.noteUpgrade(reply);
    },
    handler: () => Promise.reject(fault('upgrade_required', {})),
    wsHandler: (socket, request) => {
      const { accepted, refusedSocket } = request;
      if (refusedSocket !== undefined) refuseSocket(socket, refusedSocket);
      else if (accepted) declaredRoute(request)?.socket?.(accepted.call, wrap(socket, clientOf(request)), accepted.value);
      else socket.close(1011);
    },
  });
}

/** Tells a client of `/v3` why its WebSocket is closed, as GNS3 does. */
function refuseSocket(socket: WebSocket, message: string): void {
  socket.send(JSON.stringify({ action: 'log.error', event: { message } }));
  socket.close(1008, 'not allowed');
}

/** Sends a handler's result. */
async function send(reply: FastifyReply, status: number, value: unknown, answers: LargeAnswers): Promise<FastifyReply> {
  if (value instanceof Answer) {
    if (value.sent) reply.raw.once('close', value.sent);
    return send(reply, value.status, value.body, answers);
  }
  if (value instanceof Tagged) return sendTagged(reply, status, value, answers);
  if (value instanceof Stream) {
    reply.code(status).headers(value.headers).type(value.contentType);
    // The headers leave at once: the first byte of the stream may take long.
    reply.raw.once('pipe', () => reply.raw.flushHeaders());
    const { source } = value;
    return reply.send(source instanceof Uint8Array ? Buffer.from(source.buffer, source.byteOffset, source.byteLength) : source);
  }
  reply.code(status);
  if (status === 204 || status === 304) return reply.send();
  if (value === undefined) return reply.type('application/octet-stream').send(Buffer.alloc(0));
  return sendJson(reply, await answers.encode(reply, value));
}

function sendJson(reply: FastifyReply, bytes: Buffer): FastifyReply {
  return reply.header('Content-Type', 'application/json').send(bytes);
}

async function sendTagged(reply: FastifyReply, status: number, { body }: Tagged, answers: LargeAnswers): Promise<FastifyReply> {
  const bytes = await answers.encode(reply, body);
  const tag = `"${createHash('md5').update(bytes).digest('hex')}"`;
  reply.header('ETag', tag);
  const known = (reply.request.headers['if-none-match'] ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  return known.includes(tag) || known.includes('*') ? reply.code(304).send() : sendJson(reply.code(status), bytes);
}

/** Builds the call of a request. `response` is absent for WebSockets. */
async function callOf(route: Route, path: RouteMatch['params'], request: FastifyRequest, response?: ServerResponse): Promise<Call> {
  const sent = { path, query: firstValues(request.query), body: route.spec.raw ? undefined : request.body };
  const call = {
    ...(await generationOf(request.url).read(route, sent, request)),
    host: request.headers.host,
    userAgent: request.headers['user-agent'],
    client: clientOf(request),
    user: request.user,
    ...(request.caller && { caller: request.caller }),
    ...(route.spec.raw && { stream: route.spec.raw === 'file' ? uploadOf(streamOf(request.body)) : streamOf(request.body) }),
    get signal(): AbortSignal {
      return signalOf(request, response);
    },
  };
  return call as Call;
}

function firstValues(query: unknown): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries((query ?? {}) as Record<string, string | string[]>)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (first) values[name] = first;
  }
  return values;
}

function streamOf(body: unknown): Readable {
  return body instanceof Readable ? body : Readable.from([]);
}

function signalOf(request: FastifyRequest, response: ServerResponse | undefined): AbortSignal {
  const controller = new AbortController();
  const { socket } = request.raw;
  const abort = () => controller.abort();
  // The client may have disconnected while its body was checked.
  if (socket.destroyed) abort();
  else socket.once('close', abort);
  // A connection serves many requests, so the listener must not stay.
  response?.once('close', () => socket.off('close', abort));
  return controller.signal;
}

function wrap(socket: WebSocket, client: string): Socket {
  const waiting: BudgetedStream = {
    get waitingBytes() {
      return socket.bufferedAmount;
    },
    endSlow: () => socket.close(overloadCode, 'too slow'),
  };
  socket.once('close', () => streamBudgets.left(client, waiting));
  return {
    send: (data, sent) => {
      if (socket.readyState !== socket.OPEN) return;
      socket.send(data, sent);
      if (!sent) streamBudgets.grown(client, waiting);
    },
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    onMessage: (listener) => {
      socket.on('message', (data: Buffer, isBinary: boolean) => listener(data, isBinary));
    },
    onClose: (listener) => {
      socket.once('close', listener);
    },
    close: (code, reason) => socket.close(code, reason),
  };
}

/** Longer names are cut. Characters. */
const longestName = 100;
/** Header in which a page or a script names the person for whom it sends the request. */
const clientHeader = 'x-patchbay-client';

/**
 * Names the requester of a change in a project's history: the client's own header, else the user of the login, else the User-Agent.
 * The name is computed on demand, because most requests change nothing.
 */
function identityOf({ headers, caller }: FastifyRequest): Requester {
  const account = caller?.isAnonymous ? undefined : caller?.username;
  return {
    ...(caller && { caller }),
    get by() {
      const said = headers[clientHeader];
      const text =
        utf8Of(Array.isArray(said) ? said[0] : said) || account || userOf(headers.authorization) || headers['user-agent'] || '';
      const shown = text
        .replace(/\p{Cc}/gu, ' ')
        .trim()
        .slice(0, longestName);
      return shown === '' ? null : shown;
    },
  };
}

/** Node reads headers as Latin-1: a text that is UTF-8 is taken as that. */
function utf8Of(header = ''): string {
  const text = Buffer.from(header, 'latin1').toString('utf8');
  return text.includes('\uFFFD') ? header : text;
}

/** The user name of HTTP Basic; its password was checked before. */
function userOf(authorization: string | undefined): string | undefined {
  const encoded = /^Basic (\S+)$/i.exec(authorization ?? '')?.[1];
  return encoded && Buffer.from(encoded, 'base64').toString('utf8').split(':', 1)[0];
}
