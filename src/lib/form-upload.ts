/**
 * An uploaded file, sent as it is or in a form. Scripts send the file itself; browsers and `curl -F` send a form that holds it. The
 * Content-Type is ignored, as clients that send plain bytes declare them a form too. A body is a form when it begins as all forms do (RFC
 * 7578), with a line of two dashes and a boundary, and a header `Content-…`; or when it is an empty form.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** RFC 2046 allows 70 characters for what separates the parts. */
const longestBoundary = 70;
const headBytes = `--${'x'.repeat(longestBoundary)}--\r\nContent-`.length;

/** A form without a file, or that is damaged. */
export class FormError extends Error {
  override readonly name = 'FormError';
}

/**
 * The file: the body, or the first file of the form. Nothing of the body is read before the file is. It fails with a FormError, also when
 * the form is damaged behind the file, and with the reason why the body broke off.
 */
export function fileOf(body: Readable): Readable {
  // A client that goes before its bytes are asked for.
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
  // Scripts send no forms: they need not wait for this at the start.
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
    // The parser's failure says more.
  } finally {
    // The receiver may have had enough.
    if (!file?.readableEnded) source.destroy();
  }
  const failure = (await parsed) ?? (file ? undefined : new FormError('it holds no file'));
  if (failure) throw failure;
}
