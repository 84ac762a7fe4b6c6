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
import type { StreamSpec } from '../protocol.ts';
import { encrypt } from './stream-encryption.ts';

/** The last character is the version of this and of what follows. */
const magic = Buffer.from('pbframe1');
const numberBytes = 16;
const proofBytes = 32;
/** Time limit from the attempt to connect to the last proof. */
export const helloLimitMs = 3_000;

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
