/**
 * TLS on the stream between two computes, from the link's secret alone: no certificates. Each end proves that it has the secret, so no other
 * hello is needed. TLS 1.3 agrees on fresh keys: who records a connection and learns the secret later reads nothing of it.
 */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect, createSecureContext, TLSSocket } from 'node:tls';
import type { StreamSpec } from '../protocol.ts';

/** Says what the key is for, and what follows: its last character is the version of both. */
const identity = 'pbframe2';
/** PSKs of TLS 1.3 that come through a callback go with SHA-256. RFC 8446, §4.2.11. */
const suite = { ciphers: 'TLS_AES_128_GCM_SHA256', minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' } as const;

/** The socket on which frames go; the given one must not be used any more. Rejects when the other side has another secret, or none. */
export async function encrypt(socket: Socket, { role, secret }: StreamSpec, signal: AbortSignal): Promise<Socket> {
  // Another key than that of the hello in the clear.
  const psk = createHmac('sha256', secret).update(identity).digest();
  const secured = role === 'accept' ? accept(socket, psk) : dial(socket, psk);
  secured.on('error', () => undefined);
  await once(secured, role === 'accept' ? 'secure' : 'secureConnect', { signal });
  // A reused session proves that both ends have the key; a certificate in its place would be another host's.
  if (secured.isSessionReused() && !secured.destroyed) return secured;
  secured.destroy();
  throw new Error('the other side did not use the key of the link');
}

function accept(socket: Socket, psk: Buffer): TLSSocket {
  const pskCallback = (_socket: TLSSocket, name: string) => (name === identity ? psk : null);
  // The types leave `pskCallback` out here; Node 24 documents it for `tls.createServer`, which hands it on.
  const options = { isServer: true, ...suite, secureContext: createSecureContext(suite), pskCallback };
  return new TLSSocket(socket, options);
}

function dial(socket: Socket, psk: Buffer): TLSSocket {
  const refused = () => new Error('a certificate is not expected');
  return connect({ socket, ...suite, pskCallback: () => ({ psk, identity }), checkServerIdentity: refused });
}
