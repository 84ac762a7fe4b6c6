/** Compresses answers in JSON for clients that accept gzip: a list of 1,000 links is 1.1 MB of text, and 66 kB compressed. */
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** In the thread pool of libuv: the event loop stays free. */
const compress = promisify(gzip);
/** Shorter answers fit into one packet, compressed or not. */
const smallestBytes = 1024;
/** Indented JSON is a tenth already at the fastest level. */
const level = constants.Z_BEST_SPEED;

/** Streams, and what is compressed already, are sent as they are. */
export function compressJson(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!Buffer.isBuffer(payload) || payload.length <= smallestBytes || !isPlainJson(reply)) {
      done(null, payload);
      return;
    }
    reply.header('Vary', [reply.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', '));
    if (!acceptsGzip(request.headers['accept-encoding'])) {
      done(null, payload);
      return;
    }
    compress(payload, { level }).then(
      (bytes) => {
        reply.header('Content-Encoding', 'gzip');
        // RFC 9110, §8.8.3.3: other bytes need another strong tag; a weak one stands for both.
        const tag = reply.getHeader('etag');
        if (typeof tag === 'string' && !tag.startsWith('W/')) reply.header('ETag', `W/${tag}`);
        done(null, bytes);
      },
      (error: Error) => done(error),
    );
  });
}

function isPlainJson(reply: FastifyReply): boolean {
  return reply.getHeader('content-type') === 'application/json' && !reply.hasHeader('content-encoding');
}

/** RFC 9110, §12.5.3: the last word on gzip is its own weight, else that of `*`. Absent: the client did not ask for it. */
export function acceptsGzip(header: string | undefined): boolean {
  const weights = new Map(
    (header ?? '').split(',').map((part) => {
      const [name = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase());
      const weight = parameters.find((one) => one.startsWith('q='));
      return [name, weight === undefined ? 1 : Number(weight.slice(2))];
    }),
  );
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0;
}
