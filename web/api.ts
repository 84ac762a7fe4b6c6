/** The server's HTTP API as the page uses it. Paths begin with `/v2` or `/v3`. */
import { texts } from './texts.ts';

/** A failed response, with the server's own message. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** Code of docs/errors.md; empty where no server answered. */
  readonly code: string;

  constructor(status: number, message: string, code = '') {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface Upload {
  readonly method?: 'POST' | 'PUT';
  readonly body: Blob;
  /** 0 to 1. */
  readonly onProgress?: (part: number) => void;
  readonly signal?: AbortSignal;
}

export interface Api {
  get<T>(path: string): Promise<T>;
  post<T = unknown>(path: string, body?: unknown, signal?: AbortSignal): Promise<T>;
  put<T = unknown>(path: string, body: unknown): Promise<T>;
  /** Sends a JSON merge patch: only the members that change. */
  patch<T = unknown>(path: string, changes: unknown): Promise<T>;
  delete(path: string): Promise<void>;
  /** Uploads a file unchanged. */
  upload<T = unknown>(path: string, upload: Upload): Promise<T>;
  /** Sends a request whose response reports progress as one JSON document per line; the signal ends it. */
  lines<T>(path: string, onLine: (line: T) => void, body?: unknown, signal?: AbortSignal): Promise<void>;
  /** Downloads a file; the fraction is undefined while its size is unknown. */
  download(path: string, onProgress: (bytes: number, part?: number) => void): Promise<Blob>;
  /** Streams a response until the signal aborts it. */
  stream(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /**
   * Reads response headers: the version of Patchbay, empty when it is missing, and whether this browser signed in on the login
   * page.
   */
  program(): Promise<{ readonly version: string; readonly signedIn: boolean }>;
  /** URL of a WebSocket, valid for one connection made now. @throws ApiError */
  socket(path: string): Promise<string>;
}

/**
 * The name under which changes are recorded; empty: the account, else the browser. `names`: all that this page has had.
 * In the header, it is UTF-8 in the characters that headers may have.
 */
export const sender = { name: '', names: new Set<string>() };
const senderHeader = (): Record<string, string> =>
  sender.name === '' ? {} : { 'x-patchbay-client': String.fromCharCode(...new TextEncoder().encode(sender.name)) };

/**
 * Sends a request. A browser ends all that are under way when the host's network changes, such as by a new interface: those that may be
 * repeated are sent once more. @throws ApiError; status 0 when the server could not be reached
 */
async function call(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  // The browser would show a file that was replaced a moment ago from its cache.
  const fresh = { method, cache: 'no-store', headers: senderHeader() } as const;
  const init: RequestInit = { ...fresh, ...(body !== undefined && { body: JSON.stringify(body) }), ...(signal && { signal }) };
  let isRepeated = false;
  const repeat = (error: unknown) => {
    if (method === 'POST' || signal?.aborted) throw error;
    isRepeated = true;
    return fetch(path, init);
  };
  const answer = await fetch(path, init)
    .catch(repeat)
    .catch(() => {
      throw new ApiError(0, 'The server does not answer');
    });
  if (answer.status === 401) leaveSession(answer.headers.get('www-authenticate'));
  // The first request had deleted it.
  if (isRepeated && method === 'DELETE' && answer.status === 404) return answer;
  if (!answer.ok) throw await withReason(failure(answer.status, await answer.text(), answer.headers.get(codeHeader)), method, path);
  return answer;
}

/** Loads the page again when the session has ended: the server then asks for user and password. */
function leaveSession(challenge: string | null): void {
  if (challenge?.startsWith('Cookie')) location.reload();
}

async function json<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const text = await (await call(method, path, body, signal)).text();
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

/** Header of error answers with the code of docs/errors.md. */
const codeHeader = 'x-error-code';

/** Codes of errors about an item that does not exist, to what it is. */
const missingItems: Readonly<Record<string, string>> = {
  node_not_found: 'node',
  link_not_found: 'link',
  drawing_not_found: 'drawing',
};

function failure(status: number, text: string, header: string | null): ApiError {
  const code = header ?? '';
  // The page shows what exists, so another client has deleted it meanwhile.
  const item = missingItems[code];
  return new ApiError(status, item ? `The ${item} was deleted by another user.` : messageOf(text, status), code);
}

function messageOf(text: string, status: number): string {
  try {
    const { message } = JSON.parse(text) as { message?: string };
    // Routes of `/v3` list invalid fields as GNS3 does, in Python's spelling.
    const [, field, complaint] = /'loc': \('body', '(\w+)'\), 'msg': (?:'|")(.+?)(?:'|"), 'input'/.exec(message ?? '') ?? [];
    if (message) return complaint ? `${field}: ${complaint}` : message;
  } catch {
    // Plain text is a message already.
  }
  return text.trim() || `The server answered with status ${status}`;
}

/** Codes of refusals for want of a right. A project that the account may not see is answered as one that does not exist. */
const refusals = ['forbidden', 'administrator_needed', 'project_not_found'];

/** Adds to a refusal which entry of the access list decided, and whom to ask. */
async function withReason(error: ApiError, method: string, path: string): Promise<ApiError> {
  if (!refusals.includes(error.code)) return error;
  return new ApiError(error.status, (await explainRefusal(method, path)) ?? error.message, error.code);
}

interface Explanation {
  readonly username: string;
  readonly allowed: boolean;
  readonly reasons: readonly { readonly allowed: boolean; readonly sentence: string }[];
  readonly ask: readonly string[];
}

/** Says why the account may not send a request, and whom to ask; undefined when it may, and when the server does not say. */
export async function explainRefusal(method: string, path: string): Promise<string | undefined> {
  const address = `/v3/access/users/me/explain/${method}${path.split('?', 1)[0]}`;
  const answer = await fetch(address, { cache: 'no-store' }).catch(() => undefined);
  if (!answer?.ok) return undefined;
  const { username, allowed, reasons, ask } = (await answer.json()) as Explanation;
  if (allowed) return undefined;
  const sentence = reasons.find((reason) => !reason.allowed)?.sentence;
  const others = ask.filter((name) => name !== username);
  const { refusal } = texts;
  const why = sentence === undefined ? refusal.administrator : refusal.privilege(sentence);
  return others.length > 0 ? `${why} ${refusal.ask(others)}` : why;
}

/** Uses XMLHttpRequest: fetch reports no upload progress. */
function upload<T>(path: string, { method = 'POST', body, onProgress, signal }: Upload): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, path);
    request.upload.onprogress = ({ loaded, total }) => onProgress?.(total > 0 ? loaded / total : 0);
    request.onerror = () => reject(new ApiError(0, 'The connection was lost while the file was sent'));
    request.onabort = () => reject(new DOMException('aborted', 'AbortError'));
    request.onload = () => {
      const { status, responseText } = request;
      if (status === 401) leaveSession(request.getResponseHeader('www-authenticate'));
      if (status >= 200 && status < 300) resolve((responseText === '' ? undefined : JSON.parse(responseText)) as T);
      else void withReason(failure(status, responseText, request.getResponseHeader(codeHeader)), method, path).then(reject);
    };
    signal?.addEventListener('abort', () => request.abort(), { once: true });
    request.send(body);
  });
}

async function lines<T>(path: string, onLine: (line: T) => void, body?: unknown, signal?: AbortSignal): Promise<void> {
  const answer = await call('POST', path, body, signal);
  let rest = '';
  for await (const text of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const complete = `${rest}${text}`.split('\n');
    rest = complete.pop() ?? '';
    for (const line of complete) onLine(JSON.parse(line) as T);
  }
}

async function download(path: string, onProgress: (bytes: number, part?: number) => void): Promise<Blob> {
  const answer = await call('GET', path);
  const size = Number(answer.headers.get('content-length') ?? 0);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let received = 0;
  for await (const chunk of answer.body ?? []) {
    chunks.push(chunk);
    received += chunk.byteLength;
    onProgress(received, size > 0 ? received / size : undefined);
  }
  return new Blob(chunks, { type: answer.headers.get('content-type') ?? '' });
}

export const api: Api = {
  get: (path) => json('GET', path),
  post: (path, body, signal) => json('POST', path, body, signal),
  put: (path, body) => json('PUT', path, body),
  patch: (path, changes) => json('PATCH', path, changes),
  delete: async (path) => {
    await call('DELETE', path);
  },
  upload,
  lines,
  download,
  stream: async (path, signal) => (await call('GET', path, undefined, signal)).body ?? new ReadableStream(),
  program: async () => {
    const { headers } = await call('GET', '/v2/version');
    const version = /^Patchbay\/(\S+)/.exec(headers.get('server') ?? '')?.[1] ?? '';
    return { version, signedIn: headers.has('x-patchbay-user') };
  },
  socket: async (path) => {
    // Browsers send no credentials with a WebSocket, so a server that requires them issues a ticket.
    const address = new URL(path, location.href.replace(/^http/, 'ws'));
    const { ticket } = await json<{ ticket: string }>('POST', '/v2/tickets', { path: address.pathname });
    address.searchParams.set('ticket', ticket);
    return address.href;
  },
};
