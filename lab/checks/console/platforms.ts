/** Loads platforms from their files. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Compile } from 'typebox/schema';
import { parse } from 'yaml';
import { isReallyBelow } from '../../../src/lib/inside.ts';
import { PlatformFile } from './platform-schema.ts';

const folder = resolve(import.meta.dirname, '../platforms');

export interface ConsolePlatform extends PlatformFile {
  readonly name: string;
  readonly patterns: { readonly prompt: RegExp; readonly error: RegExp | undefined; readonly answers: readonly RegExp[] };
}

export class PlatformError extends Error {
  override readonly name = 'PlatformError';
}

export class Platforms {
  readonly #known: ReadonlyMap<string, ConsolePlatform>;

  private constructor(known: readonly ConsolePlatform[]) {
    this.#known = new Map(known.map((platform) => [platform.name, platform]));
  }

  static async load(): Promise<Platforms> {
    const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml')).toSorted();
    return new Platforms(await Promise.all(files.map((name) => readPlatform(join(folder, name)))));
  }

  /** Returns a platform by name, or by the path of a file below `base`, the folder of the lab file. @throws PlatformError */
  async get(name: string, base: string): Promise<ConsolePlatform> {
    const known = this.#known.get(name);
    if (known) return known;
    if (/\.ya?ml$/.test(name)) {
      const path = resolve(base, name);
      if (await isReallyBelow(resolve(base), path)) return readPlatform(path);
      throw new PlatformError(`the platform ${name} is outside of the folder of the lab file. Move it there`);
    }
    throw new PlatformError(`there is no platform "${name}". Known: ${[...this.#known.keys()].join(', ')}`);
  }

  /** Returns the platform of a node type's console; undefined: the type has none. */
  ofKind(nodeType: string): ConsolePlatform | undefined {
    return [...this.#known.values()].find(({ kinds }) => kinds?.includes(nodeType));
  }

  /** Returns the platform of a node that is used over SSH only. */
  get remote(): ConsolePlatform | undefined {
    return this.#known.get('linux');
  }

  /** Returns the platform of a node type's auxiliary console. */
  ofShell(nodeType: string): ConsolePlatform | undefined {
    return [...this.#known.values()].find(({ shells }) => shells?.includes(nodeType));
  }
}

async function readPlatform(path: string): Promise<ConsolePlatform> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new PlatformError(`the platform ${path} cannot be read: ${error.message}`);
  });
  return platformOf(basename(path).replace(/\.ya?ml$/, ''), text);
}

/** Parses a platform file. @throws PlatformError */
export function platformOf(name: string, text: string): ConsolePlatform {
  const fail = (reason: string) => new PlatformError(`the platform ${name} cannot be used: ${reason}`);
  let tree: unknown;
  try {
    tree = parse(text, { maxAliasCount: 100 });
  } catch (error) {
    throw fail((error as Error).message);
  }
  const [, [problem]] = Compile(PlatformFile).Errors(tree);
  if (problem) throw fail(`${problem.instancePath || 'the file'} ${problem.message}`);
  const file = tree as PlatformFile;
  try {
    const patterns = {
      prompt: new RegExp(file.prompt),
      error: file.error === undefined ? undefined : new RegExp(file.error, 'm'),
      answers: (file.answers ?? []).map(({ when }) => new RegExp(when)),
    };
    return { ...file, name, patterns };
  } catch (error) {
    throw fail((error as Error).message);
  }
}
