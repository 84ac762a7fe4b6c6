/** Disk images made and grown at a client's request (`/qemu/img`), and the disks of a node (`resize_disk`). */

import { stat, unlink } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import { refuseImageName, wrongWithBaseName } from '../../lib/base-name.ts';
import { DiskFloor } from '../../lib/disk-floor.ts';
import { makeFolders } from '../../lib/make-folders.ts';
import { Name, oneOf, strict } from '../../schema/common.ts';
import { type Static, Type } from '../../schema/type.ts';
import type { ConfinedTools } from '../host/confined-tools.ts';
import type { Host } from '../host/host.ts';
import type { Binaries } from './binaries.ts';
import { readChain } from './image-chain.ts';
import { qemuImages } from './kind.ts';
import { QemuImg } from './qemu-img.ts';
import type { RawDisks } from './raw-disks.ts';

const onOff = () => Type.Optional(oneOf(['on', 'off']));
const subformats = [
  'dynamic',
  'fixed',
  'streamOptimized',
  'twoGbMaxExtentSparse',
  'twoGbMaxExtentFlat',
  'monolithicSparse',
  'monolithicFlat',
] as const;

/** MiB; the largest number of bytes that QEMU takes is 2^63 - 1. */
const Mebibytes = (minimum: number) => Type.Integer({ minimum, maximum: 2 ** 42 });

export const ImgCreate = Type.Object(
  {
    adapter_type: Type.Optional(oneOf(['ide', 'lsilogic', 'buslogic', 'legacyESX'])),
    cluster_size: Type.Optional(Type.Integer()),
    format: oneOf(['qcow2', 'qcow', 'vpc', 'vdi', 'vmdk', 'raw']),
    lazy_refcounts: onOff(),
    path: Name(),
    preallocation: Type.Optional(oneOf(['off', 'metadata', 'falloc', 'full'])),
    qemu_img: Name(),
    refcount_bits: Type.Optional(Type.Integer()),
    size: Mebibytes(0),
    static: onOff(),
    subformat: Type.Optional(oneOf(subformats)),
    zeroed_grain: onOff(),
  },
  strict,
);
export const ImgUpdate = Type.Object({ extend: Type.Optional(Mebibytes(1)), path: Name(), qemu_img: Name() }, strict);
const { path: _path, qemu_img: _program, ...diskOptions } = ImgCreate.properties;
export const NodeDiskCreate = Type.Object(diskOptions, strict);
export const NodeDiskUpdate = Type.Object({ extend: Type.Optional(Mebibytes(1)) }, strict);
export const ResizeDisk = Type.Object({ drive_name: oneOf(['hda', 'hdb', 'hdc', 'hdd']), extend: Mebibytes(1) }, strict);

/** Entries of the tables of a qcow2 for one cluster: its place and its count; and the cluster's usual size. */
const tableBytes = 16;
const usualCluster = 65_536;

const notOptions = new Set(['format', 'path', 'qemu_img', 'size']);
/** Names of disks in the folder of a node: its other files are no client's to make or delete. */
const diskName = /\.(?:qcow2?|vpc|vhd|vdi|vmdk|img|raw)$/i;

export class ImageMaker {
  readonly #host: Host;
  readonly #binaries: Binaries;
  readonly #rawDisks: RawDisks;
  readonly #tools: ConfinedTools;

  constructor(host: Host, binaries: Binaries, rawDisks: RawDisks, tools: ConfinedTools) {
    this.#host = host;
    this.#binaries = binaries;
    this.#rawDisks = rawDisks;
    this.#tools = tools;
  }

  /** @throws qemu_failed, qemu_binary_missing, path_forbidden, disk_floor */
  async create(input: Static<typeof ImgCreate>): Promise<void> {
    const program = await this.#program(input.qemu_img);
    const path = this.#path(input.path);
    const reason = refuseImageName(basename(path));
    if (reason !== undefined) throw fault('path_forbidden', { path: input.path.replace(/\p{Cc}/gu, '?'), reason });
    await this.#create(program, path, input);
  }

  /** Makes a disk in the folder of a node. @throws qemu_failed, qemu_binary_missing, path_forbidden, disk_floor */
  async createDisk(folder: string, name: string, input: Static<typeof NodeDiskCreate>): Promise<void> {
    const path = diskPath(folder, name);
    await this.#create(await this.#program('qemu-img'), path, { ...input, path: name, qemu_img: 'qemu-img' });
  }

  /** Makes a disk in the folder of a node larger. @throws qemu_failed, qemu_binary_missing, path_forbidden, image_refused */
  async growDisk(folder: string, name: string, extend: number | undefined): Promise<void> {
    const path = diskPath(folder, name);
    await this.#grow(await this.#program('qemu-img'), path, { path: name, qemu_img: 'qemu-img', ...(extend && { extend }) });
  }

  /** Deletes a disk in the folder of a node. @throws qemu_failed, path_forbidden */
  async deleteDisk(folder: string, name: string): Promise<void> {
    const path = diskPath(folder, name);
    if (!(await isThere(path))) throw fault('qemu_failed', { reason: `There is no disk "${name}"` });
    await unlink(path);
  }

  async #create(program: string, path: string, input: Static<typeof ImgCreate>): Promise<void> {
    if (await isThere(path))
      throw fault('qemu_failed', { reason: `The image "${input.path}" exists already: choose another name` });
    const options = Object.entries(input)
      .filter(([key]) => !notOptions.has(key))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([key, value]) => ['-o', `${key}=${value}`]);
    try {
      await makeFolders(dirname(path));
      await this.#checkSpace(dirname(path), bytesAtOnce(input));
      await new QemuImg(program, this.#tools).create(path, input.format, options, `${input.size}M`);
    } catch (cause) {
      if (isFault(cause)) throw cause;
      // A place where no file can be: a folder, a name that is too long, no rights.
      throw fault('path_forbidden', { path: input.path, reason: (cause as Error).message }, { cause });
    }
  }

  /** @throws qemu_failed, qemu_binary_missing, path_forbidden, image_refused */
  async update(input: Static<typeof ImgUpdate>): Promise<void> {
    const program = await this.#program(input.qemu_img);
    await this.#grow(program, this.#path(input.path), input);
  }

  async #grow(program: string, path: string, input: Static<typeof ImgUpdate>): Promise<void> {
    if (!(await isThere(path))) throw fault('qemu_failed', { reason: `There is no image "${input.path}"` });
    if (input.extend === undefined) return;
    const folders = [...this.#host.images.of(qemuImages).folders(), dirname(path)];
    const { image, backing } = await readChain(path, { folders, rawDisks: this.#rawDisks });
    await new QemuImg(program, this.#tools).grow({ file: path, backing }, input.extend, image.format);
  }

  async #checkSpace(folder: string, bytes: number): Promise<void> {
    const floor = new DiskFloor([folder], this.#host.settings.Server.min_free_bytes);
    await floor.check(bytes).catch((cause: Error) => {
      throw fault('disk_floor', { reason: cause.message }, { cause });
    });
  }

  /** A relative path means a name in the image folder; only a local server's clients choose another place. */
  #path(given: string): string {
    if (given.includes('\0')) throw fault('path_forbidden', { path: given, reason: 'it holds a NUL character' });
    if (!isAbsolute(given)) {
      const name = basename(normalize(given));
      if (name === '.' || name === '..' || name === '')
        throw fault('path_forbidden', { path: given, reason: 'it is not a file name' });
      return join(this.#host.images.of(qemuImages).directory, name);
    }
    if (this.#host.settings.Server.local) return normalize(given);
    throw fault('path_forbidden', {
      path: given,
      reason: 'on a server that is not local, images are made in the image folder only',
    });
  }

  /** Clients name the program by its path here; whatever the path, only the `qemu-img` of PATH is run. */
  async #program(given: string): Promise<string> {
    const isThat = basename(given) === 'qemu-img' && (!given.includes('/') || (await isThere(given)));
    const program = isThat ? await this.#binaries.inPath('qemu-img') : undefined;
    if (program !== undefined) return program;
    const known = (await this.#binaries.listImg()).map(({ path }) => path).join(', ');
    throw fault('qemu_binary_missing', { path: given, package: 'qemu-utils', known: known || 'none' });
  }
}

/** Bytes that a new image takes on the disk: all of it, or its tables; others grow as guests write. */
function bytesAtOnce({ size, preallocation, cluster_size, ...options }: Static<typeof ImgCreate>): number {
  const bytes = size * 2 ** 20;
  const isWhole = options.static === 'on' || /fixed|flat/i.test(options.subformat ?? '');
  if (isWhole || preallocation === 'full' || preallocation === 'falloc') return bytes;
  return preallocation === 'metadata' ? bytes * (tableBytes / Math.max(cluster_size ?? usualCluster, tableBytes)) : 0;
}

/** @throws path_forbidden */
function diskPath(folder: string, name: string): string {
  const wrong = wrongWithBaseName(name) ?? refuseImageName(name);
  const reason =
    wrong ??
    (name.startsWith('.') || !diskName.test(name) ? 'a disk ends in .qcow2, .vmdk, .vdi, .vpc, .vhd, .img or .raw' : undefined);
  if (reason !== undefined) throw fault('path_forbidden', { path: name.replace(/\p{Cc}/gu, '?'), reason });
  return join(folder, name);
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}
