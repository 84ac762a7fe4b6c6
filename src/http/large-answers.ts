/** Sends large answers in pieces, each in a turn of its own: the kernel may take 50 MB at once, and copies them while nothing else is done. */
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';

const pieceBytes = 256 * 1024;
/** Shorter answers are sent as they are. */
const largeBytes = 4 * pieceBytes;

/** After the hooks that change an answer. */
export function sendLargeInPieces(app: FastifyInstance): void {
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
