/** The HTTP server: how bytes become calls of routes and answers become bytes. Fastify is known in this folder and nowhere else. */
import websocket from '@fastify/websocket';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { fault } from '../api/faults.ts';
import type { ApiVersions } from '../api/openapi/document.ts';
import { withDocument } from '../api/openapi/routes.ts';
import type { Route } from '../api/route.ts';
import { compileTemplate, joinSlashes } from '../api/template.ts';
import { JsonText } from '../lib/json-text.ts';
import type { CollectMetrics } from '../lib/metric.ts';
import { addBasicAuth, addCors, type Credentials } from './access.ts';
import { replyBroken } from './broken-requests.ts';
import { metricsRoute } from './metrics.ts';
import { mount } from './mount.ts';
import { addPage } from './page.ts';
import { bodyLimitBytes, replyErrors } from './reply-errors.ts';
import { RequestMetrics } from './request-metrics.ts';

/** A client that is asked to close and does not answer is cut off soon: what waits for it takes memory. `closeTimeout` is new in ws 8.19. */
const webSockets: { maxPayload: number; closeTimeout: number } = { maxPayload: bodyLimitBytes, closeTimeout: 5_000 };

export interface HttpOptions {
  routes: readonly Route[];
  log: FastifyBaseLogger;
  /** Value of the `Server` header; clients of the established API look at its second product. */
  serverHeader: string;
  credentials?: Credentials;
  /** Origins of pages from elsewhere that may use the server. */
  allowedOrigins: readonly string[];
  /** PEM; absent: plain HTTP. */
  tls?: { key: Buffer; cert: Buffer };
  /** Given: the routes are described at `/openapi.json`. */
  versions?: ApiVersions;
  /** Where the page for browsers was built; without it none is served. */
  pageFolder?: string;
  /** What `/metrics` tells beside the requests and the process. */
  collectors?: readonly CollectMetrics[];
}

export async function createHttpServer(options: HttpOptions): Promise<FastifyInstance> {
  const { log, serverHeader, credentials, tls, collectors = [] } = options;
  const texts = new JsonText();
  const requests = new RequestMetrics();
  const declared = [...options.routes, metricsRoute([async () => requests.read(), ...collectors], log)];
  const routes = options.versions ? withDocument(declared, options.versions) : declared;
  const rewrite = joinSlashes(routes.map((route) => route.template));
  const app = fastify({
    loggerInstance: log,
    ...(tls && { https: tls }),
    logController: new LogController({ disableRequestLogging: true }),
    exposeHeadRoutes: false,
    rewriteUrl: (request) => rewrite(request.url ?? '/'),
    bodyLimit: bodyLimitBytes,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 8192 },
    // Uploads of images take as long as they take.
    requestTimeout: 0,
    clientErrorHandler: replyBroken(serverHeader),
    frameworkErrors: (error, request, reply) => {
      reply.header('Server', serverHeader);
      replyErrors(texts)(error, request as FastifyRequest, reply as FastifyReply);
    },
  });
  app.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
  app.removeAllContentTypeParsers();
  app.addHook('onRequest', async (request, reply) => {
    const template = request.routeOptions.config?.template;
    reply.header('Server', serverHeader);
    if (template !== undefined) reply.header('X-Route', template);
    // What a body calls itself is not heeded; a name that is no media type would be refused before it is read.
    if (request.headers['content-type'] !== undefined) request.headers['content-type'] = 'application/octet-stream';
  });
  requests.watch(app);
  endRefusedUpgrades(app);
  addCors(app, options.allowedOrigins);
  if (credentials) addBasicAuth(app, credentials);
  app.setErrorHandler(replyErrors(texts));
  app.setNotFoundHandler(replyNotFound(routes));
  if (options.pageFolder !== undefined) addPage(app, options.pageFolder);
  await app.register(websocket, { options: webSockets });
  await app.register(async (context) => {
    parseJson(context);
    mount(
      context,
      routes.filter((route) => !route.spec.raw),
      texts,
    );
  });
  await app.register(async (context) => {
    context.addContentTypeParser('*', { bodyLimit: Number.MAX_SAFE_INTEGER }, (_request, payload, done) => done(null, payload));
    mount(
      context,
      routes.filter((route) => route.spec.raw),
      texts,
    );
  });
  return app;
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

/** A body is JSON whatever the request calls it, and an empty one is `{}`. */
function parseJson(app: FastifyInstance): void {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: FastifyRequest, bytes: Buffer) => {
    if (bytes.length === 0) return {};
    let text: string;
    try {
      text = decoder.decode(bytes);
    } catch {
      throw fault('malformed_json', { reason: 'it is not UTF-8' }, { extra: { request: { malformed_json: '' } } });
    }
    try {
      const parsed: unknown = JSON.parse(text);
      return parsed;
    } catch (error) {
      // Answers show what came; what looks like a password they must not, and the parser's words quote it.
      const isSecret = /pass/i.test(text);
      const request = { malformed_json: isSecret ? '' : text.slice(0, 4096) };
      const reason = isSecret ? 'it cannot be read' : (error as Error).message;
      throw fault('malformed_json', { reason }, { extra: { request } });
    }
  });
}

/** Unknown paths and methods are answered in plain text, as clients of the established API expect. */
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
