/** Reads a piece of an image from another compute. */
import type { ImageFetch } from '../../schema/image-transfer.ts';

export type ImageSource = Omit<ImageFetch, 'bytes'>;

/** A piece has this long, connecting included. */
const pieceLimitMs = 100_000;

/**
 * Gives at most the bytes that are wanted. Redirects are refused. @throws why no more came, without a word of the other side: the caller
 * learns neither whether anything listens there nor what it answered
 */
export async function* fetchPiece(
  { protocol, host, port, departure_id, secret }: ImageSource,
  wanted: { readonly from: number; readonly bytes: number },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const origin = `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const answer = await fetch(`${origin}/v2/compute/image_departures/${departure_id}/bytes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'patchbay-compute' },
    body: JSON.stringify({ secret, ...wanted }),
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(pieceLimitMs)]),
  }).catch((cause: Error) => {
    throw new Error(`${host} port ${port} did not give it`, { cause });
  });
  if (answer.status !== 200) {
    await answer.body?.cancel();
    throw new Error(`${host} port ${port} did not give it`);
  }
  let left = wanted.bytes;
  for await (const chunk of answer.body ?? []) {
    left -= chunk.length;
    if (left < 0) throw new Error(`${host} port ${port} sent more than it was asked for`);
    yield chunk;
  }
}
