/**
 * Serves a build of GNS3's web UI that an administrator brings (`web_ui`), at the address that its `index.html` names as its base. Without
 * one the address leads to the page, as users have bookmarked it.
 */
import { extname } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { readInside } from '../lib/folder-files.ts';

const base = '/static/web-ui';
const index = 'index.html';
const noIndex = "The folder that web_ui names in this server's configuration has no index.html.\n";

/** Types of files that a browser uses only with the right type; those of other files are in `lib/folder-files.ts`. */
const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
};

/**
 * Content security policy: scripts are those of the build, with the handlers in its `index.html` that load its styles, and it may use other
 * servers, as it has a list of them. Nothing shows it in a frame.
 */
const policy = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob: http: https:",
  "font-src 'self' data:",
  'connect-src http: https: ws: wss:',
  "object-src 'none'",
  "base-uri 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Adds the files of `folder`, which need no credentials: the build's own login asks for these. */
export function addWebUi(app: FastifyInstance, folder: string | undefined): void {
  const config = { isPublic: true } as const;
  if (folder === undefined) {
    app.get(`${base}/*`, async (_request, reply) => reply.redirect('/'));
    return;
  }
  app.get(base, { config }, async (_request, reply) => reply.redirect(`${base}/bundled`));
  app.get(`${base}/*`, { config }, async (request, reply) => {
    const { '*': path = '' } = request.params as { '*'?: string };
    // Addresses of the build's own views are no files, and neither is `bundled`, by which the build names this server.
    if ((await sendFile(reply, folder, path)) || (await sendFile(reply, folder, index))) return reply;
    return reply.code(404).type('text/plain; charset=utf-8').send(noIndex);
  });
}

/** Sends a file of the folder; false when there is none, or it is outside. */
async function sendFile(reply: FastifyReply, folder: string, path: string): Promise<boolean> {
  const found = await readInside(folder, path).catch(() => undefined);
  if (!found) return false;
  reply.headers({
    'content-security-policy': policy,
    'cache-control': 'no-cache',
    'content-length': found.sizeBytes,
    'last-modified': found.modified.toUTCString(),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  reply.type(contentTypes[extname(path).toLowerCase()] ?? found.contentType).send(found.source);
  return true;
}
