/** Gives files unused names: no file of any program is ever replaced. */
import { constants, copyFile, link, open, rename, rm } from 'node:fs/promises';

/**
 * Error codes of file systems without hard links (FAT, exFAT, some network ones), or with too many links to a file. @see link(2)
 */
const noLink = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/**
 * Renames a file unless the name is taken. Without hard links an empty file reserves the name for an instant; it stays if the
 * process is killed then. @throws EEXIST
 */
export async function takeName(from: string, to: string, makeLink: typeof link = link): Promise<void> {
  const isLinked = await linked(from, to, makeLink);
  if (isLinked) return rm(from);
  await (await open(to, 'wx')).close();
  try {
    await rename(from, to);
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  }
}

/** Adds a second name to a file; without hard links, a copy. @throws EEXIST */
export async function addName(path: string, further: string, makeLink: typeof link = link): Promise<void> {
  if (!(await linked(path, further, makeLink))) await copyFile(path, further, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
}

/** Creates a hard link; false where the file system has none. */
function linked(from: string, to: string, makeLink: typeof link): Promise<boolean> {
  return makeLink(from, to).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (noLink.has(error.code ?? '')) return false;
      throw error;
    },
  );
}
