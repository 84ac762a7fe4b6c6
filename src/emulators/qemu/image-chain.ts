/**
 * The files behind a disk: the image, what it is the difference to, and so on, each with its format. Looked at whenever a disk is used, so
 * that QEMU is given the whole chain and never guesses a format or opens a file that an image names by itself.
 */
import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fault } from '../../api/faults.ts';
import type { ImageFormat } from '../../lib/disk-image/image.ts';
import { readDiskImage } from '../../lib/disk-image/read.ts';
import { type Reference, referenceOf } from '../../lib/disk-image/references.ts';
import { isReallyBelow } from '../../lib/inside.ts';
import type { RawDisks } from './raw-disks.ts';

export interface ChainLink {
  readonly file: string;
  readonly format: ImageFormat;
  /** Name of the secret that opens it, where it is encrypted and another image refers to it. */
  readonly keySecret?: string;
}

export interface Chain {
  readonly image: ChainLink;
  /** Backing chain of the image, nearest image first. */
  readonly backing: readonly ChainLink[];
}

export interface ChainPlaces {
  /** Folders in which backing files may be, absolute. */
  readonly folders: readonly string[];
  readonly rawDisks: RawDisks;
}

type Next = Omit<ChainLink, 'format'> & Partial<ChainLink>;

/** Longer ones are a mistake, or a circle. */
const longestChain = 32;

/** @throws image_refused */
export async function readChain(file: string, places: ChainPlaces): Promise<Chain> {
  const links: ChainLink[] = [];
  let next: Next | undefined = { file };
  while (next !== undefined) {
    if (links.length === longestChain) throw refusal(file, `it has more than ${longestChain} backing files, or they form a circle`);
    const { format, reference } = await readLink(next.file, places.rawDisks);
    // A raw file is raw whatever its first bytes say, where the image above says so.
    const isRaw = next.format === 'raw';
    if (!isRaw && next.format !== undefined && next.format !== format) {
      throw refusal(file, `its backing file "${next.file}" is ${format}, not ${next.format}`);
    }
    links.push({ ...next, format: isRaw ? 'raw' : format });
    if (isRaw || reference === undefined) break;
    await requirePlace(file, reference, places);
    const { path, format: said, keySecret } = reference;
    next = { file: path, ...(said && { format: said }), ...(keySecret !== undefined && { keySecret }) };
  }
  const [image, ...backing] = links;
  if (image === undefined) throw refusal(file, 'it cannot be read');
  return { image, backing };
}

/** The format of an image, and what it refers to. @throws image_refused */
export async function readLink(
  file: string,
  rawDisks: RawDisks,
): Promise<{ format: ImageFormat; reference: Reference | undefined }> {
  try {
    if (await rawDisks.has(file)) return { format: 'raw', reference: undefined };
    const { format, backing } = await readDiskImage(file);
    return { format, reference: backing && referenceOf(file, backing) };
  } catch (cause) {
    throw refusal(file, (cause as Error).message, cause);
  }
}

/** Whether a backing file may be used: it is a file in one of the folders, wherever symbolic links lead. */
export async function isInPlace(path: string, folders: readonly string[]): Promise<boolean> {
  for (const folder of folders) {
    if (await isReallyBelow(folder, path)) return (await stat(path).catch(() => undefined))?.isFile() ?? false;
  }
  return false;
}

async function requirePlace(image: string, { path }: Reference, { folders }: ChainPlaces): Promise<void> {
  // A missing file gets the same error text: the files of this host are not disclosed.
  if (!(await isInPlace(path, folders))) {
    throw refusal(
      image,
      `its backing file "${path}" is not in the image folders or the project: upload it, and correct the name (qemu-img rebase -u)`,
    );
  }
}

function refusal(image: string, reason: string, cause?: unknown): Error {
  return fault('image_refused', { image, reason }, { cause });
}

/** Where the backing files of a node's disk may be: the folders in which images are looked for, the project's, and beside the image itself. */
export async function foldersFor(searched: readonly string[], projectDirectory: string, base?: string): Promise<string[]> {
  const beside = base === undefined ? [] : [dirname(base), dirname(await realpath(base).catch(() => base))];
  return [...new Set([...searched, projectDirectory, ...beside])];
}
