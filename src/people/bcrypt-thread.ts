/** The thread of `verifyBcrypt`. */
import { parentPort, workerData } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

const { password, hash } = workerData as { readonly password: string; readonly hash: string };
parentPort?.postMessage(compareSync(password, hash));
