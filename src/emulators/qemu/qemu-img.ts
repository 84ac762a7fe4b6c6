/** Runs `qemu-img`. Every failure contains the program's own error text. */
import { type FileHandle, lstat, mkdir, readdir, realpath, rename, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fault } from '../../api/faults.ts';
import type { ImageFormat } from '../../lib/disk-image/image.ts';
import { openedPath, openFolder } from '../../lib/open-folder.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import type { ConfinedTools } from '../host/confined-tools.ts';
import { unfinishedEnd } from '../host/images.ts';
import { escapeCommas } from './options.ts';

/** Facts about an image file that Patchbay uses. */
interface ImageInfo {
  readonly format: string;
  /** Bytes that a guest sees. */
  readonly virtualSize: number;
  readonly encrypted: boolean;
  /** Names of the states saved inside. */
  readonly snapshots: readonly string[];
}

/** An image and what it is the difference to, which qemu-img opens, too. */
interface DiskFiles {
  readonly file: string;
  readonly backing: readonly { readonly file: string }[];
}

/** Making an image with full preallocation on a slow disk is the slowest thing asked. */
const limitMs = 120_000;
/** A terabyte on a slow disk. */
const convertLimitMs = 6 * 3600_000;

export class QemuImg {
  readonly #program: string;
  readonly #tools: ConfinedTools;

  constructor(program: string, tools: ConfinedTools) {
    this.#program = program;
    this.#tools = tools;
  }

  /** Works on images that a running machine has locked, too; opens no backing file. @throws qemu_failed */
  async info(path: string, format: ImageFormat): Promise<ImageInfo> {
    const real = await realPath(path);
    const args = ['info', '--output=json', '-U', '-f', format, real];
    const output = await this.#run(args, { reads: [real] }, `The image "${path}" cannot be read`);
    const facts = JSON.parse(output) as Record<string, unknown>;
    const text = (key: string) => (typeof facts[key] === 'string' ? facts[key] : undefined);
    return {
      format: text('format') ?? 'raw',
      virtualSize: Number(facts['virtual-size'] ?? 0),
      encrypted: facts.encrypted === true,
      snapshots: ((facts.snapshots ?? []) as { name?: string }[]).map(({ name }) => name ?? ''),
    };
  }

  /** Makes an image, whole or not at all. @throws qemu_failed */
  create(path: string, format: string, options: readonly string[], size?: string): Promise<void> {
    const args = (made: string) => ['create', '-q', '-f', format, ...options, made, ...(size === undefined ? [] : [size])];
    return this.#make(path, args, []);
  }

  /** Makes a qcow2 of an image that refers to no other. Takes as long as the disk needs. @throws qemu_failed */
  async convert(source: string, format: ImageFormat, path: string): Promise<void> {
    const real = await realPath(source);
    await this.#make(path, (made) => ['convert', '-q', '-f', format, '-O', 'qcow2', real, made], [real], convertLimitMs);
  }

  async #make(path: string, argsFor: (made: string) => string[], reads: readonly string[], timeoutMs = limitMs): Promise<void> {
    const unfinished = `${path}${unfinishedEnd}`;
    const remove = () => removeTree(unfinished);
    let folder: FileHandle | undefined;
    try {
      await remove();
      await mkdir(unfinished, { mode: 0o700 });
      folder = await openFolder(unfinished);
      await this.#tools.give(openedPath(folder));
      const made = join(await realPath(unfinished), basename(path));
      await this.#run(argsFor(made), { reads, writes: [dirname(made)], timeoutMs }, `The image "${path}" cannot be made`);
      await this.#tools.reclaim(openedPath(folder));
      await takeOut(openedPath(folder), path);
    } finally {
      await folder?.close();
      await remove();
    }
  }

  /** An image that holds only what differs from `base`, which is not opened. @throws qemu_failed */
  async createOverlay(path: string, base: string, info: ImageInfo): Promise<void> {
    const size = String(info.virtualSize);
    if (!info.encrypted) return this.create(path, 'qcow2', ['-F', info.format, '-u', '-b', base], size);
    // The secret is given to the machine by its options (-object secret,id=<base name>…), so the base cannot be opened here.
    const key = base.slice(base.lastIndexOf('/') + 1);
    const source = { driver: info.format, file: { driver: 'file', filename: base }, encrypt: { 'key-secret': key } };
    await this.create(path, 'qcow2', ['-F', info.format, '-u', '-b', `json:${JSON.stringify(source)}`], size);
  }

  /** Says only where the base is now; the caller knows that it is the same. @throws qemu_failed */
  async moveBase(path: string, base: string, format: string): Promise<void> {
    const real = await realPath(path);
    const args = ['rebase', '-q', '-u', '-f', 'qcow2', '-F', format, '-b', base, real];
    await this.#run(args, { writes: [real] }, `The disk "${path}" cannot be joined to its image again`);
  }

  /** @throws qemu_failed */
  async grow(disk: DiskFiles, mebibytes: number, format: string): Promise<void> {
    const real = await realPath(disk.file);
    const args = ['resize', '-q', '-f', format, real, `+${mebibytes}M`];
    await this.#run(args, { writes: [real], reads: below(disk) }, `The disk "${disk.file}" cannot be resized`);
  }

  /** @throws qemu_failed */
  async deleteSnapshot(disk: DiskFiles, name: string): Promise<void> {
    const real = await realPath(disk.file);
    // This command takes no -f; the format is one of the options of the image.
    const source = `driver=qcow2,file.driver=file,file.filename=${escapeCommas(real)}`;
    const args = ['snapshot', '-q', '--image-opts', '-d', name, source];
    await this.#run(args, { writes: [real], reads: below(disk) }, `The saved state in "${disk.file}" cannot be deleted`);
  }

  async #run(
    args: readonly string[],
    {
      timeoutMs = limitMs,
      ...files
    }: { readonly reads?: readonly string[]; readonly writes?: readonly string[]; readonly timeoutMs?: number },
    whatFailed: string,
  ): Promise<string> {
    const isLong = timeoutMs > limitMs;
    const { code, stdout, reason } = await this.#tools.run(this.#program, args, { ...files, timeoutMs, isLong });
    if (code !== 0) throw fault('qemu_failed', { reason: `${whatFailed}: ${reason}` });
    return stdout;
  }
}

const below = ({ backing }: DiskFiles) => backing.map(({ file }) => file);

/** Links are followed here, as only what they lead to can be opened to another user. */
function realPath(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** Files of a new image, the one with its name last. `folder` is the server's by now, wherever its name leads. */
async function takeOut(folder: string, path: string): Promise<void> {
  const failed = (reason: string) => fault('qemu_failed', { reason: `The image "${path}" cannot be made: ${reason}` });
  const names = (await readdir(folder)).filter((name) => name !== basename(path));
  for (const name of [...names, basename(path)]) {
    const made = join(folder, name);
    const place = join(dirname(path), name);
    if (!(await lstat(made)).isFile()) throw failed(`${name} is no file`);
    // A conversion takes hours: an image of this name may have been uploaded.
    if (await stat(place).catch(() => undefined)) throw failed('it exists by now');
    await rename(made, place);
  }
}
