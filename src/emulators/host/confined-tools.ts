/**
 * Small programs that read what guests and strangers made (qemu-img, mtools): on a server that is root they run as the user of emulators, and
 * a file that is closed to it belongs to it meanwhile.
 */
import { randomUUID } from 'node:crypto';
import { lchown, realpath, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { KeyedMutex } from '../../lib/mutex.ts';
import { runTool, type ToolResult } from '../../process/tool.ts';
import type { Settings } from '../../schema/settings.ts';
import { openFolders, withOpenFolders } from './confinement/open-folders.ts';
import { allows } from './file-access.ts';
import { commandAs, findRunAs, own, type RunAs } from './run-as.ts';

export interface ConfinedToolOptions {
  /** Files that it reads, and files and folders that it writes; absolute. */
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  readonly timeoutMs: number;
  readonly env?: Readonly<Record<string, string>>;
}

interface Loan {
  users: number;
  /** Whose the file was; absent when it was not changed. */
  owner?: { readonly uid: number; readonly gid: number };
}

/** Far more than an image needs: a header can ask for any amount. */
const addressSpaceBytes = 8 * 2 ** 30;

export class ConfinedTools {
  readonly #settings: () => Settings;
  readonly #loans = new Map<string, Loan>();
  readonly #lending = new KeyedMutex();
  /** By the value of `run_as`: finding a user asks its databases. */
  #runAs: { readonly name: string; readonly found: Promise<RunAs | undefined> } | undefined;

  constructor(settings: () => Settings) {
    this.#settings = settings;
  }

  /** As `runTool`. @throws run_as_failed */
  async run(
    program: string,
    args: readonly string[],
    { reads = [], writes = [], timeoutMs, env }: ConfinedToolOptions,
  ): Promise<ToolResult> {
    const options = { timeoutMs, ...(env && { env }) };
    const runAs = await this.#user();
    if (runAs === undefined) return runTool(program, args, options);
    const limited = commandAs(runAs, program, args, [`--as=${addressSpaceBytes}`]);
    const stage = join(this.#settings().runtimeDirectory, `tool-${randomUUID()}`);
    const lent = [...reads.map((path) => ({ path, need: 0o4 })), ...writes.map((path) => ({ path, need: 0o6 }))];
    const made: string[] = [];
    try {
      for (const { path, need } of lent) {
        made.push(path);
        await this.#lend(runAs, path, need);
      }
      const command = withOpenFolders(await openFolders(runAs, [program, ...reads, ...writes], stage), limited);
      return await runTool(command.program, command.args, options);
    } finally {
      for (const path of made) await this.#restoreOwner(path);
      await rm(stage, { recursive: true, force: true });
    }
  }

  /** Gives a new folder, with all that is in it, to the user of these programs for good. @throws run_as_failed */
  async give(folder: string): Promise<void> {
    const runAs = await this.#user();
    if (runAs !== undefined) await own(runAs, [folder]);
  }

  #user(): Promise<RunAs | undefined> {
    const settings = this.#settings();
    const name = settings.Server.run_as;
    if (this.#runAs?.name === name) return this.#runAs.found;
    const found = findRunAs(settings);
    this.#runAs = { name, found };
    // A user that is missing may be added.
    found.catch(() => {
      this.#runAs = undefined;
    });
    return found;
  }

  /** A path that does not exist is left for the program to complain about. */
  #lend(runAs: RunAs, path: string, need: number): Promise<void> {
    return this.#lending.run(path, async () => {
      const loan: Loan = this.#loans.get(path) ?? { users: 0 };
      this.#loans.set(path, loan);
      loan.users += 1;
      const file = await realpath(path).catch(() => undefined);
      const facts = file === undefined ? undefined : await stat(file);
      if (file === undefined || facts === undefined || allows(runAs, facts, need)) return;
      loan.owner ??= { uid: facts.uid, gid: facts.gid };
      await lchown(file, Number(runAs.uid), Number(runAs.gid));
    });
  }

  #restoreOwner(path: string): Promise<void> {
    return this.#lending.run(path, async () => {
      const loan = this.#loans.get(path);
      if (loan === undefined || --loan.users > 0) return;
      this.#loans.delete(path);
      const file = loan.owner && (await realpath(path).catch(() => undefined));
      if (loan.owner && file !== undefined) await lchown(file, loan.owner.uid, loan.owner.gid);
    });
  }
}
