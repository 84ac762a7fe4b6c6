/**
 * Keeps changes of the host's network from Chromium. It ends each request that is connecting when an interface comes or goes, with
 * `ERR_NETWORK_CHANGED`: in whole runs other tests make interfaces all the time, and one request in some hundred failed then.
 */
import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../../src/emulators/host/find-program.ts';

const limitMs = 60_000;
const cache = resolve(import.meta.dirname, '../../../.cache');

/** Variables for Chromium's environment; none where there is no C compiler that makes libraries. */
export async function quietNetwork(): Promise<Readonly<Record<string, string>>> {
  const compiler = await findProgram('cc');
  if (compiler === undefined) return {};
  const source = join(import.meta.dirname, 'no-netlink.c');
  const hash = createHash('sha256').update(await readFile(source));
  const library = join(cache, `no-netlink-${process.arch}-${hash.digest('hex').slice(0, 12)}.so`);
  if (!existsSync(library)) {
    await mkdir(cache, { recursive: true });
    // Other test processes do the same at the same time.
    const made = `${library}.${randomUUID()}`;
    const isMade = await promisify(execFile)(compiler, ['-shared', '-fPIC', '-O1', '-o', made, source], { timeout: limitMs }).then(
      () => true,
      () => false,
    );
    if (!isMade) return {};
    await rename(made, library);
  }
  return { LD_PRELOAD: library };
}
