/**
 * Ghost images: the memory of a router that has loaded an image, as a file that all routers with this image map, so that the host has
 * it in memory once. A router that is ended at once makes it; routers only read it. It goes with the last router that has it: a file that is
 * mapped stays in memory without a name.
 */
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { KeyedMutex } from '../../lib/mutex.ts';
import { openRegular } from '../../lib/regular-file.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import type { Properties } from '../driver.ts';
import type { Host } from '../host/host.ts';
import { own, type RunAs } from '../host/run-as.ts';
import type { DynamipsBinary } from './binary.ts';
import { innerGhosts, innerImage } from './confined.ts';
import { launchHypervisor, sendAll } from './launch.ts';
import { sizeCommands } from './router-commands.ts';

interface GhostRequest {
  readonly properties: Properties;
  readonly binary: DynamipsBinary;
  /** Path of the image on the host. */
  readonly image: string;
  readonly runAs: RunAs | undefined;
  readonly sparsemem: boolean;
}

const ghostRouter = 'ghost';
/** A router's numbers end at 4096. */
const ghostId = 4097;
const fileName = 'image.ghost';

export class GhostImages {
  readonly #host: Host;
  readonly #making = new KeyedMutex();
  readonly #users = new Map<string, number>();
  #swept: Promise<void> | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  get folder(): string {
    return join(this.#host.settings.dataDirectory, 'ghosts');
  }

  /** Where a router sees the file. */
  path = (name: string) => join(innerGhosts, name, fileName);

  /** A router is to map it, or does already. */
  hold(name: string): void {
    this.#users.set(name, (this.#users.get(name) ?? 0) + 1);
  }

  async release(name: string): Promise<void> {
    const left = (this.#users.get(name) ?? 1) - 1;
    if (left > 0) return void this.#users.set(name, left);
    this.#users.delete(name);
    await removeTree(join(this.folder, name)).catch(() => undefined);
  }

  /** Makes it unless it is there. @returns its name; undefined, and a line in the log, when Dynamips could not make it */
  async prepare(request: GhostRequest): Promise<string | undefined> {
    this.#swept ??= this.#sweep();
    await this.#swept;
    const name = await nameOf(request);
    return this.#making.run(name, async () => {
      const isThere = await stat(join(this.folder, name, fileName)).then(
        () => true,
        () => false,
      );
      // An earlier version made it for one user.
      if (isThere) await share(join(this.folder, name));
      if (isThere) return name;
      return this.#make(name, request).then(
        () => name,
        (error: Error) => void this.#host.log('warning', `no ghost image of ${request.image}: ${error.message}`),
      );
    });
  }

  /**
   * Removes what a server that was killed left: half an image, and one of which no router was started. Routers that run were counted when
   * they were adopted.
   */
  async #sweep(): Promise<void> {
    for (const name of await readdir(this.folder).catch(() => [])) {
      if (!this.#users.has(name)) await removeTree(join(this.folder, name));
    }
  }

  async #make(name: string, { properties, binary, image, runAs, sparsemem }: GhostRequest): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o711 });
    // The folder is beside those of nodes: a server that starts removes folders that do not belong to a running process.
    const folders = join(this.#host.settings.runtimeDirectory, 'n');
    await mkdir(folders, { recursive: true, mode: 0o700 });
    const runtimeDirectory = await mkdtemp(join(folders, 'ghost-'));
    const work = await mkdtemp(join(this.folder, '.making-'));
    try {
      if (runAs) await own(runAs, [work]);
      const confined = { binary, work, runtimeDirectory, image, runAs, endsWithServer: true };
      const { child, hypervisor } = await launchHypervisor(this.#host, confined, join(runtimeDirectory, 'log'));
      try {
        await sendAll(hypervisor, [
          ['vm', 'create', ghostRouter, ghostId, String(properties.platform)],
          ['vm', 'set_ios', ghostRouter, innerImage],
          ...sizeCommands({ properties, mmap: true, sparsemem }).map(([command, value]) => ['vm', command, ghostRouter, value]),
          ['vm', 'set_ghost_status', ghostRouter, 1],
          ['vm', 'set_ghost_file', ghostRouter, fileName],
          ['vm', 'start', ghostRouter],
          ['vm', 'stop', ghostRouter],
        ]);
      } finally {
        hypervisor.close();
        await child.stop({ graceMs: 0 });
      }
      await share(work);
      await rename(work, join(this.folder, name));
    } finally {
      await removeTree(work);
      await removeTree(runtimeDirectory);
    }
  }
}

/** Lets routers of other users read the image in this folder. What the emulator left at its place may be a link. */
async function share(folder: string): Promise<void> {
  const { file } = await openRegular(join(folder, fileName), { noFollow: true });
  await file.chmod(0o444).finally(() => file.close());
  await chmod(folder, 0o755);
}

/** Name of a ghost image, the same for the same file and memory. */
async function nameOf({ properties, image, binary }: GhostRequest): Promise<string> {
  const { dev, ino, size, mtimeMs } = await stat(image);
  const facts = [dev, ino, size, mtimeMs, binary.path, properties.platform, properties.ram, properties.sparsemem];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 24);
}
