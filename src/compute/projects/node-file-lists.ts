/**
 * Lists the node files that the controller copies, so that the node can start elsewhere when this host is lost. Logs and memory are not
 * copied. Closed projects, of which only the folder is left, are listed too. A machine keeps running meanwhile: its disks are listed as
 * they were at one instant, from copies beside them.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fault, isFault } from '../../api/faults.ts';
import { removeDiskCopies } from '../../emulators/host/disk-copies.ts';
import { kindFolders } from '../../emulators/kinds.ts';
import { DiskFloor } from '../../lib/disk-floor.ts';
import { sizeOnDisk } from '../../lib/folder-size.ts';
import { KeyedMutex } from '../../lib/mutex.ts';
import { isUuid } from '../../schema/common.ts';
import { diskCopyPrefix, isOwnInNode } from '../../schema/folders.ts';
import type { NodeType } from '../../schema/node.ts';
import { mostCopiedFiles, mostCopyBlocks, type NodeFiles } from '../../schema/node-copy.ts';
import type { Context } from '../context.ts';
import { differences, filesBelow, type HashedFile, hashFile, isGone, isUnchanged, readBlocks } from '../host/copied-files.ts';
import { placeFor } from './project-folder.ts';
import type { ComputeProjects } from './projects.ts';

interface CopiedNode {
  readonly project_id: string;
  readonly node_type: string;
  readonly node_id: string;
}

interface Listed {
  readonly folder: string;
  readonly files: ReadonlyMap<string, HashedFile>;
}

/** Most nodes whose lists are kept: 32 bytes for each block of a file. A list that was forgotten is read again. */
const mostListed = 100;
/** Most readings of a folder while files are removed from it. */
const mostAttempts = 3;
const changing = 'its files change while they are read';

export class NodeFileLists {
  readonly #context: Context;
  readonly #projects: ComputeProjects;
  readonly #locks = new KeyedMutex();
  readonly #listed = new Map<string, Listed>();

  constructor(context: Context, projects: ComputeProjects) {
    this.#context = context;
    this.#projects = projects;
  }

  /** Does not wait for the node's verbs, nor they for it. @throws invalid_request, disk_floor, node_failed, qemu_failed: ask again later */
  list(node: CopiedNode): Promise<NodeFiles> {
    return this.#locks.run(node.node_id.toLowerCase(), async () => {
      const { folder, files } = await this.#list(node);
      const key = node.node_id.toLowerCase();
      this.#listed.delete(key);
      this.#listed.set(key, { folder, files });
      const [oldest] = this.#listed.keys();
      if (this.#listed.size > mostListed && oldest !== undefined) this.#listed.delete(oldest);
      return { files: Array.from(files.values(), ({ path, size, sum }) => ({ path, size, sum })) };
    });
  }

  /** `known`: the sum of what the controller has. @throws file_not_found */
  hashes(node: CopiedNode, path: string, known: string): Readable {
    return Readable.from(differences(this.#file(node, path).file, known), { objectMode: false });
  }

  /** `ranges`: first and count, as `0-16,40-1`. @throws file_not_found, invalid_request */
  blocks(node: CopiedNode, path: string, ranges: string): Readable {
    const { folder, file } = this.#file(node, path);
    if (!/^\d{1,9}-\d{1,9}(?:,\d{1,9}-\d{1,9})*$/.test(ranges))
      throw fault('invalid_request', { reason: 'these are no ranges of blocks' });
    const wanted = ranges.split(',').map((range) => range.split('-').map(Number) as [number, number]);
    const count = wanted.reduce((sum, [, blocks]) => sum + blocks, 0);
    if (count > mostCopyBlocks) throw fault('invalid_request', { reason: `more than ${mostCopyBlocks} blocks` });
    return Readable.from(readBlocks(folder, file, wanted), { objectMode: false });
  }

  #file({ node_id }: CopiedNode, path: string): { folder: string; file: HashedFile } {
    const listed = this.#listed.get(node_id.toLowerCase());
    const file = listed?.files.get(path);
    if (!listed || !file) throw fault('file_not_found', { path });
    return { folder: listed.folder, file };
  }

  async #list({ project_id, node_type, node_id }: CopiedNode): Promise<Listed> {
    const kind = this.#context.drivers.get(node_type as NodeType)?.kind;
    if (!isUuid(project_id) || !isUuid(node_id)) throw fault('invalid_request', { reason: 'an id is no UUID' });
    if (!kind || !kindFolders.has(kind.folder)) throw fault('invalid_request', { reason: `there is no kind ${node_type}` });
    const node = this.#projects.findNode(node_id);
    const place = async () => join(await placeFor(this.#context.settings, project_id), 'project-files', kind.folder, node_id);
    const folder = node?.directory ?? (await place());
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt === mostAttempts;
      const files = await this.#read(node_id, folder).catch((error: Error) => {
        if (isFault(error)) throw error;
        const reason = isGone(error) ? changing : error.message;
        if (isLast || !isGone(error)) throw fault('node_failed', { name: node?.name ?? node_id, reason }, { cause: error });
      });
      if (files) return { folder, files };
    }
  }

  /** @throws errors of the system: with ENOENT, a file was removed while they were read, as those are that a machine needs to save its memory */
  async #read(node_id: string, folder: string): Promise<Map<string, HashedFile>> {
    const node = this.#projects.findNode(node_id);
    const before = node?.emulator;
    const disks = (await this.#copyDisks(folder, before)) ?? new Map<string, string>();
    const known = this.#listed.get(node_id.toLowerCase())?.files;
    const files = new Map<string, HashedFile>();
    const paths = await filesBelow(folder, isCopied);
    if (paths.length > mostCopiedFiles)
      throw fault('node_failed', { name: node_id, reason: `it has more than ${mostCopiedFiles} files` });
    for (const path of paths) files.set(path, await hashFile({ folder, path, name: disks.get(path) ?? path }, known?.get(path)));
    // Read one after the other, they are those of one instant if none has changed since.
    const isSame = (await Promise.all(Array.from(files.values(), isUnchanged))).every(Boolean);
    if (!isSame || this.#projects.findNode(node_id)?.emulator !== before)
      throw fault('node_failed', { name: node?.name ?? node_id, reason: changing });
    return files;
  }

  async #copyDisks(folder: string, emulator: NonNullable<ReturnType<ComputeProjects['findNode']>>['emulator']) {
    if (!emulator) {
      await removeDiskCopies(folder);
      return undefined;
    }
    const names = await readdir(folder).catch((): string[] => []);
    const isFirst = !names.some((name) => name.startsWith(diskCopyPrefix));
    const floor = new DiskFloor([folder], this.#context.settings.Server.min_free_bytes);
    await floor.check(isFirst && emulator.copyDisks ? await sizeOnDisk(folder) : 0).catch((error: Error) => {
      throw fault('disk_floor', { reason: error.message }, { cause: error });
    });
    return emulator.copyDisks?.();
  }
}

/** Paths in a node's folder. Sockets are no files. */
function isCopied(path: string): boolean {
  const names = path.split('/');
  return !isOwnInNode(names) && !(names.length === 1 && path.endsWith('.log'));
}
