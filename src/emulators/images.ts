/**
 * Where disk images and other files of emulators are, and what they are called. Clients name an image by a relative name, which
 * is looked for in the image folders, or by a path. A server that is not local gives out nothing that lies outside its folders:
 * folders are compared by their components, after symbolic links were followed.
 * @see the established rules of the v2 compute API: `images_path`, `additional_images_path`, then the project's own folder.
 */
import { lstat, open, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize, relative, sep } from 'node:path';
import { fault } from '../api/faults.ts';
import type { Settings } from '../schema/settings.ts';
import { Checksums } from './checksums.ts';

export interface ImageEntry {
  filename: string;
  path: string;
  md5sum: string | null;
  filesize: number;
}

/** Sums of files up to this size are waited for; larger ones are summed in the background (64 MiB take about 0.1 s). */
export const quickSumBytes = 64 * 1024 * 1024;

export class ImageStore {
  readonly checksums = new Checksums();
  readonly #settings: () => Settings;
  readonly #folders = new Map<string, ImageFolder>();

  constructor(settings: () => Settings) {
    this.#settings = settings;
  }

  /** Images of one kind, in the folder of this name below `images_path`. */
  folder(name: string): ImageFolder {
    let folder = this.#folders.get(name);
    if (folder === undefined) {
      folder = new ImageFolder(name, this.#settings, this.checksums);
      this.#folders.set(name, folder);
    }
    return folder;
  }

  close(): Promise<void> {
    return this.checksums.close();
  }
}

export class ImageFolder {
  readonly #name: string;
  readonly #settings: () => Settings;
  readonly #checksums: Checksums;
  /** Reference to the path it was last resolved to, for `md5`. */
  readonly #resolved = new Map<string, string>();
  readonly #looking = new Set<string>();

  constructor(name: string, settings: () => Settings, checksums: Checksums) {
    this.#name = name;
    this.#settings = settings;
    this.#checksums = checksums;
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

  /** How a resolved path is shown to clients: relative below this folder or directly in another image folder, else absolute. */
  display(path: string, projectDirectory?: string): string {
    const inside = relative(this.directory, path);
    if (isInside(inside)) return inside;
    const flat = this.#searched(projectDirectory).some((directory) => dirname(path) === directory);
    return flat ? basename(path) : path;
  }

  /** Resolves, remembers for `md5`, and gives the form that is kept in a node's properties; sums small files at once. */
  async accept(reference: string, projectDirectory?: string): Promise<string> {
    const path = await this.resolve(reference, projectDirectory);
    await this.#checksums.get(path, quickSumBytes);
    const shown = this.display(path, projectDirectory);
    const own = projectDirectory !== undefined && isInside(relative(projectDirectory, path));
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

  /** Every image there is, each name once; folders in the order in which names are looked for. */
  async list(): Promise<ImageEntry[]> {
    const seen = new Set<string>();
    const entries: ImageEntry[] = [];
    for (const directory of this.#searched()) {
      const flat = directory === this.#settings().Server.images_path;
      for await (const path of files(directory, flat ? 0 : maxDepth)) {
        const filename = basename(path);
        if (seen.has(filename) || filename.startsWith('.') || /\.(md5sum|tmp)$/.test(filename)) continue;
        const entry = await this.#entry(path, filename);
        if (entry === undefined) continue;
        seen.add(filename);
        entries.push(entry);
      }
    }
    return entries;
  }

  /** Where an upload of this name goes: always inside the folder. @throws path_forbidden */
  async uploadTarget(filename: string): Promise<string> {
    const target = normalize(join(this.directory, filename));
    const bad =
      filename.includes('\0') || isAbsolute(filename) || !isInside(relative(this.directory, target)) || filename.endsWith('/');
    if (bad) throw fault('path_forbidden', { path: filename, reason: 'it leaves the image folder' });
    const [parent, root] = await Promise.all([realExisting(dirname(target)), realExisting(this.directory)]);
    if (parent !== root && !isInside(relative(root, parent))) {
      throw fault('path_forbidden', { path: filename, reason: 'a symbolic link leads out of the image folder' });
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

  #searched(projectDirectory?: string): string[] {
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
      const lexical = this.#searched(projectDirectory).some((directory) => isInside(relative(directory, path)));
      // Whether a file outside exists is nobody's business on a server that is not local.
      if (!lexical && !this.#settings().Server.local) throw fault('image_not_allowed', { image: reference });
      return (await isFile(path)) ? path : undefined;
    }
    const wanted = normalize(reference);
    if (!isInside(wanted)) return undefined;
    for (const directory of this.#searched(projectDirectory)) {
      const direct = join(directory, wanted);
      if (await isFile(direct)) return direct;
      if (wanted !== basename(wanted)) continue;
      for await (const path of files(directory, maxDepth)) if (basename(path) === wanted) return path;
    }
    return undefined;
  }

  async #allowed(path: string, projectDirectory?: string): Promise<boolean> {
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) return false;
    for (const directory of this.#searched(projectDirectory)) {
      if (isInside(relative(await realExisting(directory), real))) return true;
    }
    return false;
  }

  async #entry(path: string, filename: string): Promise<ImageEntry | undefined> {
    const facts = await stat(path).catch(() => undefined);
    if (facts === undefined || facts.size < minImageBytes || (await isElf(path))) return undefined;
    const inside = relative(this.directory, path);
    const md5sum = await this.#checksums.get(path, quickSumBytes);
    return { filename, path: isInside(inside) ? inside : path, md5sum, filesize: facts.size };
  }
}

/** Shorter files are no images (established rule). */
const minImageBytes = 7;
/** Folders below an image folder that are looked into. */
const maxDepth = 8;
/** Folders of a project that hold no images but the nodes' own disks. */
const notImages = new Set(['project-files', 'snapshots']);

/** Files below a folder, in no order; folders that cannot be read are empty. */
async function* files(directory: string, depth: number): AsyncGenerator<string> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const folders: string[] = [];
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isFile() || (entry.isSymbolicLink() && (await isFile(path)))) yield path;
    else if (entry.isDirectory() && !notImages.has(entry.name)) folders.push(path);
  }
  if (depth > 0) for (const folder of folders) yield* files(folder, depth - 1);
}

/** Whether a relative path stays below where it starts. */
function isInside(path: string): boolean {
  return path !== '' && path !== '.' && path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

async function isElf(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return true;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return bytesRead === 4 && buffer.readUInt32BE() === 0x7f454c46;
  } finally {
    await file.close();
  }
}

/** The real path of the part of a path that exists, with the rest as given. A dangling link leads nowhere: the root folder. */
async function realExisting(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined) return real;
  const isDangling = (await lstat(path).catch(() => undefined)) !== undefined;
  const parent = dirname(path);
  if (parent === path || isDangling) return sep;
  return join(await realExisting(parent), basename(path));
}
