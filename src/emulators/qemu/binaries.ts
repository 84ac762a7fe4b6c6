/**
 * Finds the emulators and the `qemu-img` programs: files of known names in PATH. A file is listed once, however many paths lead to it
 * (`/bin` is often `/usr/bin`). A file is asked for its version once, and again only after it changed.
 */
import { constants } from 'node:fs';
import { access, readdir, realpath, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join, normalize } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { runTool } from '../../process/tool.ts';
import { isEmulatorName } from './platforms.ts';
import { parseVersion, type Version, versionWord } from './version.ts';

export interface Binary {
  path: string;
  version: string;
}

interface KnownVersion {
  readonly mtimeMs: number;
  readonly size: number;
  readonly version: Promise<string | undefined>;
}

interface KnownList {
  /** Folders of PATH. */
  readonly directories: readonly string[];
  /** The folders of PATH and the files in them that have the names of emulators. */
  readonly places: readonly string[];
  readonly facts: readonly (readonly number[] | null)[];
  readonly binaries: Binary[];
}

interface FoundProgram {
  readonly path: string;
  /** PATH, when it was looked for. */
  readonly searched: string;
  /** Time of the search on the monotonic clock, ms. */
  readonly at: number;
}

/** A node is created for each look into PATH, and ten folders take a fifth of the time. */
const freshMs = 1000;
/** An emulator that takes longer to print its version is not usable. */
const versionLimitMs = 5000;
/** Programs asked for their version at the same time. */
const parallel = 4;

export class Binaries {
  readonly #path: () => string;
  readonly #versions = new Map<string, KnownVersion>();
  readonly #lists = new Map<string, KnownList>();
  readonly #found = new Map<string, FoundProgram>();
  readonly #looking = new Map<string, Promise<Binary[]>>();

  constructor(path: () => string = () => process.env.PATH ?? '') {
    this.#path = path;
  }

  /** Emulators whose name ends with one of `archs`; without it all of them. */
  list(archs?: readonly string[]): Promise<Binary[]> {
    const all = this.#list('emulators', isEmulatorName);
    if (archs === undefined) return all;
    return all.then((list) => list.filter(({ path }) => archs.some((arch) => basename(path).endsWith(arch))));
  }

  listImg(): Promise<Binary[]> {
    return this.#list('qemu-img', (name) => name === 'qemu-img');
  }

  /** A program's absolute path, as a shell would find it. One that was put into an earlier folder of PATH is found after a second. */
  async inPath(name: string): Promise<string | undefined> {
    const known = this.#found.get(name);
    const isFresh = known && known.searched === this.#path() && performance.now() - known.at < freshMs;
    if (isFresh && (await mayExecute(known.path))) return known.path;
    const found = await this.#findInPath(name);
    if (found === undefined) this.#found.delete(name);
    else this.#found.set(name, { path: found, searched: this.#path(), at: performance.now() });
    return found;
  }

  async #findInPath(name: string): Promise<string | undefined> {
    const paths = this.directories().map((directory) => join(directory, name));
    // All paths are tried together: each look waits for a thread of the pool, and a node is created meanwhile.
    const found = await Promise.all(paths.map(isExecutable));
    return paths[found.indexOf(true)];
  }

  /** An emulator named by a client: a bare name is looked for in PATH; a path must be absolute, and of a folder of PATH if `onlyInPath`. */
  async findEmulator(given: string, onlyInPath: boolean): Promise<string | undefined> {
    if (given.includes('\0') || !isEmulatorName(basename(given))) return undefined;
    if (!given.includes('/')) return this.inPath(given);
    const path = normalize(given);
    if (!isAbsolute(path) || !(await isExecutable(path))) return undefined;
    if (onlyInPath && !(await this.#isInPath(path))) return undefined;
    return path;
  }

  /** `qemu-img` beside an emulator, else in PATH. */
  async imgFor(emulator: string): Promise<string | undefined> {
    const beside = join(dirname(emulator), 'qemu-img');
    return (await isExecutable(beside)) ? beside : this.inPath('qemu-img');
  }

  /** Undefined when the program prints none. */
  async versionText(path: string): Promise<string | undefined> {
    const facts = await stat(path).catch(() => undefined);
    if (facts === undefined) return undefined;
    const { mtimeMs, size } = facts;
    const known = this.#versions.get(path);
    if (known?.mtimeMs === mtimeMs && known.size === size) return known.version;
    // The promise is kept, so that requests at the same time ask once.
    const option = basename(path) === 'qemu-img' ? '--version' : '-version';
    const version = runTool(path, [option], { timeoutMs: versionLimitMs }).then(({ stdout }) => versionWord(stdout));
    this.#versions.set(path, { mtimeMs, size, version });
    // A failure may pass (a machine under load): it is not remembered.
    if ((await version) === undefined) this.#versions.delete(path);
    return version;
  }

  async version(path: string): Promise<Version> {
    return parseVersion((await this.versionText(path)) ?? '0');
  }

  /** Folders of PATH; relative ones are left out, for they mean another place in another folder. */
  directories(): string[] {
    return [...new Set(this.#path().split(delimiter))].filter(isAbsolute);
  }

  async #isInPath(path: string): Promise<boolean> {
    const folder = await realpath(dirname(path)).catch(() => undefined);
    for (const directory of this.directories()) {
      if (folder !== undefined && folder === (await realpath(directory).catch(() => undefined))) return true;
    }
    return false;
  }

  /** Files are looked for again when a folder of PATH or one of them has changed. */
  #list(key: string, wanted: (name: string) => boolean): Promise<Binary[]> {
    // Requests at the same time look once.
    const looking = this.#looking.get(key) ?? this.#look(key, wanted).finally(() => this.#looking.delete(key));
    this.#looking.set(key, looking);
    return looking;
  }

  async #look(key: string, wanted: (name: string) => boolean): Promise<Binary[]> {
    const directories = this.directories();
    const known = this.#lists.get(key);
    const isSame = known && isDeepStrictEqual(known.directories, directories);
    if (isSame && isDeepStrictEqual(await factsOf(known.places), known.facts)) return known.binaries;
    const inDirectories = await Promise.all(
      directories.map(async (directory) => {
        const facts = await factsOf([directory]);
        const names = (await readdir(directory).catch(() => [])).filter(wanted).sort();
        return { facts, paths: names.map((name) => join(directory, name)) };
      }),
    );
    const paths = inDirectories.flatMap((found) => found.paths);
    const facts = [...inDirectories.flatMap((found) => found.facts), ...(await factsOf(paths))];
    const binaries = await this.#usable(paths);
    // A program that did not say its version may do so the next time.
    if (binaries.isComplete)
      this.#lists.set(key, { directories, places: [...directories, ...paths], facts, binaries: binaries.list });
    return binaries.list;
  }

  async #usable(paths: readonly string[]): Promise<{ list: Binary[]; isComplete: boolean }> {
    const found = new Map<string, string>();
    for (const path of paths) {
      const real = await realpath(path).catch(() => undefined);
      if (real !== undefined && !found.has(real) && (await isExecutable(path))) found.set(real, path);
    }
    const waiting = [...found.values()];
    const list: Binary[] = [];
    const next = async (): Promise<void> => {
      for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
        const version = await this.versionText(path);
        if (version !== undefined) list.push({ path, version });
      }
    };
    await Promise.all(Array.from({ length: parallel }, next));
    return { list: list.sort((a, b) => (a.path < b.path ? -1 : 1)), isComplete: list.length === found.size };
  }
}

/** Reads facts that change when a file or folder changes; null where there is none. Links are followed. */
function factsOf(paths: readonly string[]): Promise<(readonly number[] | null)[]> {
  return Promise.all(
    paths.map((path) =>
      stat(path).then(
        ({ dev, ino, size, mode, mtimeMs, ctimeMs }) => [dev, ino, size, mode, mtimeMs, ctimeMs],
        () => null,
      ),
    ),
  );
}

function mayExecute(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function isExecutable(path: string): Promise<boolean> {
  const facts = await stat(path).catch(() => undefined);
  return facts?.isFile() === true && mayExecute(path);
}
