/** The thread of `checksumOf`. */
import { parentPort, workerData } from 'node:worker_threads';
import { sumFile } from './sum-file.ts';

parentPort?.postMessage(sumFile(String(workerData)));
