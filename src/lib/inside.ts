/** Whether a path stays inside a folder: compared by components, and after symbolic links were followed. */
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** Lexically: `path` is strictly below `folder`. Both absolute and normalised. */
export function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * The target of a symbolic link at `link` is below `folder`. `..` may stand in front only: after a name, which may be a link itself,
 * it could point outside.
 */
export function leadsBelow(folder: string, link: string, target: string): boolean {
  const isPlain = /^(?:\.\.?\/)*(?:(?!\.\.?(?:\/|$))[^/\0]+(?:\/|$))+$/.test(target);
  return isPlain && isBelow(folder, resolve(dirname(link), target));
}

/** `path`, which need not exist, is strictly below `folder` wherever symbolic links lead. */
export async function isReallyBelow(folder: string, path: string): Promise<boolean> {
  if (!isBelow(folder, path)) return false;
  const [realFolder, realPath] = await Promise.all([realExisting(folder), realExisting(path)]);
  return isBelow(realFolder, realPath);
}

/** The real path of the part of a path that exists, with the rest as given. A dangling link leads nowhere: the root folder. */
export async function realExisting(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined) return real;
  // Anything else that is there now was made meanwhile.
  const dangling = (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false;
  const parent = dirname(path);
  if (parent === path || dangling) return sep;
  return join(await realExisting(parent), basename(path));
}
