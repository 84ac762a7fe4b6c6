/** Answers with files of a folder and turns file errors into faults, the same way in the controller and the compute. */
import type { Readable } from 'node:stream';
import { type Fault, fault, isFault } from './faults.ts';
import { Stream } from './route.ts';

interface OpenFile {
  readonly contentType: string;
  readonly modified: Date;
  readonly sizeBytes: number;
  readonly source: Readable;
}

/** Prevents browsers from treating a user's file as a page of this server. */
const harmless = { 'content-security-policy': 'sandbox', 'x-content-type-options': 'nosniff' };

export function fileAnswer({ contentType, modified, sizeBytes, source }: OpenFile): Stream {
  const headers = { ...harmless, 'content-length': String(sizeBytes), 'last-modified': modified.toUTCString() };
  return new Stream(contentType, source, headers);
}

/** Turns a file error into a fault; a fault is returned unchanged. `path`: as the client gave it. */
export function fileFault(path: string, cause: NodeJS.ErrnoException): Fault {
  if (isFault(cause)) return cause;
  if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') return fault('file_not_found', { path }, { cause });
  const full = cause.code === 'ENOSPC' || cause.code === 'EDQUOT' || cause.code === 'EIO';
  if (full) return fault('storage_failed', { reason: cause.message }, { cause });
  const reason = cause.code === undefined ? cause.message : (reasons[cause.code] ?? cause.code);
  return fault('path_forbidden', { path: path.replaceAll('\0', '?'), reason }, { cause });
}

/** Reasons by error code; the system's messages would reveal the full path on this host. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: 'the server may not use it',
  EISDIR: 'it is a folder',
  ELOOP: 'its symbolic links lead nowhere',
  ENAMETOOLONG: 'it is too long',
  ENOTEMPTY: 'it is a folder',
  EPERM: 'the server may not use it',
};
