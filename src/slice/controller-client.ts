/** Sends the requests of a slice to its controller. */
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import { isPrivate } from '../lib/private-address.ts';
import { isUuid } from '../schema/common.ts';
import type { SliceJoin, SliceLease, SliceRenew } from '../schema/slice.ts';

/** The controller's refusal of a request. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  /** A retry is useless. */
  readonly isFinal: boolean;

  constructor(message: string, isFinal: boolean) {
    super(message);
    this.isFinal = isFinal;
  }
}

/** Longest answer that is read. Bytes. */
const longestAnswer = 65_536;
/** Longest lease that `[Cluster] lease_seconds` allows. Seconds. */
const longestLease = 3600;

export class ControllerClient {
  readonly url: URL;

  /** @throws Error when the address is invalid */
  constructor(joinUrl: string) {
    const url = URL.parse(joinUrl);
    if (!url || !/^https?:$/.test(url.protocol))
      throw new Error(`"${joinUrl}" is no address of a controller: write http://HOST:PORT`);
    if (url.username !== '' || url.password !== '') throw new Error('--join takes no user and password: the token stands for them');
    this.url = url;
  }

  /**
   * Returns the local address that reaches the controller. @throws Error when there is none, or when a token would cross a public
   * network in clear text
   */
  async localAddress({ clearCredentials }: { clearCredentials: boolean }): Promise<string> {
    const { protocol, hostname, port } = this.url;
    const host = hostname.replace(/^\[|\]$/g, '');
    if (protocol === 'http:' && !clearCredentials) await refusePublic(host);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const socket = connect({ host, port: Number(port || (protocol === 'https:' ? 443 : 80)), timeout: 5_000 });
    socket.once('connect', () => resolve((socket.localAddress ?? '').replace(/^::ffff:/, '')));
    socket.once('timeout', () => reject(new Error(`${this.url.origin} does not answer`)));
    socket.once('error', reject);
    return promise.finally(() => socket.destroy());
  }

  join(body: SliceJoin, signal: AbortSignal): Promise<SliceLease> {
    return this.#post('/v2/slices/join', body, signal);
  }

  renew(computeId: string, body: SliceRenew, signal: AbortSignal): Promise<SliceLease> {
    return this.#post(`/v2/slices/${computeId}/lease`, body, signal);
  }

  async #post(path: string, body: object, signal: AbortSignal): Promise<SliceLease> {
    const prefix = this.url.pathname.replace(/\/$/, '');
    const answer = await fetch(`${this.url.origin}${prefix}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'patchbay-slice' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal,
    });
    const text = await textOf(answer);
    if (!answer.ok) throw refusal(answer.status, text);
    return leaseOf(text);
  }
}

async function refusePublic(host: string): Promise<void> {
  const found = await lookup(host, { all: true });
  const open = found.find(({ address }) => !isPrivate(address));
  if (!open) return;
  throw new Error(
    `The token would cross the network in the clear to ${open.address}: join with https, or set clear_credentials = True in [Server]`,
  );
}

async function textOf({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.length;
    if (bytes > longestAnswer) throw new Error('the answer of the controller is too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** Parses a refusal. It is final only when it comes from the controller: a proxy may answer in its place for a while. */
function refusal(httpStatus: number, text: string): RefusedError {
  try {
    const { message, status } = JSON.parse(text) as { message?: unknown; status?: unknown };
    const isFinal = httpStatus >= 400 && httpStatus < 500 && httpStatus !== 408 && httpStatus !== 429;
    if (typeof message === 'string' && status === httpStatus) return new RefusedError(plain(message), isFinal);
  } catch {
    // The answer is not Patchbay's.
  }
  return new RefusedError(`the controller answered with status ${httpStatus}`, false);
}

/** Removes control characters, because the text is shown on a terminal. */
function plain(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ').slice(0, 1000);
}

function leaseOf(text: string): SliceLease {
  const { compute_id, epoch, seconds, fenced, moving, asks_engine } = JSON.parse(text) as Partial<
    Record<keyof SliceLease, unknown>
  >;
  const isTime = typeof seconds === 'number' && seconds >= 1 && seconds <= longestLease;
  if (typeof compute_id !== 'string' || !isUuid(compute_id) || !Number.isSafeInteger(epoch) || !isTime)
    throw new Error('the answer of the controller is no lease');
  const more = { ...(moving === true && { moving }), ...(asks_engine === true && { asks_engine }) };
  return { compute_id, epoch: Number(epoch), seconds, fenced: fenced === true, ...more };
}
