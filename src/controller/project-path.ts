/** What may be a project's name and folder. */
import { mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fault } from '../api/faults.ts';

/** File names may have 255 bytes; this leaves room for what is added to them. */
const maxFileNameBytes = 200;

/** @throws `project_name_invalid` */
export function projectFileName(name: string): string {
  const refuse = (reason: string) => fault('project_name_invalid', { reason });
  if (name.trim() === '') throw refuse('it is empty');
  if (name === '.' || name === '..') throw refuse(`"${name}" names a folder`);
  if (/[/\\\0]/.test(name)) throw refuse('it must not contain / or \\ or NUL: it becomes a file name');
  const filename = `${name}.gns3`;
  if (Buffer.byteLength(filename) > maxFileNameBytes)
    throw refuse(`it is too long: the file name may have ${maxFileNameBytes} bytes`);
  return filename;
}

/**
 * The folder as it is stored. A local server takes any absolute path, others only folders inside the projects folder.
 * @throws `path_forbidden`
 */
export async function projectFolder(path: string, projectsPath: string, local: boolean): Promise<string> {
  const refuse = (reason: string) => fault('path_forbidden', { path, reason });
  if (path.includes('"') || path.includes('\0')) throw refuse('it contains a quotation mark or NUL');
  if (!isAbsolute(path)) throw refuse('it is not absolute');
  const folder = resolve(path);
  if (!local && !(await isInside(projectsPath, folder).catch(() => false)))
    throw refuse('it is not inside the projects folder, and the server is not local');
  return folder;
}

/** Whether `path` lies strictly inside `root`, links resolved, compared by components; neither need exist to its end. */
export async function isInside(root: string, path: string): Promise<boolean> {
  const way = relative(await realpathOfExisting(root), await realpathOfExisting(path));
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * Makes a folder and those above it; returns the outermost one that had to be made. (Node's own recursive `mkdir` never ends where
 * a file system answers ENOENT for a folder that is there, as `/proc` does.)
 */
export async function makeFolders(path: string): Promise<string | undefined> {
  const missing = [path];
  for (;;) {
    const folder = missing.at(-1) ?? path;
    try {
      await mkdir(folder);
      break;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const above = dirname(folder);
      if (code === 'EEXIST' && (await isFolder(folder))) {
        missing.pop();
        if (missing.length > 0) await mkdir(missing.at(-1) ?? path);
        break;
      }
      if (code !== 'ENOENT' || above === folder || (await isFolder(above))) throw error;
      missing.push(above);
    }
  }
  const outermost = missing.pop();
  for (const inner of missing.toReversed()) await mkdir(inner);
  return outermost;
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

async function realpathOfExisting(path: string): Promise<string> {
  const missing: string[] = [];
  for (let existing = resolve(path); ; existing = dirname(existing)) {
    try {
      return join(await realpath(existing), ...missing);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if ((code !== 'ENOENT' && code !== 'ENOTDIR') || existing === dirname(existing)) throw error;
      missing.unshift(existing.slice(dirname(existing).length).replace(/^[/\\]/, ''));
    }
  }
}
