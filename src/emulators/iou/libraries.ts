/**
 * The libraries that an image may load: names of a list, found in the folders of the host's own C library. An image chooses no path, and no
 * program of the host looks at it.
 */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { type ElfFacts, readElf } from './elf.ts';

/** Libraries of glibc, of its compiler, and of OpenSSL and zlib in the versions that images were linked with. */
const allowed: ReadonlySet<string> = new Set([
  ...['libc.so.6', 'libm.so.6', 'libdl.so.2', 'librt.so.1', 'libpthread.so.0', 'libutil.so.1', 'libresolv.so.2', 'libnsl.so.1'],
  ...['libcrypt.so.1', 'libanl.so.1', 'libgcc_s.so.1', 'libstdc++.so.5', 'libstdc++.so.6', 'libatomic.so.1', 'libz.so.1'],
  ...['4', '5', '6', '10', '0.9.7', '0.9.8', '1.0.0', '1.1', '3'].flatMap((end) => [`libcrypto.so.${end}`, `libssl.so.${end}`]),
]);

/** The dynamic linkers of glibc, and their names in the Linux Standard Base. */
export const linkers = ['/lib/ld-linux.so.2', '/lib64/ld-linux-x86-64.so.2', '/lib/ld-lsb.so.3', '/lib64/ld-lsb-x86-64.so.3'];
const isLinker = (name: string) => linkers.some((linker) => linker.endsWith(`/${name}`));

const folders: Readonly<Record<ElfFacts['machine'], readonly string[]>> = {
  i386: ['/lib/i386-linux-gnu', '/usr/lib/i386-linux-gnu', '/lib32', '/usr/lib32', '/lib', '/usr/lib', '/usr/local/lib'],
  x86_64: ['/lib/x86_64-linux-gnu', '/usr/lib/x86_64-linux-gnu', '/lib64', '/usr/lib64', '/lib', '/usr/lib', '/usr/local/lib'],
};

export interface Libraries {
  /** Paths on the host. */
  readonly found: readonly string[];
  readonly missing: readonly string[];
}

/** Why an image with these facts may not load what it names, for people. */
export function libraryProblem({ needed, foreign }: ElfFacts): string | undefined {
  const [tag] = foreign;
  if (tag !== undefined) return `it would have other code loaded, by ${tag} in its dynamic section`;
  const path = needed.find((name) => name.includes('/'));
  if (path !== undefined) return `it names a library by a path, by DT_NEEDED in its dynamic section: ${path}`;
  const other = needed.find((name) => !allowed.has(name) && !isLinker(name));
  return other && `it needs the library ${other}, which is not one of those that images may load`;
}

/** Finds the libraries, and those that they need themselves: these are the host's own, of any name. */
export async function findLibraries({ machine, needed }: Pick<ElfFacts, 'machine' | 'needed'>): Promise<Libraries> {
  const found = new Map<string, string>();
  const missing: string[] = [];
  const wanted = [...needed];
  const known = new Set<string>(wanted);
  for (let name = wanted.shift(); name !== undefined; name = wanted.shift()) {
    if (isLinker(name)) continue;
    const library = await findLibrary(machine, name);
    if (library === undefined) missing.push(name);
    else found.set(name, library.path);
    for (const further of library?.needed ?? []) {
      if (!known.has(further)) wanted.push(further);
      known.add(further);
    }
  }
  return { found: [...found.values()], missing };
}

async function findLibrary(
  machine: ElfFacts['machine'],
  name: string,
): Promise<{ path: string; needed: readonly string[] } | undefined> {
  for (const path of folders[machine].map((folder) => join(folder, name))) {
    const isThere = await access(path, constants.R_OK).then(
      () => true,
      () => false,
    );
    const facts = isThere ? await readElf(path) : undefined;
    if (typeof facts === 'object' && facts.machine === machine) return { path, needed: facts.needed };
  }
  return undefined;
}
