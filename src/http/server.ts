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
import type { Route } from '../api/route.ts';
import { compileTemplate, joinSlashes } from '../api/template.ts';
import { JsonText } from '../lib/json-text.ts';
import { addBasicAuth, addCors } from './access.ts';
import { mount } from './mount.ts';
import { bodyLimitBytes, replyErrors } from './reply-errors.ts';

export interface HttpOptions {
  routes: readonly Route[];
  log: FastifyBaseLogger;
  /** Value of the `Server` header; clients of the established API look at its second product. */
  serverHeader: string;
  credentials?: { user: string; password: string };
}

export async function createHttpServer({ routes, log, serverHeader, credentials }: HttpOptions): Promise<FastifyInstance> {
  const texts = new JsonText();
  const rewrite = joinSlashes(routes.map((route) => route.template));
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    exposeHeadRoutes: false,
    rewriteUrl: (request) => rewrite(request.url ?? '/'),
    bodyLimit: bodyLimitBytes,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 8192 },
    // Uploads of images take as long as they take.
    requestTimeout: 0,
    frameworkErrors: (error, request, reply) => {
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
  addCors(app);
  if (credentials) addBasicAuth(app, credentials.user, credentials.password);
  app.setErrorHandler(replyErrors(texts));
  app.setNotFoundHandler(replyNotFound(routes));
  await app.register(websocket, { options: { maxPayload: bodyLimitBytes } });
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
      const request = { malformed_json: text.slice(0, 4096) };
      throw fault('malformed_json', { reason: (error as Error).message }, { extra: { request } });
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
