/** Turns every thrown error into an answer: the only file that knows the wire format of errors. */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type Fault, fault, isFault } from '../api/faults.ts';
import { DiskFloorError } from '../lib/disk-floor.ts';
import type { JsonText } from '../lib/json-text.ts';
import { declaredRoute } from './declared-routes.ts';

/** Header of every error answer: the code by which docs/errors.md lists it. */
export const codeHeader = 'X-Error-Code';
/** Longest parameter in a path. Characters. */
export const longestPathPart = 8192;

/** Handler for Fastify's `setErrorHandler`. */
export function replyErrors(texts: JsonText) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const known = faultOf(error);
    if (!known) return replyUnknown(error, request, reply, texts);
    if (known.cause !== undefined) request.log.info({ cause: known.cause, code: known.code }, known.message);
    // GNS3's bodies have no code: programs that tell errors apart read it here.
    reply.header(codeHeader, known.code);
    return sendJson(reply, known.status, bodyOf(known, request), texts);
  };
}

/**
 * Formats the answer's body. `exception` and its fields are for the compute API: controllers read them. GNS3's controller API has
 * none.
 */
function bodyOf(known: Fault, request: FastifyRequest): Record<string, unknown> {
  const template = declaredRoute(request)?.template;
  const { request: understood, ...extra } = known.extra;
  const body: Record<string, unknown> = { message: known.message, status: known.status };
  if (template?.startsWith('/v2/compute/')) {
    Object.assign(body, extra);
    if (known.exception !== undefined) body.exception = known.exception;
  }
  if (known.status === 400) {
    body.method = request.method;
    body.path = template ?? request.url;
    body.request = understood ?? redact(request.body);
  }
  return body;
}

/** Finds the fault of an error: a lack of the system, else the thrown fault, else Fastify's own error about the request. */
function faultOf(error: unknown): Fault | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EMFILE' || code === 'ENFILE') return fault('files_exhausted', { code }, { cause: error });
    // Readers of an upload wrap the error that ends it.
    if (isFault(cause, 'upload_idle')) return cause;
    if (cause instanceof DiskFloorError) return fault('disk_floor', { reason: cause.message }, { cause: error });
  }
  if (isFault(error)) return error;
  const { statusCode, message } = error as FastifyError;
  if (typeof statusCode !== 'number' || statusCode < 400 || statusCode >= 500) return undefined;
  return fault('invalid_request', { reason: message });
}

/** Answers an unexpected error, which is a bug: the client gets an id to look up in the log, never the cause. */
function replyUnknown(error: unknown, request: FastifyRequest, reply: FastifyReply, texts: JsonText): FastifyReply {
  const id = randomUUID().slice(0, 8);
  request.log.error({ err: error, id, method: request.method, url: request.url }, 'unexpected error');
  return sendJson(reply, 500, { message: `Unexpected error ${id}: its cause is in the server's log`, status: 500 }, texts);
}

function sendJson(reply: FastifyReply, status: number, body: unknown, texts: JsonText): FastifyReply {
  return reply.code(status).header('Content-Type', 'application/json').send(texts.encode(body));
}

/** Most characters of the request that an answer quotes; each value counts as one at least. */
const mostShown = 4096;

/** Shortens the request that a 400 answer quotes, and removes its secrets. */
function redact(body: unknown): unknown {
  if (body === undefined || body instanceof Readable) return {};
  let left = mostShown;
  try {
    const text = JSON.stringify(body, (key, value) => {
      left -= 1;
      if (left < 0) throw new RangeError('it holds more than is shown');
      return key === 'password' || key === 'secret' || key === 'token' ? '***' : value;
    });
    return text.length > mostShown ? {} : JSON.parse(text);
  } catch {
    return {};
  }
}
