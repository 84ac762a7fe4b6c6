/** Reads bodies as JSON whatever the request calls them, within limits of size, time and depth; an empty one is `{}`. */
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fault } from '../api/faults.ts';
import { hasMoreKeys, hasMoreValues, isDeeper } from '../lib/json-depth.ts';

export const bodyLimitBytes = 1_048_576;
/** Deepest nesting of a body; requests of GNS3's clients have six levels at most. */
const mostLevels = 100;
/**
 * Most values in a body, the limit of a node in a project file too. The page's largest requests have a tenth; a million take 0.3 s.
 */
const mostValues = 50_000;
/** Most keys of one object: listing or copying an object of 50,000 keys takes up to 40 ms. */
const mostKeys = 10_000;
/** Longer bodies are parsed in a separate turn: one with `mostValues` values takes 45 ms. */
const longBytes = 64 * 1024;

export function parseJson(app: FastifyInstance, limitMs: number): void {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  // This parser reads every body of the context: the framework's own limit would send an error in another form.
  app.addContentTypeParser('*', { bodyLimit: Number.MAX_SAFE_INTEGER }, async (request: FastifyRequest, payload: Readable) =>
    parse(await readBody(request, payload, limitMs), decoder),
  );
}

/** Reads a whole body. @throws body_too_large, body_late, or the error with which the client disconnected */
function readBody({ headers }: FastifyRequest, payload: Readable, limitMs: number): Promise<Buffer> {
  const tooLarge = () => fault('body_too_large', { limit: bodyLimitBytes });
  if (Number(headers['content-length'] ?? 0) > bodyLimitBytes) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (error?: Error): void => {
      clearTimeout(timer);
      payload.off('data', take).off('end', settle).off('error', settle).off('aborted', gone);
      // Later bytes are dropped.
      payload.on('error', () => undefined);
      if (error) reject(error);
      else resolve(Buffer.concat(chunks));
    };
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > bodyLimitBytes) settle(tooLarge());
      else chunks.push(chunk);
    };
    const gone = (): void => settle(fault('invalid_request', { reason: 'the body broke off' }));
    const timer = setTimeout(() => settle(fault('body_late', { seconds: limitMs / 1000 })), limitMs);
    payload.on('data', take).once('end', settle).once('error', settle).once('aborted', gone);
  });
}

async function parse(bytes: Buffer, decoder: InstanceType<typeof TextDecoder>): Promise<unknown> {
  if (bytes.length === 0) return {};
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw fault('malformed_json', { reason: 'it is not UTF-8' }, { extra: { request: { malformed_json: '' } } });
  }
  if (isDeeper(bytes, mostLevels))
    throw fault('malformed_json', { reason: `it is nested deeper than ${mostLevels} levels` }, { extra: { request: {} } });
  if (hasMoreValues(bytes, mostValues)) throw fault('body_too_many_values', { limit: mostValues });
  if (hasMoreKeys(bytes, mostKeys))
    throw fault('invalid_request', { reason: `an object has more than ${mostKeys} keys` }, { extra: { request: {} } });
  try {
    const parsed: unknown = JSON.parse(text);
    if (bytes.length > longBytes) await new Promise(setImmediate);
    return parsed;
  } catch (error) {
    // The answer quotes the body; a text that may hold a password must not be quoted, not even by the parser's message.
    const isSecret = /pass/i.test(text);
    const request = { malformed_json: isSecret ? '' : text.slice(0, 4096) };
    const reason = isSecret ? 'it cannot be read' : (error as Error).message;
    throw fault('malformed_json', { reason }, { extra: { request } });
  }
}
