/**
 * Files that belong to the user of emulators while a tool works on them. Each is recorded on disk before its owner changes, so that the next
 * server returns what this one lent when it was killed.
 */
import type { Stats } from 'node:fs';
import { type FileHandle, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { Mutex } from '../../lib/mutex.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { list, object, text, type ValueOf, whole } from '../../lib/shape.ts';
import { allows } from './file-access.ts';
import { openGuarded } from './guarded-file.ts';
import type { RunAs } from './run-as.ts';

/** `uid` and `gid`: whose the file is. `id`: device and inode. */
const Entries = list(object({ path: text, id: text, uid: whole(0), gid: whole(0), lentTo: text }));
type Entry = ValueOf<typeof Entries>[number];

interface Loan {
  users: number;
  readonly file: FileHandle;
  readonly entry: Entry;
}

export class LentFiles {
  readonly #record: string;
  readonly #loans = new Map<string, Loan>();
  readonly #changing = new Mutex();

  /** `record` may not exist yet. Call `recover` before anything else. */
  constructor(record: string) {
    this.#record = record;
  }

  /**
   * Lends a file to the user, unless its permissions suffice for `need` (as in `allows`). A path without a regular file is left for the tool
   * to complain about. @returns what `restoreOwner` takes; undefined when nothing was lent. @throws path_forbidden
   */
  lend(runAs: RunAs, path: string, need: number): Promise<string | undefined> {
    return this.#withFile(runAs, path, async (file, facts, id) => {
      const known = this.#loans.get(id);
      if (known) known.users += 1;
      if (known) return id;
      if (allows(runAs, facts, need)) return undefined;
      const entry = { path, id, uid: facts.uid, gid: facts.gid, lentTo: runAs.uid };
      await this.#write([...this.#entries(), entry]);
      await file.chown(Number(runAs.uid), Number(runAs.gid));
      this.#loans.set(id, { users: 1, file, entry });
      return id;
    });
  }

  /** The owner of before, once all tools that use the file have ended. */
  restoreOwner(id: string): Promise<void> {
    return this.#changing.run(async () => {
      const loan = this.#loans.get(id);
      if (loan === undefined || --loan.users > 0) return;
      this.#loans.delete(id);
      await loan.file.chown(loan.entry.uid, loan.entry.gid);
      await loan.file.close();
      await this.#write(this.#entries());
    });
  }

  /** Gives a file for good. @throws path_forbidden */
  async give(runAs: RunAs, path: string): Promise<void> {
    await this.#withFile(runAs, path, async (file, _facts, id) => {
      const loan = this.#loans.get(id);
      this.#loans.delete(id);
      await file.chown(Number(runAs.uid), Number(runAs.gid));
      await loan?.file.close();
      if (loan) await this.#write(this.#entries());
      return undefined;
    });
  }

  /** Returns what a server lent that was killed meanwhile. Files that are elsewhere by now stay as they are. Never rejects. */
  recover(runAs: RunAs): Promise<void> {
    return this.#changing.run(async () => {
      const entries = parse(await readRegularFile(this.#record).then(String, () => '[]'));
      for (const { path, id, uid, gid, lentTo } of entries) {
        const file = await openGuarded(path, runAs).catch(() => undefined);
        const facts = await file?.stat();
        if (facts && identity(facts) === id && String(facts.uid) === lentTo) await file?.chown(uid, gid).catch(() => undefined);
        await file?.close();
      }
      if (entries.length > 0) await this.#write([]).catch(() => undefined);
    });
  }

  /** Opens the file, and closes it unless `work` has made a loan of it. */
  #withFile(
    runAs: RunAs,
    path: string,
    work: (file: FileHandle, facts: Stats, id: string) => Promise<string | undefined>,
  ): Promise<string | undefined> {
    return this.#changing.run(async () => {
      const file = await openGuarded(path, runAs);
      if (file === undefined) return undefined;
      try {
        const facts = await file.stat();
        return await work(file, facts, identity(facts));
      } finally {
        if (![...this.#loans.values()].some((loan) => loan.file === file)) await file.close();
      }
    });
  }

  #entries(): Entry[] {
    return [...this.#loans.values()].map(({ entry }) => entry);
  }

  async #write(entries: readonly Entry[]): Promise<void> {
    await mkdir(dirname(this.#record), { recursive: true });
    await writeFileAtomic(this.#record, `${JSON.stringify(entries)}\n`, 0o600);
  }
}

/** A record that cannot be read counts as empty. */
function parse(json: string): Entry[] {
  try {
    const value: unknown = JSON.parse(json);
    return Entries.problem(value, 'record') === undefined ? (value as Entry[]) : [];
  } catch {
    return [];
  }
}

const identity = ({ dev, ino }: Stats) => `${dev}:${ino}`;
