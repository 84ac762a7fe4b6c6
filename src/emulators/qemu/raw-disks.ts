/**
 * Disks that a guest writes as they are. What such a guest writes into the first bytes is its own matter: once used as raw, the file stays
 * raw, or the guest would choose what the next start reads. Kept by the file's identity, so that a file that is uploaded anew is a new one.
 */
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { Mutex } from '../../lib/mutex.ts';
import { readRegularFile } from '../../lib/regular-file.ts';

export class RawDisks {
  readonly #file: string;
  readonly #writing = new Mutex();
  #known: Promise<Set<string>> | undefined;

  /** `file` may not exist yet. */
  constructor(file: string) {
    this.#file = file;
  }

  async has(disk: string): Promise<boolean> {
    const known = await this.#load();
    if (known.size === 0) return false;
    const id = await identity(disk);
    return id !== undefined && known.has(id);
  }

  /** Adds a disk, and has stored it when it resolves. @throws errors of the system */
  async add(disk: string): Promise<void> {
    const id = await identity(disk);
    const known = await this.#load();
    if (id === undefined || known.has(id)) return;
    known.add(id);
    await this.#writing.run(async () => {
      await mkdir(dirname(this.#file), { recursive: true });
      await writeFileAtomic(this.#file, `${JSON.stringify([...known])}\n`);
    });
  }

  #load(): Promise<Set<string>> {
    // A list that cannot be read counts as empty: images are inspected all the same.
    this.#known ??= readRegularFile(this.#file).then(
      (bytes) => new Set(texts(bytes.toString())),
      () => new Set<string>(),
    );
    return this.#known;
  }
}

function texts(json: string): string[] {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
  } catch {
    return [];
  }
}

/** Device, inode and time of birth; undefined when there is no such file. */
async function identity(path: string): Promise<string | undefined> {
  const facts = await stat(path, { bigint: true }).catch(() => undefined);
  return facts && `${facts.dev}:${facts.ino}:${facts.birthtimeNs}`;
}
