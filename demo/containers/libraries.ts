/** Packages that have the libraries of programs, and the files of these that a program needs. */
import path from 'node:path';
import { run } from '../guest/debian.ts';

const onlyDepends = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances', 'pre-depends'].map(
  (one) => `--no-${one}`,
);
/** Packages of a library's source that do not have the library. */
const notLibraries = /-(common|base|bin|data|modules|runtime|config|stdlib|minimal)$/;

/** The packages and those of their libraries, and of these. Other dependencies (init scripts, interpreters) are left out. */
export async function withLibraryPackages(names: readonly string[]): Promise<string[]> {
  const { code, stdout, stderr } = await run('apt-cache', ['depends', '--recurse', ...onlyDepends, ...names]);
  if (code !== 0) throw new Error(`apt knows no packages ${names.join(', ')}: ${stderr.trim()}. Run as root: apt-get update`);
  const needs = readDepends(stdout);
  const found = new Set(names);
  for (const name of found) {
    for (const needed of needs.get(name) ?? []) {
      if (/^(lib|zlib)/.test(needed) && !notLibraries.test(needed)) found.add(needed);
    }
  }
  return [...found];
}

/** Packages by the package that needs them; the first of alternatives. */
export function readDepends(text: string): Map<string, string[]> {
  const needs = new Map<string, string[]>();
  let current: string[] = [];
  let isAlternative = false;
  for (const line of text.split('\n')) {
    const [, bar, needed] = /^ ([ |])Depends: ([^<\s]+)$/.exec(line) ?? [];
    if (/^\S/.test(line)) {
      current = [];
      needs.set(line.trim(), current);
      isAlternative = false;
    } else if (bar !== undefined) {
      if (needed !== undefined && !isAlternative) current.push(needed);
      isAlternative = bar === '|';
    }
  }
  return needs;
}

/**
 * The files that a program loads, out of `libraries` (paths by name), found by the dynamic linker of the packages itself.
 * @returns where each is on this machine, by its path in the image
 * @throws Error when one is missing
 */
export async function librariesOf(program: string, libraries: ReadonlyMap<string, string>): Promise<Map<string, string>> {
  const linker = [...libraries].find(([name]) => /^ld-linux.*\.so\.\d+$/.test(name))?.[1];
  if (linker === undefined) throw new Error('the package libc6 has no dynamic linker');
  const folders = [...new Set([...libraries.values()].map((file) => path.dirname(file)))];
  const { code, stdout, stderr } = await run(linker, ['--library-path', folders.join(':'), '--list', program]);
  if (code !== 0) throw new Error(`the libraries of ${program} cannot be found: ${stderr.trim() || stdout.trim()}`);
  const found = new Map<string, string>();
  for (const [, name = '', file = ''] of stdout.matchAll(/^\s*(\S+) => (\/\S+)/gm)) {
    found.set(name.startsWith('/') ? name.slice(1) : `lib/${name}`, file);
  }
  return found;
}
