/** What an image may refer to: a file, by its path, and never a device, an address or a driver of QEMU. */
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { type Backing, DiskImageError, type ImageFormat, imageFormats } from './image.ts';
import { readDiskImage } from './read.ts';

export interface Reference {
  /** Absolute and normalised. */
  readonly path: string;
  /** Undefined when the image does not say. */
  readonly format: ImageFormat | undefined;
  /** Name of the secret that opens it, where it is encrypted. */
  readonly keySecret: string | undefined;
}

/** @throws DiskImageError */
export function referenceOf(image: string, { file, format }: Backing): Reference {
  const known = format === undefined ? undefined : knownFormat(format);
  if (file.startsWith('json:')) return keyedReference(file.slice('json:'.length));
  // As QEMU tells a protocol from a path: by a colon before the first slash.
  if (/^[^/]*:/.test(file)) throw new DiskImageError(`it refers to "${file}", which is no file`);
  return { path: normalize(isAbsolute(file) ? file : join(dirname(image), file)), format: known, keySecret: undefined };
}

function knownFormat(format: string): ImageFormat {
  const known = imageFormats.find((one) => one === format);
  if (known === undefined) throw new DiskImageError(`its backing file has the format "${format}", which is not supported`);
  return known;
}

/** Our own form, for encrypted images: `{driver, file: {driver: "file", filename}, encrypt: {"key-secret"}}` and nothing else. */
function keyedReference(text: string): Reference {
  const refuse = () => new DiskImageError('it refers to its backing file in a form (json:) that is not allowed');
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

/** An object with these keys; undefined for anything else. */
function fields(value: unknown, keys: readonly string[]): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const found = Object.keys(value);
  return found.length === keys.length && keys.every((key) => found.includes(key)) ? { ...value } : undefined;
}

/**
 * Looks at a file that arrives, which may be anything: what no image may do is refused wherever it goes to. Where its backing file may be is
 * decided when it is used. @throws DiskImageError
 */
export async function checkArrival(path: string): Promise<void> {
  const { backing } = await readDiskImage(path);
  if (backing !== undefined) referenceOf(path, backing);
}
