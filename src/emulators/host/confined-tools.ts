/**
 * Small programs that read what guests and strangers made (qemu-img, mtools): on a server that is root they run as the user of emulators, and
 * a file that is closed to it belongs to it meanwhile. Where bubblewrap can be used, they see the files that they are given, and no network.
 */
import { join } from 'node:path';
import { runTool, type ToolResult } from '../../process/tool.ts';
import type { Settings } from '../../schema/settings.ts';
import { confine, confinedCommand } from './confinement/confine.ts';
import { LentFiles } from './lent-files.ts';
import { findRunAs, own, type RunAs } from './run-as.ts';

interface ConfinedToolOptions {
  /** Files that it reads, and files and folders that it writes; absolute. */
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  readonly timeoutMs: number;
  readonly env?: Readonly<Record<string, string>>;
  /** The tool runs long: it ends with this server, at the latest when the next one starts. Default false. */
  readonly isLong?: boolean;
}

/** Far more than an image needs: a header can ask for any amount. */
const limits = [`--as=${8 * 2 ** 30}`];

export class ConfinedTools {
  readonly #settings: () => Settings;
  readonly #lent: LentFiles;
  #recovery: Promise<void> | undefined;
  /** The user found for the value of `run_as`, cached: finding a user queries the user databases. */
  #runAs: { readonly name: string; readonly found: Promise<RunAs | undefined> } | undefined;

  constructor(settings: () => Settings) {
    this.#settings = settings;
    this.#lent = new LentFiles(join(settings().dataDirectory, 'state', 'lent-files.json'));
  }

  /** Returns what a server lent to a tool when it was killed. Done once; never rejects. */
  recover(): Promise<void> {
    this.#recovery ??= this.#user().then(
      (runAs) => runAs && this.#lent.recover(runAs),
      () => undefined,
    );
    return this.#recovery;
  }

  /** Runs a tool like `runTool`, confined. @throws run_as_failed, path_forbidden */
  async run(
    program: string,
    args: readonly string[],
    { reads = [], writes = [], timeoutMs, env, isLong = false }: ConfinedToolOptions,
  ): Promise<ToolResult> {
    const { runtimeDirectory } = this.#settings();
    const options = { timeoutMs, ...(env && { env }), ...(isLong && { runDirectory: runtimeDirectory }) };
    const runAs = await this.#user();
    const lent = [...reads.map((path) => ({ path, need: 0o4 })), ...writes.map((path) => ({ path, need: 0o6 }))];
    const ids: (string | undefined)[] = [];
    await this.recover();
    try {
      if (runAs) for (const { path, need } of lent) ids.push(await this.#lent.lend(runAs, path, need));
      const confinement = await confine({ program, runAs, reads, writes, runDirectory: runtimeDirectory });
      const place = { limits, workingFolder: '/', ends: 'parent', hasOwnNetwork: true } as const;
      const command = confinedCommand(confinement, program, args, place);
      return await runTool(command.program, command.args, { ...options, filter: command.filter });
    } finally {
      for (const id of ids) if (id !== undefined) await this.#lent.restoreOwner(id);
    }
  }

  /** Gives a new folder, with all that is in it, to the user of these programs for good. @throws run_as_failed */
  async give(folder: string): Promise<void> {
    const runAs = await this.#user();
    if (runAs !== undefined) await own(runAs, [folder]);
  }

  /** Makes a folder that was given, with all that is in it, the server's again: from then on nothing in it changes. @throws run_as_failed */
  async reclaim(folder: string): Promise<void> {
    const server = { user: 'root', uid: String(process.geteuid?.()), gid: String(process.getegid?.()) };
    if ((await this.#user()) !== undefined) await own(server, [folder]);
  }

  /** Gives a file to the user of a node for good, also when a tool uses it now. @throws path_forbidden */
  async giveFile(runAs: RunAs, path: string): Promise<void> {
    await this.recover();
    await this.#lent.give(runAs, path);
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
}
