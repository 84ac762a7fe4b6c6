/** Checks an image's references: a file by its path is allowed, a device, a network address or a QEMU driver is not. */
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { isBelow } from '../inside.ts';
import { type Backing, DiskImageError, ForeignReferenceError, type ImageFormat, imageFormats } from './image.ts';
import { readDiskImage } from './read.ts';

export interface Reference {
  /** Absolute and normalised path. */
  readonly path: string;
  /** Undefined when the image has no format for its backing file. */
  readonly format: ImageFormat | undefined;
  /** Name of the secret that decrypts the file; undefined: not encrypted. */
  readonly keySecret: string | undefined;
}

/** Resolves a backing file. @throws DiskImageError */
export function referenceOf(image: string, { file, format }: Backing): Reference {
  const known = format === undefined ? undefined : knownFormat(format);
  if (file.startsWith('json:')) return keyedReference(file.slice('json:'.length));
  // QEMU tells a protocol from a path in the same way: by a colon before the first slash.
  if (/^[^/]*:/.test(file)) throw new ForeignReferenceError(`it refers to "${file}", which is no file`);
  return { path: normalize(isAbsolute(file) ? file : join(dirname(image), file)), format: known, keySecret: undefined };
}

function knownFormat(format: string): ImageFormat {
  const known = imageFormats.find((one) => one === format);
  if (known === undefined) throw new DiskImageError(`its backing file has the format "${format}", which is not supported`);
  return known;
}

/**
 * Parses our own form, for encrypted images: `{driver, file: {driver: "file", filename}, encrypt: {"key-secret"}}` and nothing
 * else.
 */
function keyedReference(text: string): Reference {
  const refuse = () => new ForeignReferenceError('it refers to its backing file in a form (json:) that is not allowed');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse();
  }
  const source = fields(value, ['driver', 'file', 'encrypt']);
  const file = fields(source?.file, ['driver', 'filename']);
  const encrypt = fields(source?.encrypt, ['key-secret']);
  const filename = file?.filename;
  const keySecret = encrypt?.['key-secret'];
  const isFile = file?.driver === 'file' && typeof filename === 'string' && isAbsolute(filename);
  if (!isFile || typeof keySecret !== 'string' || typeof source?.driver !== 'string') throw refuse();
  return { path: normalize(filename), format: knownFormat(source.driver), keySecret };
}

/** Returns an object with exactly these keys; undefined for any other value. */
function fields(value: unknown, keys: readonly string[]): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const found = Object.keys(value);
  return found.length === keys.length && keys.every((key) => found.includes(key)) ? { ...value } : undefined;
}

/**
 * Checks an uploaded file of any content; `path` is its temporary path in the same folder. A damaged image may be stored, because
 * its use is refused later. With `folders`, the backing file must lie in one of them, whether it exists or not.
 * @throws ForeignReferenceError, and errors of the system
 */
export async function checkArrival(path: string, folders?: readonly string[]): Promise<void> {
  try {
    const { backing } = await readDiskImage(path);
    if (backing === undefined) return;
    const { path: target } = referenceOf(path, backing);
    if (folders === undefined || folders.some((folder) => isBelow(folder, target))) return;
  } catch (error) {
    if (error instanceof ForeignReferenceError || !(error instanceof DiskImageError)) throw error;
    return;
  }
  throw new ForeignReferenceError(
    'its backing file lies outside the image folders: make one file of it (qemu-img convert -O qcow2)',
  );
}
