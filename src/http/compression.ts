/** Compresses answers in JSON for clients that accept gzip: a list of 1,000 links is 1.1 MB of text, and 66 kB compressed. */
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Runs in libuv's thread pool, so that the event loop stays free. */
const compress = promisify(gzip);
/**
 * Answers up to this size are not compressed: they fit into the first flight of a connection, ten packets (RFC 6928), and a client waits
 * longer for the compression than for them. Bytes.
 */
const smallestBytes = 4096;
/** The fastest level already reduces indented JSON to a tenth. */
const level = constants.Z_BEST_SPEED;

/** Compresses JSON answers. Streams and encoded answers are sent unchanged. */
export function compressJson(app: FastifyInstance): void {
  // An answer that many requests share is compressed once, and is in memory once.
  const compressed = new WeakMap<Buffer, Promise<Buffer>>();
  const gzipped = (payload: Buffer) => {
    const bytes = compressed.get(payload) ?? compress(payload, { level });
    compressed.set(payload, bytes);
    return bytes;
  };
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
    gzipped(payload).then(
      (bytes) => {
        reply.header('Content-Encoding', 'gzip');
        // RFC 9110, §8.8.3.3: another encoding needs another strong tag; a weak tag is valid for both.
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

/**
 * Whether the client accepts gzip. The weight of gzip itself wins over the weight of `*` (RFC 9110, §12.5.3); no header means no.
 */
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
