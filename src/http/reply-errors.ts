/** Turns every thrown error into an answer, in the form of the request's generation of the API. */
import { randomUUID } from 'node:crypto';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type Fault, fault, isFault } from '../api/faults.ts';
import { DiskFloorError } from '../lib/disk-floor.ts';
import type { JsonText } from '../lib/json-text.ts';
import { generationOf } from './generations/generations.ts';

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
    const { status, body } = generationOf(request.url).errorOf(known, request);
    return sendJson(reply, status, body, texts);
  };
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
  request.log.error({ err: error, id, method: request.method, url: request.url.split('?', 1)[0] }, 'unexpected error');
  return sendJson(reply, 500, { message: `Unexpected error ${id}: its cause is in the server's log`, status: 500 }, texts);
}

function sendJson(reply: FastifyReply, status: number, body: unknown, texts: JsonText): FastifyReply {
  return reply.code(status).header('Content-Type', 'application/json').send(texts.encode(body));
}
