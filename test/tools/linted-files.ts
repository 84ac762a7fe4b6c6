/**
 * Remembers which files the linter accepted: none of its rules here looks at other files, so a file of the same name and content, under the
 * same rules, is accepted again. Rules are those of the packages, of `biome.json` and of `package.json`.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const rules = ['biome.json', 'package.json', 'package-lock.json'];

export class LintedFiles {
  readonly #kept: string;
  /** Hashes by file; undefined where Git does not know the files. */
  readonly #hashes: ReadonlyMap<string, string> | undefined;
  readonly #accepted: ReadonlySet<string>;

  private constructor(kept: string, hashes: ReadonlyMap<string, string> | undefined, accepted: ReadonlySet<string>) {
    this.#kept = kept;
    this.#hashes = hashes;
    this.#accepted = accepted;
  }

  /** Reads the files of the checkout that Git does not ignore. */
  static async read(root: string): Promise<LintedFiles> {
    const kept = join(root, '.cache/lint/accepted');
    const [files, accepted] = await Promise.all([listFiles(root), readFile(kept, 'utf8').catch(() => '')]);
    const hashes = files && (await hashAll(root, files));
    return new LintedFiles(kept, hashes, new Set(accepted.split('\n')));
  }

  /** Files that were not accepted as they are; undefined where all are to be examined. */
  listChanged(): string[] | undefined {
    if (this.#hashes === undefined || this.#accepted.size < this.#hashes.size / 2) return undefined;
    return [...this.#hashes].filter(([, hash]) => !this.#accepted.has(hash)).map(([file]) => file);
  }

  /** Notes that the linter accepted all files. */
  async keep(): Promise<void> {
    if (this.#hashes === undefined) return;
    await mkdir(join(this.#kept, '..'), { recursive: true });
    const made = `${this.#kept}.${process.pid}`;
    await writeFile(made, [...this.#hashes.values()].join('\n'));
    await rename(made, this.#kept);
  }
}

async function listFiles(root: string): Promise<string[] | undefined> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = await promisify(execFile)('git', args, { cwd: root, maxBuffer: 2 ** 26 }).catch(() => undefined);
  return listed && [...new Set(listed.stdout.split('\0').filter(Boolean))];
}

async function hashAll(root: string, files: readonly string[]): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  const common = createHash('sha256');
  for (const file of rules) common.update(await readFile(join(root, file)));
  const version = common.digest('hex');
  for (const file of files) {
    // A file that was deleted is still known to Git.
    const content = await readFile(join(root, file)).catch(() => undefined);
    if (content) hashes.set(file, createHash('sha256').update(`${version}\0${file}\0`).update(content).digest('hex'));
  }
  return hashes;
}
