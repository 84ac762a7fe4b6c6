/** The requests of a slice to its controller. */
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import { isPrivate } from '../lib/private-address.ts';
import type { SliceJoin, SliceLease, SliceRenew } from '../schema/slice.ts';

/** The controller answered, and refused. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }

  /** Trying again is of no use. */
  get isFinal(): boolean {
    return this.status >= 400 && this.status < 500 && this.status !== 408 && this.status !== 429;
  }
}

export class ControllerClient {
  readonly url: URL;

  /** @throws Error for an address that is none */
  constructor(joinUrl: string) {
    const url = URL.parse(joinUrl);
    if (!url || !/^https?:$/.test(url.protocol))
      throw new Error(`"${joinUrl}" is no address of a controller: write http://HOST:PORT`);
    if (url.username !== '' || url.password !== '') throw new Error('--join takes no user and password: the token stands for them');
    this.url = url;
  }

  /**
   * The address of this host from which the controller is reached. @throws Error also when a token would cross a network in the clear that
   * is not private
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
    const text = await answer.text();
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

function refusal(status: number, text: string): RefusedError {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    if (typeof message === 'string') return new RefusedError(status, message);
  } catch {
    // Not an answer of Patchbay.
  }
  return new RefusedError(status, `the controller answered with status ${status}`);
}

function leaseOf(text: string): SliceLease {
  const { compute_id, epoch, seconds, fenced } = JSON.parse(text) as Partial<Record<keyof SliceLease, unknown>>;
  if (typeof compute_id !== 'string' || !Number.isSafeInteger(epoch) || !(Number(seconds) > 0))
    throw new Error('the answer of the controller is no lease');
  return { compute_id, epoch: Number(epoch), seconds: Number(seconds), fenced: fenced === true };
}
