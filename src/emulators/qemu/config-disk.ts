/**
 * The small disk that carries start-up configurations into a machine and out again: FAT in the first partition, or on the whole disk.
 * Beside it in the node's folder stands `config.zip`, the same files for people and other programs: what is newer of the two counts at
 * a start, and after each run the zip is made anew. Files of the folder `config` count like the zip, and the newer of two with one name is
 * taken; `config.names` lists those on the disk, so that one that was deleted from the folder goes from disk and zip as well. The tools
 * are those of the package mtools; without them the disk is attached as it is.
 */
import { constants, createWriteStream } from 'node:fs';
import { copyFile, type FileHandle, mkdir, mkdtemp, open, readdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isReallyBelow } from '../../lib/inside.ts';
import { openedPath, openFolder } from '../../lib/open-folder.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { savedMemoryName } from '../../schema/folders.ts';
import type { NodeView } from '../driver.ts';
import type { ConfinedTools } from '../host/confined-tools.ts';
import type { Binaries } from './binaries.ts';
import { type ConfigFile, readConfigFiles, readConfigNames } from './config-files.ts';
import { memoryFiles } from './memory/manifest.ts';

const diskName = 'config.img';
const zipName = 'config.zip';
const namesName = 'config.names';
/** Size of the disk that is made where the image folder has none. Its partition begins at 1 MiB, as is usual. */
const diskBytes = 16 * 2 ** 20;
const sectorBytes = 512;
const firstSector = 2048;
/** Size limit of a configuration; larger content is not a configuration. */
const largestContentBytes = 64 * 2 ** 20;
const mostFiles = 1000;
const toolLimitMs = 20_000;
/** cloud-init finds its data by this label (data source NoCloud). */
const seedLabel = 'CIDATA';
/** Types of partitions with FAT. */
const fatTypes = new Set([0x01, 0x04, 0x06, 0x0b, 0x0c, 0x0e]);

interface WantedFiles {
  /** Files that are added to those of the zip, or replace them. */
  readonly given: readonly ConfigFile[];
  /** Names of files of the zip that are left out. */
  readonly removed: readonly string[];
  /** Names of the files in the folder `config`; undefined: as before. */
  readonly names: readonly string[] | undefined;
}

type ConfigNode = Pick<NodeView, 'directory' | 'name' | 'warn'>;

export class ConfigDisk {
  readonly #node: ConfigNode;
  readonly #binaries: Pick<Binaries, 'inPath'>;
  readonly #tools: ConfinedTools;

  constructor(node: ConfigNode, binaries: Pick<Binaries, 'inPath'>, tools: ConfinedTools) {
    this.#node = node;
    this.#binaries = binaries;
    this.#tools = tools;
  }

  get file(): string {
    return join(this.#node.directory, diskName);
  }

  /**
   * Makes the disk ready. `template`: an empty disk of the image folder; `zip`: files for a disk that is new. The disk of a machine that
   * continues from memory stays as its guest knows it. False, with a warning, when there can be none.
   */
  async prepare(template: string | undefined, zip?: string): Promise<boolean> {
    if (await this.#leadsAway()) {
      this.#warn(`it starts without its config disk, as ${diskName} is a symbolic link to a file outside of its folder: delete it`);
      return false;
    }
    const hasTools = await this.#hasTools();
    const disk = await changedAt(this.file);
    const { manifest } = memoryFiles(join(this.#node.directory, savedMemoryName));
    if (disk !== undefined && (await changedAt(manifest)) !== undefined) return true;
    if (zip !== undefined && disk === undefined) await copyFile(zip, this.#zip, constants.COPYFILE_EXCL).catch(() => undefined);
    const given = await this.#given();
    const names = given?.map(({ name }) => name);
    const placed = await readConfigNames(join(this.#node.directory, namesName));
    const removed = names && hasTools ? placed.filter((name) => !names.includes(name)) : [];
    // A machine may have ended while no server ran: what it wrote stays.
    if (removed.length > 0 && (disk ?? 0) > ((await changedAt(this.#zip)) ?? 0)) await this.export();
    const zipped = (await changedAt(this.#zip)) ?? 0;
    const isNewer = Math.max(zipped, ...(given ?? []).map(({ changedMs }) => changedMs)) > (disk ?? 0);
    const isWanted = isNewer || removed.length > 0;
    if (disk === undefined && template === undefined && !hasTools) {
      this.#warn('it starts without a config disk: install mtools, or put a config.img into the image folder');
      return false;
    }
    if (isWanted && !hasTools) this.#warn('its configuration is not on its config disk: install mtools');
    if (disk !== undefined && !(isWanted && hasTools)) return true;
    try {
      const files = { given: (given ?? []).filter(({ changedMs }) => changedMs > zipped), removed, names };
      await this.#makeAnew(template, isWanted && hasTools ? files : undefined);
    } catch (error) {
      this.#warn(`its config disk was not made: ${(error as Error).message}`);
      return disk !== undefined;
    }
    return true;
  }

  /** Writes the content of the disk into the zip after a run. Never rejects. */
  async export(): Promise<void> {
    if ((await changedAt(this.file)) === undefined || (await this.#leadsAway()) || !(await this.#hasTools())) return;
    await this.#inScratch(async (folder, opened) => {
      const files = join(folder, 'files');
      await mkdir(files);
      const copied = await this.#tool('mcopy', folder, ['-s', '-n', '-Q', '-i', await onPartition(this.file), '::*', files]);
      await this.#tools.reclaim(opened);
      const isSome = await this.#pack(opened);
      if (isSome && copied !== '') this.#warn(`not all of its config disk could be read: ${copied}`);
    }).catch((error: Error) => this.#warn(`its config disk was not written to ${zipName}: ${error.message}`));
  }

  /** Makes the zip anew of `files` in the scratch folder; false: there are none, and no zip. */
  async #pack(opened: string): Promise<boolean> {
    const names = await filesBelow(join(opened, 'files'));
    if (names.length === 0) {
      await rm(this.#zip, { force: true });
      return false;
    }
    await pack(join(opened, 'files'), names, join(opened, zipName));
    await rename(join(opened, zipName), this.#zip);
    return true;
  }

  /** An escaped machine can have put a link in the disk's place, to a file that its next run would read and write. */
  async #leadsAway(): Promise<boolean> {
    return !(await isReallyBelow(this.#node.directory, this.file));
  }

  get #zip(): string {
    return join(this.#node.directory, zipName);
  }

  /** Undefined, with a warning, where they cannot be used. */
  async #given(): Promise<ConfigFile[] | undefined> {
    try {
      return await readConfigFiles(this.#node.directory);
    } catch (error) {
      this.#warn(`${(error as Error).message}: they are not on its config disk`);
      return undefined;
    }
  }

  /** Makes the disk anew from the template, or empty; without `files` nothing is added to it. */
  async #makeAnew(template: string | undefined, files: WantedFiles | undefined): Promise<void> {
    await this.#inScratch(async (folder, opened) => {
      const disk = join(folder, diskName);
      if (template === undefined) await this.#format(disk, files?.given.some(({ name }) => name === 'meta-data') ?? false);
      else await copyFile(template, disk);
      if (files) await this.#fill(disk, opened, files);
      await rename(disk, this.file);
      const hasNames = (await changedAt(join(opened, namesName))) !== undefined;
      if (hasNames) await rename(join(opened, namesName), join(this.#node.directory, namesName));
    });
  }

  async #format(disk: string, isSeed: boolean): Promise<void> {
    await writeFile(disk, partitionTable());
    await truncate(disk, diskBytes);
    const sectors = diskBytes / sectorBytes - firstSector;
    const shape = ['-T', String(sectors), '-h', '16', '-s', '63', '-H', String(firstSector)];
    const failed = await this.#tool('mformat', dirname(disk), [
      '-i',
      await onPartition(disk),
      '-v',
      isSeed ? seedLabel : 'CONFIG',
      ...shape,
      '::',
    ]);
    if (failed !== '') throw new Error(failed);
  }

  async #fill(disk: string, opened: string, { given, removed, names: placed = [] }: WantedFiles): Promise<void> {
    await this.#tools.reclaim(opened);
    const files = join(opened, 'files');
    await mkdir(files);
    if ((await changedAt(this.#zip)) !== undefined) await unpack(this.#zip, files);
    for (const name of removed) await removeTree(join(files, name));
    for (const { name, content } of given) await writeFile(join(files, name), content);
    if (removed.length > 0) await this.#pack(opened);
    if (removed.length + placed.length > 0) await writeFile(join(opened, namesName), JSON.stringify(placed));
    const names = (await readdir(files)).map((name) => join(dirname(disk), 'files', name));
    if (names.length === 0) return;
    const failed = await this.#tool('mcopy', dirname(disk), ['-s', '-o', '-Q', '-i', await onPartition(disk), ...names, '::/']);
    if (failed !== '') throw new Error(failed);
  }

  /** Reads the disk and works in `scratch`. Empty when it went well, else why not. */
  async #tool(name: string, scratch: string, args: readonly string[]): Promise<string> {
    const program = (await this.#binaries.inPath(name)) ?? name;
    // Disks that others made need not have the number of sectors that mtools expects.
    const env = { MTOOLS_SKIP_CHECK: '1' };
    await this.#tools.give(scratch);
    const files = { reads: [this.file], writes: [scratch] };
    return (await this.#tools.run(program, args, { ...files, timeoutMs: toolLimitMs, env })).reason;
  }

  async #hasTools(): Promise<boolean> {
    return (await this.#binaries.inPath('mcopy')) !== undefined;
  }

  #warn(what: string): void {
    this.#node.warn(`${this.#node.name}: ${what}`);
  }

  /** `opened`: the same folder for the server, which must not follow a link that an emulator puts in its place. */
  async #inScratch<T>(work: (folder: string, opened: string) => Promise<T>): Promise<T> {
    const folder = await mkdtemp(join(this.#node.directory, '.config-'));
    let handle: FileHandle | undefined;
    try {
      handle = await openFolder(folder);
      return await work(folder, openedPath(handle));
    } finally {
      await handle?.close();
      await removeTree(folder);
    }
  }
}

/** The first sector of a disk with one partition of FAT16. */
function partitionTable(): Buffer {
  const disk = Buffer.alloc(sectorBytes);
  disk.writeUInt8(0x06, 446 + 4);
  disk.writeUInt32LE(firstSector, 446 + 8);
  disk.writeUInt32LE(diskBytes / sectorBytes - firstSector, 446 + 12);
  disk.writeUInt16BE(0x55aa, 510);
  return disk;
}

/** The file as mtools names it: with the place of its first partition, if it has one with FAT. */
async function onPartition(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(sectorBytes), 0, sectorBytes, 0);
    const isTable = bytesRead === sectorBytes && buffer.readUInt16BE(510) === 0x55aa && [0, 0x80].includes(buffer[446] ?? 1);
    const place = buffer.readUInt32LE(446 + 8) * sectorBytes;
    const hasPartition = isTable && fatTypes.has(buffer[446 + 4] ?? 0) && place > 0 && place < (await file.stat()).size;
    return hasPartition ? `${path}@@${place}` : path;
  } finally {
    await file.close();
  }
}

async function unpack(archive: string, into: string): Promise<void> {
  // The library refuses names that point outside the folder.
  const { openPromise } = await import('yauzl');
  const zip = await openPromise(archive, { lazyEntries: true, autoClose: false });
  try {
    let bytes = 0;
    let count = 0;
    for await (const entry of zip.eachEntry()) {
      bytes += entry.uncompressedSize;
      count += 1;
      if (bytes > largestContentBytes || count > mostFiles) throw new Error(`${zipName} holds too much for a config disk`);
      const path = join(into, entry.fileName);
      await mkdir(entry.fileName.endsWith('/') ? path : dirname(path), { recursive: true });
      if (!entry.fileName.endsWith('/')) await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(path));
    }
  } finally {
    zip.close();
  }
}

async function pack(folder: string, names: readonly string[], archive: string): Promise<void> {
  const { ZipFile } = await import('yazl');
  const zip = new ZipFile();
  for (const name of names) zip.addFile(join(folder, name), name);
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(archive));
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/** Milliseconds; undefined when it is not there. */
async function changedAt(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.mtimeMs;
}
