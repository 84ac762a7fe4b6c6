/** Reads files that lab files name: files beside the lab file on disk, or those in a request. Never any others. */
import { constants, open } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { isReallyBelow } from '../../src/lib/inside.ts';
import { LabError, type Place } from './lab-error.ts';
import { maxFileLength } from './read-yaml.ts';

export interface LabFiles {
  /** Reads a file. `path`: relative to the folder of the lab, normalised. @throws LabError */
  read(path: string, place?: Place): Promise<string>;
}

/** Longest total of the files that one lab names, characters. */
const maxTotalLength = 64 * maxFileLength;

/** Reads files of a folder, only if they are below it after symbolic links are followed. */
export function filesBelow(folder: string): LabFiles {
  let total = 0;
  return {
    async read(path, place) {
      const full = join(folder, path);
      if (!(await isReallyBelow(folder, full))) throw outside(path, place);
      const text = await readText(full, path, place);
      total += text.length;
      if (total > maxTotalLength)
        throw new LabError(`the files of this lab have more than ${maxTotalLength} characters together`, place);
      return text;
    },
  };
}

/** Reads files from a map of paths to texts. */
export function filesOf(texts: Readonly<Record<string, string>>): LabFiles {
  const byPath = new Map(Object.entries(texts));
  return {
    async read(path, place) {
      const text = byPath.get(path);
      if (text === undefined)
        throw new LabError(`the file ${path} was not sent. Put its text into \`files\` of the request`, place);
      return text;
    },
  };
}

/** Returns the path of a file that another one names, relative to the folder of the lab. @throws LabError */
export function besideFile(named: string, by: string, place?: Place): string {
  const path = posix.normalize(posix.join(posix.dirname(by), named.replaceAll('\\', '/')));
  if (named.startsWith('/') || path.startsWith('..') || named.includes('\0')) throw outside(named, place);
  return path;
}

function outside(path: string, place: Place | undefined): LabError {
  return new LabError(`${path.replaceAll('\0', '?').slice(0, 200)} is outside of the folder of the lab file. Move it there`, place);
}

/** Decodes a text. @throws LabError for other bytes, which would be changed */
function textIn(bytes: Uint8Array, path: string, place: Place | undefined): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new LabError(`${path} is not a text in UTF-8. Convert it, or upload it to the node`, place);
  }
}

async function readText(full: string, path: string, place: Place | undefined): Promise<string> {
  try {
    // O_NONBLOCK keeps a named pipe from blocking.
    await using file = await open(full, constants.O_RDONLY | constants.O_NONBLOCK);
    const facts = await file.stat();
    if (!facts.isFile()) throw new LabError(`${path} is not a file`, place);
    if (facts.size > maxFileLength) throw new LabError(`${path} has more than ${maxFileLength} bytes`, place);
    return textIn(await file.readFile(), path, place);
  } catch (error) {
    if (error instanceof LabError) throw error;
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : (error as Error).message;
    throw new LabError(`${path} cannot be read: ${reason}`, place);
  }
}
