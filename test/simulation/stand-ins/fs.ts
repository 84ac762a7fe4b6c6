/** Stands in for `node:fs`: what programs read at once. */
import * as real from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { PassThrough } from 'node:stream';
import { isPlaying, simulation } from '../engine/simulation.ts';
import * as promises from './fs-promises.ts';

export * from 'node:fs';
export { promises };

export function readFileSync(path: string, options?: BufferEncoding): string | Buffer {
  if (isPlaying() && path === '/proc/uptime')
    return `${((simulation().kernel.now - simulation().kernel.current.boot.at) / 1000).toFixed(2)} 0.00
`;
  if (isPlaying() && path === '/proc/sys/kernel/random/boot_id') return simulation().kernel.current.boot.id;
  return options ? real.readFileSync(path, options) : real.readFileSync(path);
}

export function createReadStream(path: string): Readable {
  const stream = new PassThrough();
  promises.readFile(path).then(
    (bytes) => stream.end(bytes),
    (error: Error) => stream.destroy(error),
  );
  return stream;
}

export function createWriteStream(path: string, { flush = false }: { flush?: boolean } = {}): Writable {
  const stream = new PassThrough();
  const opened = promises.open(path, 'w');
  const target = opened.then((file) => file.createWriteStream({ flush }));
  target.then(
    (writable) => stream.pipe(writable),
    (error: Error) => stream.destroy(error),
  );
  return stream;
}
