/** Images of all kinds as one list, and uploads whose kind their first bytes show. */
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { fault, isFault } from '../../api/faults.ts';
import { type ImageFile, type ImageFolder, type ImageStore, minImageBytes } from '../../emulators/host/images.ts';
import type { ImageFacts, Kind } from '../../emulators/kind.ts';
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import { readDiskImage } from '../../lib/disk-image/read.ts';
import { referenceOf } from '../../lib/disk-image/references.ts';
import type { StoredImage } from '../../schema/host.ts';
import type { NodeType } from '../../schema/node.ts';

interface KindOfImages {
  readonly type: NodeType;
  readonly facts: ImageFacts;
  readonly images: ImageFolder;
}

export class AllImages {
  readonly #kinds: readonly KindOfImages[];

  constructor(kinds: readonly Pick<Kind, 'type' | 'images'>[], store: ImageStore) {
    this.#kinds = kinds.flatMap(({ type, images }) => (images ? [{ type, facts: images, images: store.of(images) }] : []));
  }

  async list(): Promise<StoredImage[]> {
    const stored: StoredImage[] = [];
    for (const kind of this.#kinds)
      await forEachBounded(await kind.images.files(), concurrency, async (file) => {
        stored.push(await storedOf(kind, file));
      });
    return stored.sort((one, other) => (one.filename < other.filename ? -1 : 1));
  }

  /**
   * Takes an upload as an image whose file name no other of its kind has. `path` may begin with the folder of the kind.
   * @throws path_forbidden, image_refused, storage_failed
   */
  async add(path: string, source: Readable): Promise<StoredImage> {
    const { head, whole } = await peek(source).catch((cause: Error) => {
      throw isFault(cause) ? cause : fault('image_refused', { image: path, reason: cause.message }, { cause });
    });
    const kind = this.#kinds.find(({ facts }) => facts.isImage(head));
    if (head.length < minImageBytes || !kind) {
      const reason = head.length < minImageBytes ? `it has less than ${minImageBytes} bytes` : 'it is of no known kind';
      // Bytes that follow are not read.
      whole.destroy();
      throw fault('image_refused', { image: path, reason });
    }
    const { images, facts } = kind;
    const name = path.startsWith(`${facts.folder}/`) ? path.slice(facts.folder.length + 1) : path;
    await images.uploadTarget(name);
    await requireFreeName(images, basename(name));
    const file = await images.fileAt(await images.add(name, whole));
    if (!file) throw fault('image_refused', { image: path, reason: 'it was removed at once' });
    return storedOf(kind, file);
  }
}

/** @throws image_refused */
async function requireFreeName(images: ImageFolder, filename: string): Promise<void> {
  const isTaken = await images.resolve(filename).then(
    () => true,
    (error: unknown) => !isFault(error, 'image_missing'),
  );
  if (isTaken)
    throw fault('image_refused', { image: filename, reason: 'there is an image of this name already: choose another name' });
}

/** Reads the first bytes of a stream, and returns them with a stream of all. */
async function peek(source: Readable): Promise<{ readonly head: Buffer; readonly whole: Readable }> {
  source.on('error', () => undefined);
  const chunks = source.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  let head = Buffer.alloc(0);
  while (head.length < minImageBytes) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  const begin = head;
  async function* all(): AsyncGenerator<Buffer> {
    if (begin.length > 0) yield begin;
    yield* chunks;
  }
  return { head, whole: Readable.from(all(), { objectMode: false }) };
}

async function storedOf({ type, facts }: KindOfImages, image: ImageFile): Promise<StoredImage> {
  const { filename, path, md5sum, filesize, createdAt, modifiedAt } = image;
  const times = { created_at: Math.floor(createdAt), modified_at: Math.floor(modifiedAt) };
  const based_on = await backingOf(image.file);
  return { node_type: type, folder: facts.folder, filename, path, md5sum, filesize, based_on, ...times };
}

/** Returns the file name of a disk's backing file; null for other files and for what cannot be read. */
async function backingOf(file: string): Promise<string | null> {
  try {
    const { backing } = await readDiskImage(file);
    return backing === undefined ? null : basename(referenceOf(file, backing).path);
  } catch {
    return null;
  }
}
