/** The HTTP server: how bytes become calls of routes and answers become bytes. Fastify is known in this folder and nowhere else. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
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
import type { Route } from '../api/route.ts';
import { compileTemplate, joinSlashes } from '../api/template.ts';
import { DiskFloor } from '../lib/disk-floor.ts';
import { JsonText } from '../lib/json-text.ts';
import { knownHosts } from '../lib/known-hosts.ts';
import type { CollectMetrics } from '../lib/metric.ts';
import { addCors, addHostCheck } from './access.ts';
import { refuseOddRequests, replyBroken } from './broken-requests.ts';
import { type ClientLimits, limitClients } from './client-limits.ts';
import { compressJson } from './compression.ts';
import { addCredentials, type Credentials } from './credentials.ts';
import { CapitalizedResponse } from './header-names.ts';
import { bodyLimitBytes, parseJson } from './json-body.ts';
import { endSilentSockets } from './keep-sockets.ts';
import { sendLargeInPieces } from './large-answers.ts';
import { metricsRoute } from './metrics.ts';
import { mount } from './mount.ts';
import { addPage } from './page.ts';
import { longestPathPart, replyErrors } from './reply-errors.ts';
import { RequestMetrics } from './request-metrics.ts';
import { limitUpload, type UploadLimits } from './upload-body.ts';

/** A client that is asked to close and does not answer is cut off soon: what waits for it takes memory. `closeTimeout` is new in ws 8.19. */
const webSockets: { maxPayload: number; closeTimeout: number } = { maxPayload: bodyLimitBytes, closeTimeout: 5_000 };

export interface HttpOptions {
  routes: readonly Route[];
  log: FastifyBaseLogger;
  /** Value of the `Server` header; GNS3's clients read its second product. */
  serverHeader: string;
  credentials?: Credentials;
  /** Origins of other servers' pages that may use this server. */
  allowedOrigins: readonly string[];
  /** Names of this server beside the machine's own. Default none. */
  allowedHosts?: readonly string[];
  /** Default: those of requests, and none of clients and disks. */
  limits?: HttpLimits;
  /** PEM; absent: plain HTTP. */
  tls?: { key: Buffer; cert: Buffer };
  /** Given: the routes are described at `/openapi.json`. */
  versions?: ApiVersions;
  /** Where the page for browsers was built; without it none is served. */
  pageFolder?: string;
  /** Metrics beside those of the requests and the process. */
  collectors?: readonly CollectMetrics[];
}

export interface HttpLimits {
  /** For the headers of a request, and again for a body in JSON. */
  readonly requestMs: number;
  readonly uploads: UploadLimits;
  readonly clients: ClientLimits;
}

const plainLimits: HttpLimits = {
  requestMs: 30_000,
  uploads: { idleMs: 60_000, floor: new DiskFloor([], 0) },
  clients: { connections: 0, requests: 0, uploads: 0 },
};
/** Other protocols are not offered: a request for one is answered as if it did not ask (RFC 9110, §7.8). */
function isWebSocket({ headers }: { headers: IncomingHttpHeaders }): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** Proxies commonly end a connection that is silent for a minute. */
const pingMs = 30_000;
/** How often connections whose headers are late are looked for. */
const lookForLateMs = 1_000;
/** A client that was answered before all of its body came may send on for so long; what comes is dropped. */
const lingerMs = 5_000;

/** Routes check requests by `api/validate.ts`. Without these, Fastify loads Ajv and fast-json-stringify: 120 modules that nothing uses. */
const compilersFactory = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema(): never {
  throw new Error('a route declares its schemas with route(), not to Fastify');
}

export async function createHttpServer(options: HttpOptions): Promise<FastifyInstance> {
  const { log, serverHeader, credentials, collectors = [], limits = plainLimits } = options;
  const texts = new JsonText();
  const requests = new RequestMetrics();
  const declared = [...options.routes, metricsRoute([async () => requests.read(), ...collectors], log)];
  const routes = options.versions ? withDocument(declared, options.versions) : declared;
  const app = fastify(fastifyOptions(options, { routes, texts, headersMs: limits.requestMs }));
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
  const isKnownHost = knownHosts(options.allowedHosts ?? []);
  if (!credentials) addHostCheck(app, isKnownHost);
  addCors(app, options.allowedOrigins);
  app.setErrorHandler(replyErrors(texts));
  if (credentials)
    await addCredentials(app, { credentials, isKnownHost, pageFolder: options.pageFolder, limitMs: limits.requestMs });
  app.setNotFoundHandler(replyNotFound(routes));
  if (options.pageFolder !== undefined) addPage(app, options.pageFolder);
  await app.register(websocket, { options: webSockets, errorHandler: endSocket });
  endSilentSockets(app, pingMs);
  await mountRoutes(app, { routes, texts, limits });
  return app;
}

interface Mounted {
  readonly routes: readonly Route[];
  readonly texts: JsonText;
}

function fastifyOptions(
  { log, serverHeader, tls }: HttpOptions,
  { routes, texts, headersMs }: Mounted & { readonly headersMs: number },
): FastifyServerOptions {
  const rewrite = joinSlashes(routes.map((route) => route.template));
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
    rewriteUrl: (request) => rewrite(request.url ?? '/'),
    forceCloseConnections: true,
    routerOptions: { maxParamLength: longestPathPart },
    // Uploads of images take as long as they take; headers and bodies in JSON have limits of their own.
    requestTimeout: 0,
    clientErrorHandler: replyBroken(serverHeader),
    frameworkErrors: (error, request, reply) => {
      // No hook sees these.
      reply.headers({ Server: serverHeader, Connection: 'close' });
      reply.raw.once('finish', () => request.raw.socket.destroySoon());
      replyErrors(texts)(error, request as FastifyRequest, reply as FastifyReply);
    },
  };
}

/** Set before anything can fail, so that errors have these headers too. */
function describeAnswers(app: FastifyInstance, serverHeader: string): void {
  app.addHook('onRequest', async (request, reply) => {
    const template = request.routeOptions.config?.template;
    reply.header('Server', serverHeader);
    if (template !== undefined) reply.header('X-Route', template);
    // The Content-Type of a request is ignored; one that is no media type would be refused before the body is read.
    if (request.headers['content-type'] !== undefined) request.headers['content-type'] = 'application/octet-stream';
  });
}

/** RFC 9112, §3.2. */
function requireHost(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ headers, raw }) => {
    if (headers.host === undefined && raw.httpVersion === '1.1')
      throw fault('invalid_request', { reason: 'the header Host is missing' });
  });
}

/** Routes with a body in JSON, and those that take their body as a stream: each with the parser of their own. */
async function mountRoutes(
  app: FastifyInstance,
  { routes, texts, limits }: Mounted & { readonly limits: HttpLimits },
): Promise<void> {
  const { uploads, requestMs } = limits;
  const mountThose = (context: FastifyInstance, isRaw: boolean) =>
    mount(
      context,
      routes.filter((route) => Boolean(route.spec.raw) === isRaw),
      { texts, floor: uploads.floor },
    );
  await app.register(async (context) => {
    parseJson(context, requestMs);
    mountThose(context, false);
  });
  await app.register(async (context) => {
    const parse = async (request: FastifyRequest, payload: Readable) => {
      await uploads.floor.check(Number(request.headers['content-length'] ?? 0));
      return limitUpload(payload, request.routeOptions.config.mayPause ? { ...uploads, idleMs: 0 } : uploads);
    };
    context.addContentTypeParser('*', { bodyLimit: Number.MAX_SAFE_INTEGER }, parse);
    mountThose(context, true);
  });
}

/**
 * Node hands a connection over with its first `Upgrade`. One that comes to nothing is ours to end: left alone it stays half open, and
 * the server could not end before it. Clients must not send their next request on it either.
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
 * The connection of an answer that left before its request had come whole ends soon, and not at once: bytes that arrive at a closed connection
 * reset it, and the client may lose the answer.
 */
function lingerAfterEarlyAnswers(app: FastifyInstance): void {
  app.addHook('onResponse', async ({ raw }) => {
    if (raw.complete || raw.socket.destroyed) return;
    const timer = setTimeout(() => {
      if (!raw.complete) raw.socket.destroy();
    }, lingerMs).unref();
    raw.once('end', () => clearTimeout(timer));
    raw.resume();
  });
}

/** Unknown paths and methods are answered in plain text, as GNS3's clients expect. */
function replyNotFound(routes: readonly Route[]) {
  const known = routes.map((route) => ({ method: route.method, template: compileTemplate(route.template) }));
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = known.filter(({ template }) => template.match(path)).map(({ method }) => method);
    reply.type('text/plain; charset=utf-8');
    if (methods.length === 0) return reply.code(404).send('404: Not Found');
    const allowed = [...new Set([...methods, 'OPTIONS'])].sort().join(',');
    return reply.code(405).header('Allow', allowed).send('405: Method Not Allowed');
  };
}

/** A frame against the protocol, or a client that has gone, is no error of the server. */
function endSocket(error: NodeJS.ErrnoException, socket: WebSocket, request: FastifyRequest): void {
  const isClients = /^(?:WS_ERR_|ECONNRESET$|EPIPE$)/.test(error.code ?? '');
  request.log[isClients ? 'info' : 'error'](error);
  socket.terminate();
}
