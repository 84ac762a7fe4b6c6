/** Files whose checksums were right: while nothing changed them, they need not be read again. */
import { lstat } from 'node:fs/promises';

/** Most files that are remembered; the oldest are forgotten. */
const most = 4096;

export class VerifiedFiles {
  readonly #known = new Set<string>();

  async has(path: string): Promise<boolean> {
    return this.#known.has(await stateOf(path));
  }

  async add(path: string): Promise<void> {
    this.#known.add(await stateOf(path));
    const [oldest] = this.#known;
    if (this.#known.size > most && oldest !== undefined) this.#known.delete(oldest);
  }
}

/** Changes whenever the content, the owner or the mode does. */
async function stateOf(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await lstat(path, { bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}
