/** A folder outside the server's own with targets of attacks; `changes()` reports what happened to them. */
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Bait {
  /** A file that no process may read. */
  readonly secret: string;
  /** A file that no process may create. */
  readonly written: string;
  /** A program that no process may run. */
  readonly program: string;
}

/** An old access time: with `relatime` (mount(8)), reading updates an access time that is not after the modification time. */
const longAgo = new Date('2020-01-01T00:00:00Z');
const content = `secret ${'x'.repeat(4096)}\n`;

export class BaitFolder implements Bait {
  readonly secret: string;
  readonly written: string;
  readonly program: string;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.secret = join(folder, 'secret');
    this.written = join(folder, 'written');
    this.program = join(folder, 'program');
  }

  /** @throws where files do not keep when they were read */
  static async make(): Promise<BaitFolder> {
    const bait = new BaitFolder(await mkdtemp(join(tmpdir(), 'pb-bait-')));
    await writeFile(bait.secret, content);
    await writeFile(bait.program, `#!/bin/sh\ntouch ${join(bait.#folder, 'executed')}\n`, { mode: 0o755 });
    await bait.#rewind();
    await readFile(bait.secret);
    if ((await stat(bait.secret)).atimeMs === longAgo.getTime()) throw new Error(`${tmpdir()} keeps no times of access`);
    await bait.#rewind();
    return bait;
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }

  /** Accesses since its creation or the last call; empty without any. */
  async problems(): Promise<string[]> {
    const problems: string[] = [];
    const { atimeMs, mtimeMs } = await stat(this.secret);
    if (atimeMs !== longAgo.getTime()) problems.push('the secret was read');
    if (mtimeMs !== longAgo.getTime() || (await readFile(this.secret, 'utf8')) !== content) problems.push('the secret was changed');
    for (const name of await readdir(this.#folder)) {
      if (!['secret', 'program'].includes(name)) {
        problems.push(`${name} was made`);
        await rm(join(this.#folder, name), { recursive: true, force: true });
      }
    }
    await this.#rewind();
    return problems;
  }

  async #rewind(): Promise<void> {
    await utimes(this.secret, longAgo, longAgo);
  }
}
