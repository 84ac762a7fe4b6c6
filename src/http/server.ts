/** Runs the HTTP server: turns bytes into calls of routes, and results into bytes. Only this folder knows Fastify. */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import websocket, { type WebSocket } from '@fastify/websocket';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import { fault } from '../api/faults.ts';
import type { ApiVersions } from '../api/openapi/document.ts';
import { withDocument } from '../api/openapi/routes.ts';
import type { Authenticator } from '../api/rights.ts';
import type { Route } from '../api/route.ts';
import { RouteTable } from '../api/route-table.ts';
import { DiskFloor } from '../lib/disk-floor.ts';
import { JsonText } from '../lib/json-text.ts';
import { knownHosts } from '../lib/known-hosts.ts';
import type { CollectMetrics } from '../lib/metric.ts';
import { ServerResponse } from '../lib/node-http.ts';
import { addCors, addHostCheck, refuseOutdated } from './access.ts';
import { refuseOddRequests, replyBroken } from './broken-requests.ts';
import { beginInTurns, type ClientLimits, limitClients } from './client-limits.ts';
import { compressJson } from './compression.ts';
import { addCredentials, addOpenAccess, type Credentials } from './credentials.ts';
import { declaredRoute, kindConstraint, matchOf } from './declared-routes.ts';
import { generationOf } from './generations/generations.ts';
import { bodyLimitBytes, parseJson } from './json-body.ts';
import { LargeAnswers } from './large-answers.ts';
import { metricsRoute } from './metrics.ts';
import { mountPlain, mountSockets } from './mount.ts';
import { addPage } from './page.ts';
import { longestPathPart, replyErrors } from './reply-errors.ts';
import { RequestMetrics } from './request-metrics.ts';
import { limitUpload, type UploadLimits } from './upload-body.ts';
import { addWebUi } from './web-ui.ts';

/**
 * A client that does not answer a WebSocket's close frame is cut off after 5 s, because queued data takes memory. `closeTimeout` is
 * new in ws 8.19.
 */
const webSockets: { maxPayload: number; closeTimeout: number } = { maxPayload: bodyLimitBytes, closeTimeout: 5_000 };

interface HttpOptions {
  routes: readonly Route[];
  log: FastifyBaseLogger;
  /** Value of the `Server` header; GNS3's clients read its second product. */
  serverHeader: string;
  credentials?: Credentials;
  /** Verifies the tokens that clients of `/v3` send to a server without credentials, too. */
  authenticator?: Authenticator;
  /** Origins of other servers' pages that may use this server. */
  allowedOrigins: readonly string[];
  /** Names of this server beside the machine's own. Default none. */
  allowedHosts?: readonly string[];
  /** Default: 30 s per request, 60 s of silence in uploads, no limit per client or of the disk. */
  limits?: HttpLimits;
  /** Key and certificate as PEM; absent: plain HTTP. */
  tls?: { key: Buffer; cert: Buffer };
  /** Versions for `/openapi.json`, which is served only when they are given. */
  versions?: ApiVersions;
  /** Absent: no page is served. */
  pages?: Pages;
  /** Metrics beside those of the requests and the process. */
  collectors?: readonly CollectMetrics[];
}

interface Pages {
  /** Folder of the built page. */
  readonly folder: string;
  /** Folder of a build of GNS3's web UI; undefined: its address leads to the page. */
  readonly webUi?: string | undefined;
}

export interface HttpLimits {
  /** Limit for the headers of a request, and again for a JSON body. */
  readonly requestMs: number;
  readonly uploads: UploadLimits;
  readonly clients: ClientLimits;
}

const plainLimits: HttpLimits = {
  requestMs: 30_000,
  uploads: { idleMs: 60_000, floor: new DiskFloor([], 0) },
  clients: { connections: 0, requests: 0, uploads: 0 },
};
/** Accepts upgrades to WebSocket only: a request for another protocol is answered as plain HTTP (RFC 9110, §7.8). */
function isWebSocket({ headers }: { headers: IncomingHttpHeaders }): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** Interval of pings: proxies commonly end a connection that is silent for a minute. */
const pingMs = 30_000;
/** Interval of the search for connections whose headers are late. */
const lookForLateMs = 1_000;
/** Time for which a client that was answered early may continue to send its body, which is dropped. */
const lingerMs = 5_000;

/** Prevents Fastify from loading Ajv and fast-json-stringify (120 modules): `api/validate.ts` checks requests. */
const compilersFactory = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema(): never {
  throw new Error('a route declares its schemas with route(), not to Fastify');
}

export async function createHttpServer(options: HttpOptions): Promise<FastifyInstance> {
  const { log, serverHeader, credentials, collectors = [], limits = plainLimits } = options;
  const texts = new JsonText();
  const requests = new RequestMetrics();
  const declared = [...options.routes, metricsRoute([async () => requests.read(), ...collectors], log)];
  const table = new RouteTable(options.versions ? withDocument(declared, options.versions) : declared);
  const app = fastify(fastifyOptions(options, { table, texts, headersMs: limits.requestMs }));
  app.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
  app.removeAllContentTypeParsers();
  describeAnswers(app, serverHeader);
  requireHost(app);
  refuseOddRequests(app.server, serverHeader);
  requests.watch(app);
  compressJson(app);
  sendLargeInPieces(app);
  endRefusedUpgrades(app);
  lingerAfterEarlyAnswers(app);
  limitClients(app, limits.clients, serverHeader);
  beginInTurns(app);
  if (credentials?.currentEpoch) refuseOutdated(app, credentials.currentEpoch);
  const isKnownHost = knownHosts(options.allowedHosts ?? []);
  if (!credentials) addHostCheck(app, isKnownHost);
  addCors(app, options.allowedOrigins);
  app.setErrorHandler(replyErrors(texts));
  if (credentials)
    await addCredentials(app, { credentials, isKnownHost, pageFolder: options.pages?.folder, limitMs: limits.requestMs });
  else addOpenAccess(app, options.authenticator);
  app.setNotFoundHandler(replyNotFound(table));
  if (options.pages) {
    addPage(app, options.pages.folder);
    addWebUi(app, options.pages.webUi);
  }
  await app.register(websocket, { options: webSockets, errorHandler: endSocket });
  endSilentSockets(app, pingMs);
  await mountRoutes(app, texts, limits);
  return app;
}

function fastifyOptions(
  { log, serverHeader, tls }: HttpOptions,
  { table, texts, headersMs }: { readonly table: RouteTable; readonly texts: JsonText; readonly headersMs: number },
): FastifyServerOptions {
  const timing = {
    connectionsCheckingInterval: lookForLateMs,
    headersTimeout: headersMs,
    requireHostHeader: false,
    shouldUpgradeCallback: isWebSocket,
    ServerResponse: CapitalizedResponse,
  };
  return {
    loggerInstance: log,
    ...(tls ? { https: { ...timing, ...tls } } : { http: timing }),
    logController: new LogController({ disableRequestLogging: true }),
    schemaController: { compilersFactory },
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    // Only the page has parameters of the router, which the browser reads; those of declared routes have a limit of their own.
    routerOptions: { constraints: { kind: kindConstraint(table) }, maxParamLength: Number.MAX_SAFE_INTEGER },
    // Uploads of images may take any time; headers and JSON bodies have limits of their own.
    requestTimeout: 0,
    clientErrorHandler: replyBroken(serverHeader),
    frameworkErrors: (error, request, reply) => {
      // No hook runs for these errors.
      reply.headers({ Server: serverHeader, Connection: 'close' });
      reply.raw.once('finish', () => request.raw.socket.destroySoon());
      replyErrors(texts)(error, request as FastifyRequest, reply as FastifyReply);
    },
  };
}

/** Sets the answer's headers before anything can fail, so that errors have them too. */
function describeAnswers(app: FastifyInstance, serverHeader: string): void {
  app.addHook('onRequest', async (request, reply) => {
    const match = matchOf(request);
    reply.header('Server', serverHeader);
    if (match) reply.header('X-Route', match.route.template);
    if (match && Object.values(match.params).some((value) => value.length > longestPathPart))
      throw fault('path_too_long', { limit: longestPathPart });
    // The Content-Type of a request is ignored; Fastify would refuse an invalid media type before it reads the body.
    if (request.headers['content-type'] !== undefined) request.headers['content-type'] = 'application/octet-stream';
  });
}

/** Requires the Host header of HTTP/1.1 (RFC 9112, §3.2). */
function requireHost(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ headers, raw }) => {
    if (headers.host === undefined && raw.httpVersion === '1.1')
      throw fault('invalid_request', { reason: 'the header Host is missing' });
  });
}

/** Mounts the routes in two contexts, each with its own parser: routes with a JSON body, and routes that read a stream. */
async function mountRoutes(app: FastifyInstance, texts: JsonText, { uploads, requestMs }: HttpLimits): Promise<void> {
  const answers = new LargeAnswers(texts);
  const { floor } = uploads;
  await app.register(async (context) => {
    parseJson(context, requestMs);
    mountPlain(context, 'json', answers, floor);
    mountSockets(context);
  });
  await app.register(async (context) => {
    const parse = async (request: FastifyRequest, payload: Readable) => {
      await uploads.floor.check(Number(request.headers['content-length'] ?? 0));
      return limitUpload(payload, declaredRoute(request)?.spec.mayPause ? { ...uploads, idleMs: 0 } : uploads);
    };
    context.addContentTypeParser('*', { bodyLimit: Number.MAX_SAFE_INTEGER }, parse);
    mountPlain(context, 'raw', answers, floor);
  });
}

/**
 * Ends connections whose `Upgrade` was refused. Node leaves such a connection to us, half open, and the server could not end before
 * it. Clients must not send their next request on it either.
 */
function endRefusedUpgrades(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    if (request.headers.upgrade !== undefined) reply.header('Connection', 'close');
  });
  app.addHook('onResponse', async (request) => {
    if (request.headers.upgrade !== undefined && request.accepted === undefined) request.raw.socket.destroySoon();
  });
}

/**
 * Ends the connection of an answer that left before its request was complete, after a delay: bytes that arrive at a closed
 * connection reset it, and the client could lose the answer.
 */
function lingerAfterEarlyAnswers(app: FastifyInstance): void {
  const closing = new WeakSet<IncomingMessage>();
  app.addHook('onSend', async ({ raw, headers }, reply) => {
    if (raw.complete || headers.upgrade !== undefined) return;
    // Fastify, or the client, wants the connection to end: Node would end it with the answer, before the delay.
    reply.removeHeader('connection');
    if (!reply.raw.shouldKeepAlive) closing.add(raw);
    reply.raw.shouldKeepAlive = true;
  });
  app.addHook('onResponse', async ({ raw }) => {
    const { socket } = raw;
    if (raw.complete || socket.destroyed) return;
    const timer = setTimeout(() => {
      if (!raw.complete) socket.destroy();
    }, lingerMs).unref();
    raw.once('end', () => {
      clearTimeout(timer);
      if (closing.has(raw)) socket.destroySoon();
    });
    raw.resume();
  });
}

/** Answers unknown paths and methods in the form of the request's generation of the API. */
function replyNotFound(table: RouteTable) {
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const answer = generationOf(request.url).noRoute(request, (url) => table.methodsOf(url));
    if (answer.location !== undefined) reply.header('Location', answer.location);
    if (answer.status === 405) reply.header('Allow', [...table.methodsOf(request.url), 'OPTIONS'].sort().join(','));
    return reply.code(answer.status).type(answer.contentType).send(answer.text);
  };
}

/** Ends a failed WebSocket. A protocol violation or a disconnect is the client's error: it is logged as info. */
function endSocket(error: NodeJS.ErrnoException, socket: WebSocket, request: FastifyRequest): void {
  const isClients = /^(?:WS_ERR_|ECONNRESET$|EPIPE$)/.test(error.code ?? '');
  request.log[isClients ? 'info' : 'error'](error);
  socket.terminate();
}

const pieceBytes = 256 * 1024;
/** Answers up to this size are sent whole. Bytes. */
const largeBytes = 4 * pieceBytes;

/**
 * Sends large answers in pieces, each in a separate turn: the kernel may accept 50 MB at once, and copying it blocks the event
 * loop. Must be added after the hooks that change an answer.
 */
function sendLargeInPieces(app: FastifyInstance): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (!Buffer.isBuffer(payload) || payload.length <= largeBytes) {
      done(null, payload);
      return;
    }
    reply.header('Content-Length', payload.length);
    done(null, Readable.from(pieces(payload)));
  });
}

async function* pieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    yield bytes.subarray(at, at + pieceBytes);
    await new Promise(setImmediate);
  }
}

/** Pings sent without an answer before the client counts as vanished. */
const mostUnanswered = 2;
/** Rounds for which a ping may wait behind data that the client has not read: ten minutes, at half a minute each. */
const mostWaiting = 20;

/** State of the pings to one client. */
interface Pings {
  unanswered: number;
  /** Rounds since the last ping was queued; 0 when it has been sent. */
  waiting: number;
}

/**
 * Ends WebSockets whose clients vanished, for example by a power or network failure. Without pings such a connection would hold a
 * session, a console or a feed for a quarter of an hour, or for ever where nothing is sent. WebSocket libraries answer pings by
 * themselves (RFC 6455, §5.5.2). A client is pinged each `everyMs` and has twice that time to answer a ping that was sent. A client
 * that reads a long backlog slowly stays connected: its ping is sent after the backlog.
 */
function endSilentSockets(app: FastifyInstance, everyMs: number): void {
  const pingsOf = new WeakMap<WebSocket, Pings>();
  app.websocketServer.on('connection', (socket) => {
    const pings: Pings = { unanswered: 0, waiting: 0 };
    pingsOf.set(socket, pings);
    const answered = () => {
      pings.unanswered = 0;
    };
    socket.on('pong', answered).on('message', answered);
  });
  const timer = setInterval(() => {
    for (const socket of app.websocketServer.clients) {
      const pings = pingsOf.get(socket);
      if (!pings) continue;
      if (pings.unanswered >= mostUnanswered || pings.waiting >= mostWaiting) socket.terminate();
      else if (pings.waiting > 0) pings.waiting += 1;
      else sendPing(socket, pings);
    }
  }, everyMs).unref();
  app.addHook('onClose', async () => clearInterval(timer));
}

function sendPing(socket: WebSocket, pings: Pings): void {
  pings.waiting = 1;
  socket.ping(undefined, undefined, () => {
    // The client has read the data that was queued before the ping.
    if (pings.waiting > 1) pings.unanswered = 0;
    pings.waiting = 0;
    pings.unanswered += 1;
  });
}

/** Header names with other capitals than the first letter of each word. */
const special = new Map(
  ['ETag', 'WWW-Authenticate', 'Sec-WebSocket-Accept', 'Sec-WebSocket-Protocol', 'X-Content-Type-Options'].map((name) => [
    name.toLowerCase(),
    name,
  ]),
);

export function capitalized(name: string): string {
  return special.get(name) ?? name.replace(/(?<![a-zA-Z0-9])[a-z]/g, (letter) => letter.toUpperCase());
}

/**
 * Writes header names in the capitals that HTTP/1.1 servers usually send: gns3-proxy compares them literally, against RFC 9110,
 * §5.1.
 */
class CapitalizedResponse extends ServerResponse {
  override setHeader(name: string, value: number | string | readonly string[]): this {
    return super.setHeader(capitalized(name), value);
  }

  override writeHead(status: number, ...rest: readonly unknown[]): this {
    const renamed = rest.map((part) => (isHeaders(part) ? renameKeys(part) : part));
    return super.writeHead(status, ...(renamed as [string, OutgoingHttpHeaders]));
  }
}

function isHeaders(part: unknown): part is OutgoingHttpHeaders {
  return typeof part === 'object' && part !== null && !Array.isArray(part);
}

function renameKeys(headers: OutgoingHttpHeaders): Record<string, OutgoingHttpHeader | undefined> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [capitalized(name), value]));
}
