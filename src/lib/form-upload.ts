/**
 * Reads an uploaded file, sent alone or in a form. Scripts send the file itself; browsers and `curl -F` send a form. The
 * Content-Type is ignored, because clients that send plain bytes declare a form too. A body is a form when it begins with two
 * dashes, a boundary and a header `Content-…` (RFC 7578), or when it is an empty form.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Longest boundary between the parts (RFC 2046). */
const longestBoundary = 70;
const headBytes = `--${'x'.repeat(longestBoundary)}--\r\nContent-`.length;

/** The form has no file, or is damaged. */
export class FormError extends Error {
  override readonly name = 'FormError';
}

/**
 * Returns the body, or the first file of the form. The body is read only when the file is. The stream throws a FormError, also when
 * the form is damaged after the file, and the error of the body.
 */
export function fileOf(body: Readable): Readable {
  // The client may disconnect before its bytes are read.
  body.on('error', () => undefined);
  return Readable.from(fileChunks(body), { objectMode: false });
}

async function* fileChunks(body: Readable): AsyncGenerator<Buffer> {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const head = await readHead(chunks);
  const boundary = /^--([^\r\n]+?)(?:--\r?\n?$|\r?\ncontent-)/i.exec(head.toString('latin1'))?.[1];
  const whole = joined(head, chunks);
  yield* boundary === undefined ? whole : fileOfForm(Readable.from(whole, { objectMode: false }), boundary);
}

async function readHead(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < headBytes) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  return head;
}

async function* joined(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

async function* fileOfForm(source: Readable, boundary: string): AsyncGenerator<Buffer> {
  // Loaded on demand, because scripts send no forms and the start need not wait for it.
  const { Busboy } = await import('@fastify/busboy');
  const form = new Busboy({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
    limits: { files: 1, fields: 20, parts: 21, fieldSize: 4096, headerPairs: 50 },
  });
  const found = Promise.withResolvers<Readable | undefined>();
  form.on('file', (_name, file) => found.resolve(file));
  let brokenOff: Error | undefined;
  source.once('error', (error) => {
    brokenOff = error;
  });
  const parsed = pipeline(source, form).then(
    () => undefined,
    (error: Error) => brokenOff ?? new FormError(error.message, { cause: error }),
  );
  void parsed.then(() => found.resolve(undefined));
  const file = await found.promise;
  void parsed.then((error) => error && file?.destroy(error));
  try {
    if (file) yield* file;
  } catch {
    // The parser's error is more precise.
  } finally {
    // The receiver may have stopped early.
    if (!file?.readableEnded) source.destroy();
  }
  const failure = (await parsed) ?? (file ? undefined : new FormError('it holds no file'));
  if (failure) throw failure;
}
