/**
 * Serves the page that `scripts/build-page.mjs` built. Files are read on request, so a start reads none and a page built meanwhile
 * is served at once. Written by hand, because loading a library takes a tenth of the server's start.
 */
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Addresses of the page; the browser decides what they show (`web/router.ts`). */
export const pagePaths = [
  '/',
  '/projects',
  '/projects/:id',
  '/projects/:id/consoles/:node',
  '/templates',
  '/appliances',
  '/images',
  '/server',
  '/accounts',
  '/accounts/:part',
];

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.map': 'application/json',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/**
 * Content security policy: scripts are our files only. Style attributes are allowed because the terminals write them. Projects'
 * pictures come from `blob:` and `data:`, as images, in which no script runs.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self' ws: wss:",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const notBuilt = `<!doctype html><meta charset="utf-8"><title>Patchbay</title>
<p>This server answers its API, but its page is not built. Run <code>node_modules/.bin/node scripts/build-page.mjs</code> in its
folder, and load this again; <code>npm start</code> does so before each start.</p>
`;

/** Encodings of the compressed files beside the plain ones, the best first. */
const encodings = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
];

export function addPage(app: FastifyInstance, folder: string): void {
  for (const url of pagePaths) {
    app.get(url, async (request, reply) => {
      if (!(await sendPage(request, reply, join(folder, 'index.html')))) reply.type(contentTypes['.html'] ?? '').send(notBuilt);
      return reply;
    });
  }
  // An address of GNS3's pages, which users have bookmarked.
  app.get('/controller', async (_request, reply) => reply.redirect('/'));
  // The assets are public: the same on every server, and the login page needs some of them.
  app.get('/assets/:name', { config: { isPublic: true } }, async (request, reply) => {
    const { name } = request.params as { name: string };
    // Asset names contain a hash of their content.
    reply.header('cache-control', 'public, max-age=31536000, immutable');
    if (/^[\w-][\w.-]*$/.test(name) && (await sendFile(request, reply, join(folder, 'assets', name)))) return reply;
    reply.removeHeader('cache-control');
    return reply.callNotFound();
  });
}

/** Sends an HTML document of the page; false when the file does not exist. */
export function sendPage(request: FastifyRequest, reply: FastifyReply, path: string): Promise<boolean> {
  reply.headers({ 'cache-control': 'no-cache', 'content-security-policy': policy });
  return sendFile(request, reply, path);
}

/** Sends a file in the best encoding that the client accepts; false when it does not exist. */
async function sendFile(request: FastifyRequest, reply: FastifyReply, path: string): Promise<boolean> {
  const accepted = request.headers['accept-encoding'] ?? '';
  for (const { name, ending } of [...encodings, { name: '', ending: '' }]) {
    if (!accepted.includes(name)) continue;
    const bytes = await readFile(`${path}${ending}`).catch(() => undefined);
    if (!bytes) continue;
    reply.headers({
      vary: 'Accept-Encoding',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      ...(name !== '' && { 'content-encoding': name }),
    });
    reply.type(contentTypes[extname(path)] ?? 'application/octet-stream').send(bytes);
    return true;
  }
  return false;
}
