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
 * Has `save` take the file: the body, or the first file of the form. Resolves when it is saved.
 * @throws FormError; what `save` throws; why the body broke off
 */
export async function takeUpload(body: Readable, save: (file: Readable) => Promise<void>): Promise<void> {
  // A client that goes before its bytes are asked for.
  body.on('error', () => undefined);
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const head = await readHead(chunks);
  const whole = Readable.from(joined(head, chunks), { objectMode: false });
  const boundary = /^--([^\r\n]+?)(?:--\r?\n?$|\r?\ncontent-)/i.exec(head.toString('latin1'))?.[1];
  await (boundary === undefined ? save(whole) : saveFromForm(whole, boundary, save));
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

async function saveFromForm(source: Readable, boundary: string, save: (file: Readable) => Promise<void>): Promise<void> {
  // Scripts send no forms: they need not wait for this at the start.
  const { Busboy } = await import('@fastify/busboy');
  const form = new Busboy({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
    limits: { files: 1, fields: 20, parts: 21, fieldSize: 4096, headerPairs: 50 },
  });
  let file: Readable | undefined;
  let saved: Promise<void> | undefined;
  let isSourceToBlame = false;
  let failure: unknown;
  source.once('error', () => {
    isSourceToBlame = true;
  });
  form.on('file', (_name, part) => {
    file = part;
    saved = save(part).catch((error: Error) => {
      failure ??= error;
      form.destroy(error);
    });
  });
  try {
    await pipeline(source, form);
  } catch (error) {
    failure ??= isSourceToBlame ? error : new FormError((error as Error).message, { cause: error });
    file?.destroy(error as Error);
  }
  await saved;
  if (failure !== undefined) throw failure;
  if (!file) throw new FormError('it holds no file');
}
