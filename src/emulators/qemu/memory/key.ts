/** The key with which this server signs the memory that it saves. */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeFileAtomic } from '../../../lib/atomic-file.ts';
import { Mutex } from '../../../lib/mutex.ts';
import { readRegularFile } from '../../../lib/regular-file.ts';

const keyBytes = 32;

export class MemoryKey {
  readonly #path: string;
  readonly #making = new Mutex();

  constructor(path: string) {
    this.#path = path;
  }

  /** Made when it is first needed; a damaged one is replaced, and what it signed is refused. */
  get(): Promise<Uint8Array> {
    return this.#making.run(async () => {
      const known = await readRegularFile(this.#path, keyBytes).catch(() => undefined);
      if (known?.length === keyBytes) return known;
      const key = randomBytes(keyBytes);
      await mkdir(dirname(this.#path), { recursive: true });
      await writeFileAtomic(this.#path, key, 0o600);
      return key;
    });
  }
}
