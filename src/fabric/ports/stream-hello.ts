/**
 * The handshake by which the two ends of a stream between computes know each other. Both were given a secret, and neither says it: the one
 * that accepts sends a number that is used once, the other answers with one of its own and a proof, and is given a proof in return. Every
 * part has a fixed length, and frames follow at once.
 *
 * ```
 * accepts:  magic (8)  number (16)
 * connects: number (16)  proof (32)
 * accepts:  proof (32)
 * ```
 *
 * A proof is the HMAC-SHA256, under the secret, of the role's name and both numbers. A stream that is encrypted has none of this
 * (`stream-encryption.ts`).
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect, createSecureContext, TLSSocket } from 'node:tls';
import type { StreamSpec } from '../protocol.ts';

/** The last character is the version of this and of what follows. */
const magic = Buffer.from('pbframe1');
const numberBytes = 16;
const proofBytes = 32;
/** Time limit from the attempt to connect to the last proof. */
const helloLimitMs = 3_000;

/** The socket from which the other side's frames can be read, when it has the secret, too; else undefined. Never rejects. */
export async function shakeHands(socket: Socket, spec: StreamSpec): Promise<Socket | undefined> {
  const ending = new AbortController();
  const end = () => ending.abort();
  const timer = setTimeout(end, helloLimitMs);
  socket.once('close', end);
  try {
    if (spec.encryption) return await encrypt(socket, spec, ending.signal);
    return (await sides[spec.role](socket, spec.secret, ending.signal)) ? socket : undefined;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
    socket.off('close', end);
  }
}

type Side = (socket: Socket, secret: string, signal: AbortSignal) => Promise<boolean>;

const sides: Record<StreamSpec['role'], Side> = {
  async accept(socket, secret, signal) {
    const own = randomBytes(numberBytes);
    socket.write(Buffer.concat([magic, own]));
    const answer = await take(socket, numberBytes + proofBytes, signal);
    const numbers = [own, answer.subarray(0, numberBytes)];
    if (!isSame(answer.subarray(numberBytes), proof(secret, 'connect', numbers))) return false;
    socket.write(proof(secret, 'accept', numbers));
    return true;
  },
  async connect(socket, secret, signal) {
    const greeting = await take(socket, magic.length + numberBytes, signal);
    if (!isSame(greeting.subarray(0, magic.length), magic)) return false;
    const own = randomBytes(numberBytes);
    const numbers = [greeting.subarray(magic.length), own];
    socket.write(Buffer.concat([own, proof(secret, 'connect', numbers)]));
    return isSame(await take(socket, proofBytes, signal), proof(secret, 'accept', numbers));
  },
};

/** Takes so many bytes from the socket, or fewer when the other side ended. */
async function take(socket: Socket, bytes: number, signal: AbortSignal): Promise<Buffer> {
  for (;;) {
    const taken = socket.read(bytes) as Buffer | null;
    if (taken) return taken;
    await once(socket, 'readable', { signal });
  }
}

function proof(secret: string, role: StreamSpec['role'], numbers: readonly Buffer[]): Buffer {
  return createHmac('sha256', secret).update(role).update(Buffer.concat(numbers)).digest();
}

/** Compares in the same time wherever the two differ. */
function isSame(given: Buffer, wanted: Buffer): boolean {
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** Says what the key is for, and what follows: its last character is the version of both. */
const pskIdentity = 'pbframe2';
/** PSKs of TLS 1.3 that come through a callback go with SHA-256. RFC 8446, §4.2.11. */
const tlsSuite = { ciphers: 'TLS_AES_128_GCM_SHA256', minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' } as const;

/**
 * Starts TLS on the stream between two computes, from the link's secret alone: no certificates. Each end proves that it has the secret, so
 * no other hello is needed. TLS 1.3 agrees on fresh keys: who records a connection and learns the secret later reads nothing of it.
 *
 * @returns the socket on which frames go; the given one must not be used any more.
 * Rejects when the other side has another secret, or none.
 */
async function encrypt(socket: Socket, { role, secret }: StreamSpec, signal: AbortSignal): Promise<Socket> {
  // Another key than that of the hello in the clear.
  const psk = createHmac('sha256', secret).update(pskIdentity).digest();
  const secured = role === 'accept' ? accept(socket, psk) : dial(socket, psk);
  secured.on('error', () => undefined);
  await once(secured, role === 'accept' ? 'secure' : 'secureConnect', { signal });
  // A reused session proves that both ends have the key; a certificate in its place would be another host's.
  if (secured.isSessionReused() && !secured.destroyed) return secured;
  secured.destroy();
  throw new Error('the other side did not use the key of the link');
}

function accept(socket: Socket, psk: Buffer): TLSSocket {
  const pskCallback = (_socket: TLSSocket, name: string) => (name === pskIdentity ? psk : null);
  // The types leave `pskCallback` out here; Node 24 documents it for `tls.createServer`, which hands it on.
  const options = { isServer: true, ...tlsSuite, secureContext: createSecureContext(tlsSuite), pskCallback };
  return new TLSSocket(socket, options);
}

function dial(socket: Socket, psk: Buffer): TLSSocket {
  const refused = () => new Error('a certificate is not expected');
  return connect({ socket, ...tlsSuite, pskCallback: () => ({ psk, identity: pskIdentity }), checkServerIdentity: refused });
}
