/** Checks whether a path stays inside a folder: compares components, after symbolic links were followed. */
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** Whether `path` is strictly below `folder`, without following links. Both absolute and normalised. */
export function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * Whether the target of a symbolic link at `link` is below `folder`. `..` is allowed at the front only: a name before it may be a
 * link itself, and `..` would then point outside.
 */
export function leadsBelow(folder: string, link: string, target: string): boolean {
  const isPlain = /^(?:\.\.?\/)*(?:(?!\.\.?(?:\/|$))[^/\0]+(?:\/|$))+$/.test(target);
  return isPlain && isBelow(folder, resolve(dirname(link), target));
}

/** Whether `path`, which need not exist, is strictly below `folder` after symbolic links are followed. */
export async function isReallyBelow(folder: string, path: string): Promise<boolean> {
  if (!isBelow(folder, path)) return false;
  const [realFolder, realPath] = await Promise.all([realExisting(folder), realExisting(path)]);
  return isBelow(realFolder, realPath);
}

/** Returns the real path of the existing part of a path, with the rest as given. A dangling link counts as the root folder. */
export async function realExisting(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined) return real;
  // Another process may have created the path meanwhile; only a link counts as dangling.
  const dangling = (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false;
  const parent = dirname(path);
  if (parent === path || dangling) return sep;
  return join(await realExisting(parent), basename(path));
}
