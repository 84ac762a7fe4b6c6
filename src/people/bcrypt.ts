/** Verifies hashes of bcrypt in a thread of their own: one takes some hundred milliseconds. */
import { randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';

/** Hashes up to twice the cost that GNS3 uses (12). A larger one would keep a thread busy for seconds. */
const accepted = /^\$2[aby]\$(0[4-9]|1[0-3])\$[./A-Za-z0-9]{53}$/;

export const isBcrypt = (hash: string): boolean => accepted.test(hash);

/** Hash of no known password, of the cost that GNS3 uses. */
export const bcryptDecoy = `$2b$12$${randomBytes(40).toString('base64').replaceAll('+', '.').slice(0, 53)}`;

export function verifyBcrypt(password: string, hash: string): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const worker = new Worker(new URL('./bcrypt-thread.ts', import.meta.url), { workerData: { password, hash } });
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error('the password was not verified')));
  return promise;
}
