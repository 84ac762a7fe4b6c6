/** The seed with which a hunt continues, in a file below `.cache`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const folder = resolve(import.meta.dirname, '../../.cache');

export class NextSeed {
  readonly #path: string;

  constructor(hunt: string) {
    this.#path = resolve(folder, `${hunt}-next-seed`);
  }

  /** Returns 1 where no hunt has ended. */
  read(): number {
    try {
      return Number(readFileSync(this.#path, 'utf8')) || 1;
    } catch {
      return 1;
    }
  }

  keep(seed: number): void {
    mkdirSync(folder, { recursive: true });
    writeFileSync(this.#path, `${seed}\n`);
  }
}
