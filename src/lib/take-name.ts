/** Names for files that no other file has: nothing is ever replaced, whichever program made it. */
import { constants, copyFile, link, open, rename, rm } from 'node:fs/promises';

/** What a file system without hard links answers (FAT, exFAT, some of a network), and one that has too many of a file. @see link(2) */
const noLink = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/**
 * Renames a file unless the name is taken. Without hard links an empty file holds the name for an instant, and stays if the process is
 * killed in it. @throws EEXIST
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

/** A second name for a file; without hard links a copy has it. @throws EEXIST */
export async function addName(path: string, further: string, makeLink: typeof link = link): Promise<void> {
  if (!(await linked(path, further, makeLink))) await copyFile(path, further, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
}

/** False where that is not possible. */
function linked(from: string, to: string, makeLink: typeof link): Promise<boolean> {
  return makeLink(from, to).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (noLink.has(error.code ?? '')) return false;
      throw error;
    },
  );
}
