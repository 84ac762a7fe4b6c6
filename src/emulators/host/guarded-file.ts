/**
 * Files that root gives to a user of emulators. A program that runs as such a user can put a link in place of a file in each folder that it
 * owns, at any moment: root must not follow that link. Once a file is open, its path no longer counts.
 */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fault } from '../../api/faults.ts';
import { isEmulators, type RunAs } from './run-as.ts';

/** Limit of links in one path, the same as in the kernel (path_resolution(7)). */
const mostLinks = 40;

/**
 * Opens a regular file to read and to change its owner. Links are followed unless a user of emulators can have made them.
 * @returns undefined when there is no regular file. @throws path_forbidden
 */
export async function openGuarded(path: string, runAs: Pick<RunAs, 'uid'>): Promise<FileHandle | undefined> {
  const real = await resolveGuarded(path, runAs);
  if (real === undefined) return undefined;
  // O_NONBLOCK: a named pipe is not waited for.
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const facts = await file.stat();
    if (facts.isFile()) {
      // A folder above was replaced since it was looked at.
      if ((await readlink(`/proc/self/fd/${file.fd}`)) !== real) throw refused(path, 'it was replaced meanwhile');
      const isUsersFolder = isEmulators((await stat(dirname(real))).uid, runAs);
      if (facts.nlink > 1 && isUsersFolder) throw refused(path, 'the file has another name, too: replace it by a copy');
      return file;
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return undefined;
}

/**
 * Resolves a path like `realpath`, but refuses links in folders of such a user, and links that such a user owns. Undefined when there is no
 * such path.
 */
async function resolveGuarded(path: string, runAs: Pick<RunAs, 'uid'>): Promise<string | undefined> {
  const rest = resolve(path).split('/');
  let folder = '/';
  for (let links = 0; rest.length > 0; ) {
    const name = rest.shift() ?? '';
    if (name === '' || name === '.') continue;
    const next = name === '..' ? dirname(folder) : join(folder, name);
    const facts = await lstat(next).catch(() => undefined);
    if (facts === undefined) return undefined;
    if (!facts.isSymbolicLink()) {
      folder = next;
      continue;
    }
    const owners = [facts.uid, (await stat(folder)).uid];
    if (owners.some((owner) => isEmulators(owner, runAs)) || ++links > mostLinks)
      throw refused(path, `${next} is a symbolic link that an emulator can have made`);
    const target = await readlink(next);
    if (target.startsWith('/')) folder = '/';
    rest.unshift(...target.split('/'));
  }
  return folder;
}

const refused = (path: string, reason: string) => fault('path_forbidden', { path, reason });
