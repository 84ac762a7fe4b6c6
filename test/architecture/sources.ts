/** The files of the program and their imports, for the tests of its structure. */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize, relative, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');
/** The server, and its clients that are a part of the program. */
const rooms = ['src', 'lab', 'cli'];
export const web = join(root, 'web');

export interface Import {
  /** Paths below the repository; a package keeps its name. */
  readonly from: string;
  readonly to: string;
  /** Gone at run time. */
  readonly isType: boolean;
  /** Whether the import is `import()`: loaded when it is called. */
  readonly isLate: boolean;
}

/** Paths below `folder`, in order. */
export async function filesBelow(folder: string, name: RegExp): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && name.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
}

/** Files of the program without its tests, below the repository. */
export async function sourceFiles(): Promise<string[]> {
  const found = await Promise.all(
    rooms.map(async (room) => (await filesBelow(join(root, room), /\.ts$/)).map((file) => `${room}/${file}`)),
  );
  return found.flat().filter((file) => !file.endsWith('.test.ts'));
}

/** Files of the page without its tests. */
export async function pageFiles(): Promise<string[]> {
  return (await filesBelow(web, /\.(tsx?|css)$/)).filter((file) => !file.endsWith('.test.ts'));
}

/** `file` is a path below the repository. */
export async function importsOf(file: string): Promise<Import[]> {
  return importsIn(await readFile(join(root, file), 'utf8'), file);
}

/** The imports and re-exports in the text of a file. `{ type A, type B }` is gone at run time as `type { A, B }` is. */
export function importsIn(text: string, from: string): Import[] {
  const found = text.matchAll(
    /^(?:import|export)\s+(?:(type)\s)?([^;]*?)\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm,
  );
  return Array.from(found, ([, type, names = '', to = '', bare = '', late = '']) => {
    const target = to || bare || late;
    const inBraces = /^\{([^}]*)\}\s*$/.exec(names)?.[1];
    const isType = type !== undefined || (inBraces?.split(',').every((name) => /^\s*(?:type\s.*)?$/.test(name)) ?? false);
    return { from, to: target.startsWith('.') ? normalize(join(dirname(from), target)) : target, isType, isLate: late !== '' };
  });
}

/** A cycle of arrows, as the names along it, closed by the first one; undefined without a cycle. */
export function findCircle(arrows: readonly Pick<Import, 'from' | 'to'>[]): string[] | undefined {
  const targets = Map.groupBy(arrows, ({ from }) => from);
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (name: string): string[] | undefined => {
    const at = path.indexOf(name);
    if (at >= 0) return [...path.slice(at), name];
    if (done.has(name)) return undefined;
    path.push(name);
    for (const { to } of targets.get(name) ?? []) {
      const circle = visit(to);
      if (circle) return circle;
    }
    path.pop();
    done.add(name);
    return undefined;
  };
  for (const name of targets.keys()) {
    const circle = visit(name);
    if (circle) return circle;
  }
  return undefined;
}
