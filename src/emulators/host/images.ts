/**
 * Where disk images and other files of emulators are, and what they are called. Clients name an image by a relative name, which
 * is looked for in the image folders, or by a path. A server that is not local gives out nothing that lies outside its folders:
 * folders are compared by their components, after symbolic links were followed.
 * @see the rules of GNS3's compute API: `images_path`, `additional_images_path`, then the project's own folder.
 */
import { chmod, lstat, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize, relative } from 'node:path';
import type { Readable } from 'node:stream';
import { type Fault, fault, isFault } from '../../api/faults.ts';
import { syncFolder } from '../../lib/atomic-file.ts';
import { besideImages, refuseImageName } from '../../lib/base-name.ts';
import { DiskImageError } from '../../lib/disk-image/image.ts';
import { checkArrival } from '../../lib/disk-image/references.ts';
import { isBelow, isReallyBelow } from '../../lib/inside.ts';
import { removeTemporary, writeStream } from '../../lib/stream-file.ts';
import type { Settings } from '../../schema/settings.ts';
import type { ImageFacts } from '../kind.ts';
import { Checksums } from './checksums.ts';

interface ImageEntry {
  filename: string;
  path: string;
  md5sum: string | null;
  filesize: number;
}

/** An image as it is on the disk. */
export interface ImageFile {
  readonly filename: string;
  /** Absolute. */
  readonly file: string;
  /** Relative to the kind's folder, or absolute where it lies elsewhere. */
  readonly path: string;
  /** Null while it is not known. */
  readonly md5sum: string | null;
  readonly filesize: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/** Sums of files up to this size are waited for; larger ones are summed in the background (64 MiB take about 0.1 s). */
const quickSumBytes = 64 * 1024 * 1024;

export class ImageStore {
  readonly checksums = new Checksums();
  readonly #settings: () => Settings;
  readonly #folders = new Map<string, ImageFolder>();

  constructor(settings: () => Settings) {
    this.#settings = settings;
  }

  /** Images of one kind. */
  of({ folder: name, isImage, isProgram = false }: ImageFacts): ImageFolder {
    const folder =
      this.#folders.get(name) ?? new ImageFolder({ name, settings: this.#settings, checksums: this.checksums, isImage, isProgram });
    this.#folders.set(name, folder);
    return folder;
  }

  /** Removes what a server that was killed left of uploads and imports, unless other servers use the folder as well. Never rejects. */
  async removeLeftovers(): Promise<void> {
    const { dataDirectory, Server } = this.#settings();
    const isOwn = await isReallyBelow(dataDirectory, Server.images_path).catch(() => false);
    if (isOwn) await removeTemporary(Server.images_path);
  }

  close(): Promise<void> {
    return this.checksums.close();
  }
}

export class ImageFolder {
  readonly #name: string;
  readonly #settings: () => Settings;
  readonly #checksums: Checksums;
  readonly #isImage: (head: Buffer) => boolean;
  readonly #isProgram: boolean;
  /** Reference to the path it was last resolved to, for `md5`. */
  readonly #resolved = new Map<string, string>();
  readonly #looking = new Set<string>();

  constructor(parts: {
    readonly name: string;
    readonly settings: () => Settings;
    readonly checksums: Checksums;
    readonly isImage: (head: Buffer) => boolean;
    readonly isProgram: boolean;
  }) {
    this.#name = parts.name;
    this.#settings = parts.settings;
    this.#checksums = parts.checksums;
    this.#isImage = parts.isImage;
    this.#isProgram = parts.isProgram;
  }

  /** Where uploads go and new images are made; may not exist yet. */
  get directory(): string {
    return join(this.#settings().Server.images_path, this.#name);
  }

  /**
   * The absolute path of the image a client named.
   * @throws image_missing, image_not_allowed
   */
  async resolve(reference: string, projectDirectory?: string): Promise<string> {
    const path = await this.#find(reference, projectDirectory);
    if (path === undefined) throw fault('image_missing', { image: reference }, { extra: { image: reference } });
    if (!this.#settings().Server.local && !(await this.#allowed(path, projectDirectory))) {
      throw fault('image_not_allowed', { image: reference });
    }
    return path;
  }

  /** Form in which clients see a resolved path: relative below this folder or directly in another image folder, else absolute. */
  display(path: string, projectDirectory?: string): string {
    if (isBelow(this.directory, path)) return relative(this.directory, path);
    const flat = this.folders(projectDirectory).some((directory) => dirname(path) === directory);
    return flat ? basename(path) : path;
  }

  /** Resolves, remembers for `md5`, and gives the form that is kept in a node's properties; sums small files at once. */
  async accept(reference: string, projectDirectory?: string): Promise<string> {
    const path = await this.resolve(reference, projectDirectory);
    await this.#checksums.get(path, quickSumBytes);
    const shown = this.display(path, projectDirectory);
    const own = projectDirectory !== undefined && isBelow(projectDirectory, path);
    // A name in a project's folder may mean another file in another project: no sum is better than a wrong one.
    if (own) this.#resolved.delete(shown);
    else this.#resolved.set(shown, path);
    return shown;
  }

  /** The MD5 sum of an accepted image, null while it is not known; looks for it in the background then. */
  md5(reference: string): string | null {
    if (reference === '') return null;
    const path = this.#resolved.get(reference);
    if (path !== undefined) return this.#checksums.known(path);
    if (!this.#looking.has(reference)) {
      this.#looking.add(reference);
      void this.accept(reference).catch(() => {});
    }
    return null;
  }

  /** Every image there is, as GNS3's clients see it. */
  async list(): Promise<ImageEntry[]> {
    return (await this.files()).map(({ filename, path, md5sum, filesize }) => ({ filename, path, md5sum, filesize }));
  }

  /** Every image there is, each name once; folders in the order in which names are looked for. */
  async files(): Promise<ImageFile[]> {
    const seen = new Set<string>();
    const entries: ImageFile[] = [];
    for (const directory of this.folders()) {
      const flat = directory === this.#settings().Server.images_path;
      for await (const path of files(directory, flat ? 0 : maxDepth)) {
        const filename = basename(path);
        if (seen.has(filename) || besideImages.test(filename)) continue;
        const entry = await this.fileAt(path, quickSumBytes);
        if (entry === undefined) continue;
        seen.add(filename);
        entries.push(entry);
      }
    }
    return entries;
  }

  /** Takes an upload; one that breaks off changes nothing. @throws path_forbidden, image_refused, storage_failed, form_invalid */
  async upload(filename: string, source: Readable): Promise<void> {
    // A client that goes before its bytes are asked for.
    source.on('error', () => undefined);
    const target = await this.uploadTarget(filename);
    const check = (file: string) => checkArrival(file, this.folders());
    await writeStream(target, source, { check }).catch(async (cause: NodeJS.ErrnoException) => {
      await this.#removeEmptyFolders(target);
      throw uploadFault(filename, cause);
    });
    await this.#arrived(target);
  }

  /**
   * Takes plain bytes as an image of a new name; what breaks off changes nothing. Returns the absolute path.
   * @throws path_forbidden, image_refused, storage_failed
   */
  async add(filename: string, source: Readable): Promise<string> {
    source.on('error', () => undefined);
    const target = await this.uploadTarget(filename);
    const check = (file: string) => checkArrival(file, this.folders());
    await writeStream(target, source, { check, isNew: true }).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'EEXIST') throw uploadFault(filename, cause);
      throw fault('image_refused', { image: filename, reason: 'there is a file of this name already: choose another name' });
    });
    await this.#arrived(target);
    return target;
  }

  /** Makes a file of the image folder an image, in place of one that had the name. @throws path_forbidden, image_refused, storage_failed */
  async adopt(filename: string, file: string): Promise<void> {
    const target = await this.uploadTarget(filename);
    const move = async () => {
      await checkArrival(file, this.folders());
      await mkdir(dirname(target), { recursive: true });
      await rename(file, target);
      await syncFolder(dirname(target));
    };
    await move().catch((cause: NodeJS.ErrnoException) => {
      throw uploadFault(filename, cause);
    });
    await this.#arrived(target, file);
  }

  async #arrived(target: string, from?: string): Promise<void> {
    if (this.#isProgram) await chmod(target, executable);
    await this.#checksums.forget(target);
    if (from !== undefined) this.#checksums.renamed(from, target);
    await this.#checksums.get(target, quickSumBytes);
  }

  /** Removes an image of the folder that uploads go to, with its checksum. @throws path_forbidden, image_missing, storage_failed */
  async remove(filename: string): Promise<void> {
    const path = await this.uploadTarget(filename);
    const facts = await lstat(path).catch(() => undefined);
    if (!facts?.isFile() && !facts?.isSymbolicLink()) throw fault('image_missing', { image: filename });
    await rm(path).catch((cause: Error) => {
      throw fault('storage_failed', { reason: cause.message }, { cause });
    });
    await this.#checksums.forget(path);
    await syncFolder(dirname(path));
    await this.#removeEmptyFolders(path);
  }

  /** Removes folders that the name of an image made, when they are empty. Never rejects. */
  async #removeEmptyFolders(file: string): Promise<void> {
    const isEmpty = (folder: string) =>
      rmdir(folder).then(
        () => true,
        () => false,
      );
    for (let folder = dirname(file); isBelow(this.directory, folder) && (await isEmpty(folder)); ) folder = dirname(folder);
  }

  /** Where an upload of this name goes: always inside the folder. @throws path_forbidden */
  async uploadTarget(filename: string): Promise<string> {
    const target = normalize(join(this.directory, filename));
    const forbid = (reason: string) => fault('path_forbidden', { path: filename.replace(/\p{Cc}/gu, '?'), reason });
    if (filename.includes('\0') || isAbsolute(filename) || filename.endsWith('/') || !isBelow(this.directory, target)) {
      throw forbid('it leaves the image folder');
    }
    const reason = refuseImageName(filename);
    if (reason !== undefined) throw forbid(reason);
    const parent = dirname(target);
    if (parent !== normalize(this.directory) && !(await isReallyBelow(this.directory, parent))) {
      throw forbid('a symbolic link points outside the image folder');
    }
    return target;
  }

  /** The file of a download: plain names only. @throws path_forbidden, image_missing, image_not_allowed */
  async downloadSource(filename: string): Promise<string> {
    if (filename.startsWith('.') || /[/\\\0]/.test(filename)) {
      throw fault('path_forbidden', { path: filename, reason: 'it is not a plain file name' });
    }
    return this.resolve(filename);
  }

  /** Where images are looked for, in this order; absolute. */
  folders(projectDirectory?: string): string[] {
    const { images_path, additional_images_path } = this.#settings().Server;
    const additional = additional_images_path.split(';').filter((path) => path !== '');
    const all = [this.directory, ...additional, images_path, ...(projectDirectory === undefined ? [] : [projectDirectory])];
    return [...new Set(all)];
  }

  async #find(reference: string, projectDirectory?: string): Promise<string | undefined> {
    if (reference === '' || reference.includes('\0')) return undefined;
    if (/^[a-zA-Z]:/.test(reference)) throw fault('image_not_allowed', { image: reference });
    if (isAbsolute(reference)) {
      const path = normalize(reference);
      const lexical = this.folders(projectDirectory).some((directory) => isBelow(directory, path));
      // Whether a file outside exists is not disclosed by a server that is not local.
      if (!lexical && !this.#settings().Server.local) throw fault('image_not_allowed', { image: reference });
      return (await isFile(path)) ? path : undefined;
    }
    const wanted = normalize(reference);
    if (!isBelow('/', join('/', wanted)) || wanted.startsWith('..')) return undefined;
    for (const directory of this.folders(projectDirectory)) {
      const direct = join(directory, wanted);
      if (await isFile(direct)) return direct;
      if (wanted !== basename(wanted)) continue;
      for await (const path of files(directory, maxDepth)) if (basename(path) === wanted) return path;
    }
    return undefined;
  }

  async #allowed(path: string, projectDirectory?: string): Promise<boolean> {
    for (const directory of this.folders(projectDirectory)) if (await isReallyBelow(directory, path)) return true;
    return false;
  }

  /** The image at an absolute path; undefined when it is none. The sum of a file of at most `waitBytes` is waited for. */
  async fileAt(file: string, waitBytes?: number): Promise<ImageFile | undefined> {
    const facts = await stat(file).catch(() => undefined);
    if (facts === undefined || facts.size < minImageBytes) return undefined;
    const head = await headOf(file);
    if (head === undefined || !this.#isImage(head)) return undefined;
    const md5sum = await this.#checksums.get(file, waitBytes);
    const path = isBelow(this.directory, file) ? relative(this.directory, file) : file;
    const { size: filesize, birthtimeMs, mtimeMs: modifiedAt } = facts;
    // File systems without a time of birth have 0.
    return { filename: basename(file), file, path, md5sum, filesize, createdAt: birthtimeMs || modifiedAt, modifiedAt };
  }
}

/** Why a file did not become an image. */
function uploadFault(image: string, cause: NodeJS.ErrnoException): Fault {
  if (cause instanceof DiskImageError) return fault('image_refused', { image, reason: cause.message }, { cause });
  if (isFault(cause)) return cause;
  // The system's own words name the whole path on this host.
  const reason =
    cause.code === 'ENAMETOOLONG' ? 'it is too long' : inTheWay.has(cause.code) ? 'a folder or a file is in its place' : undefined;
  if (reason !== undefined) return fault('path_forbidden', { path: image, reason }, { cause });
  return fault('storage_failed', { reason: cause.message }, { cause });
}

const inTheWay: ReadonlySet<string | undefined> = new Set(['EISDIR', 'ENOTDIR', 'EEXIST', 'ENOTEMPTY']);

/** Mode of uploaded programs. */
const executable = 0o755;
/** Shorter files are no images (GNS3's rule). */
export const minImageBytes = 7;
/** Folders below an image folder that are looked into. */
const maxDepth = 8;
/** Folders of a project that hold no images but the nodes' own disks. */
const notImages = new Set(['project-files', 'snapshots']);

/** The end of the name of a folder in which an image is being made, which can take hours. */
export const unfinishedEnd = '.unfinished';
const holdsImages = (folder: string) => !notImages.has(folder) && !folder.endsWith(unfinishedEnd);

/** Files below a folder, in no order; folders that cannot be read are empty. */
async function* files(directory: string, depth: number): AsyncGenerator<string> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const folders: string[] = [];
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isFile() || (entry.isSymbolicLink() && (await isFile(path)))) yield path;
    else if (entry.isDirectory() && holdsImages(entry.name)) folders.push(path);
  }
  if (depth > 0) for (const folder of folders) yield* files(folder, depth - 1);
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

/** The first bytes of a file; undefined when it cannot be read. */
async function headOf(path: string): Promise<Buffer | undefined> {
  const file = await open(path, 'r').catch(() => undefined);
  try {
    return (await file?.read(Buffer.alloc(minImageBytes), 0, minImageBytes, 0))?.buffer;
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}
