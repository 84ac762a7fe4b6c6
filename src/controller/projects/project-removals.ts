/**
 * Removes a deleted project from the disk.
 *
 * Theory of operation. One synced record in the list of projects makes a deletion durable. Then the folder is renamed, in one step, to a
 * name at which no project is looked for, and the request is answered. Its files are removed afterwards; the record is dropped when they
 * are gone, the projects folder is synced, and the local compute has closed the project (a full disk can keep it from that). A start that
 * finds such a record renames a folder that still has its old name, removes it, and has the compute close the project.
 */
import { randomUUID } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../lib/atomic-file.ts';
import { concurrency, Limit } from '../../lib/bounded.ts';
import type { Log } from '../../lib/log.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import type { ProjectPlace } from './project-environment.ts';
import { type Registry, stagingPrefix } from './registry.ts';

interface RemovalsOptions {
  readonly registry: Registry;
  readonly projectsPath: string;
  readonly log: Log;
  /** The local compute is asked (again) to close a project. */
  readonly closeOnLocal: (projectId: string) => void;
  /** Resolves with whether the local compute has closed a project; undefined if it was not asked in vain. */
  readonly closedOnLocal: (projectId: string) => Promise<boolean> | undefined;
}

export class ProjectRemovals {
  readonly #options: RemovalsOptions;
  readonly #limit = new Limit(concurrency);
  readonly #running = new Set<Promise<void>>();

  constructor(options: RemovalsOptions) {
    this.#options = options;
  }

  get #registry(): Registry {
    return this.#options.registry;
  }

  /**
   * Resolves when the deletion is durable and the folder has lost its name; the files are removed afterwards.
   * @throws Error of the file system; the project has its folder and a record then
   */
  async remove({ id, path, filename }: ProjectPlace & { readonly id: string }): Promise<void> {
    const before = this.#registry.get(id);
    await this.#registry.recordDeletion(id, { path, filename });
    try {
      this.#removeLater(id, await this.#rename(id, path));
    } catch (error) {
      const restored = before ? this.#registry.set(id, { ...before, opened: false }) : this.#registry.dropDeletion(id);
      await restored.catch(() => undefined);
      throw error;
    }
  }

  /** Removes a closed project from the list; its files stay. @throws Error of the file system */
  async forget({ id, filename }: Pick<ProjectPlace, 'filename'> & { readonly id: string }): Promise<void> {
    if (!this.#options.closedOnLocal(id)) return this.#registry.delete(id);
    const gone = this.#unusedName(id);
    await this.#registry.recordDeletion(id, { path: gone, filename });
    this.#follow(this.#drop(id, gone), gone);
  }

  /**
   * Renames the folders of deletions that an earlier server did not finish. Returns a function that removes what is left of them and drops
   * their records: for after the start, which removes folders of such names by itself. Never rejects.
   */
  async resume(): Promise<() => void> {
    const renamed = new Map<string, string>();
    for (const [id, { path }] of this.#registry.deletions()) {
      this.#options.closeOnLocal(id);
      try {
        renamed.set(id, await this.#rename(id, path));
      } catch (error) {
        this.#warn(path, error);
      }
    }
    return () => {
      for (const [id, gone] of renamed) this.#removeLater(id, gone);
    };
  }

  /** Waits until the files of all deleted projects are removed. */
  async close(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Returns the new name. Each deletion has its own: another project may get this id while the files are removed. */
  async #rename(id: string, path: string): Promise<string> {
    const gone = this.#unusedName(id);
    await rename(path, gone).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    return gone;
  }

  #unusedName(id: string): string {
    return join(this.#options.projectsPath, `${stagingPrefix}deleted-${id}-${randomUUID()}`);
  }

  #removeLater(id: string, gone: string): void {
    const removed = this.#limit.run(async () => {
      await removeTree(gone);
      // The old name must not come back with the next power failure.
      await syncFolder(this.#options.projectsPath);
    });
    this.#follow(
      removed.then(() => this.#drop(id, gone)),
      gone,
    );
  }

  #follow(removed: Promise<void>, gone: string): void {
    const settled = removed
      .catch((error: unknown) => this.#warn(gone, error))
      .finally(() => {
        this.#running.delete(settled);
      });
    this.#running.add(settled);
  }

  /** Drops the record of a deletion, or leaves it to the next start if the project is not closed at the end of this one. */
  async #drop(id: string, gone: string): Promise<void> {
    const closed = this.#options.closedOnLocal(id);
    if (closed) {
      await this.#registry.moveDeletion(id, gone);
      if (!(await closed)) return;
    }
    await this.#registry.dropDeletion(id);
  }

  #warn(path: string, error: unknown): void {
    this.#options.log.warn({ err: error }, `${path} of a deleted project could not be removed; the next start tries again`);
  }
}
