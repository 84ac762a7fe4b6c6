/**
 * Projects that a compute may have files of, noted before it is asked to make them. Temporary ones exist on the compute alone, until something
 * is done: copies of a project's files, the router of an idle-PC search, and projects that were deleted while it did not answer; one that
 * could not be removed, or whose server died, is removed when its compute is looked at next. Those of this server are removed with the
 * project, also where the server died before it had recorded a node there.
 */
import { join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import { forEachBounded } from '../../lib/bounded.ts';
import { DurableMap } from '../../lib/durable-map.ts';
import type { Warn } from '../../lib/set-aside.ts';
import { flag, object, optional, text } from '../../lib/shape.ts';
import type { RegisteredCompute } from './compute.ts';

interface TemporaryProject {
  readonly compute_id: string;
  readonly project_id: string;
  /** A project of this server: only its deletion removes it. */
  readonly is_own?: boolean;
}

const shape = object({ compute_id: text, project_id: text, is_own: optional(flag) });

export class TemporaryProjects {
  /** Noted projects by project and compute. */
  readonly #noted: DurableMap<TemporaryProject>;
  /** Keys of the noted projects that this server uses. */
  readonly #used = new Set<string>();

  private constructor(noted: DurableMap<TemporaryProject>) {
    this.#noted = noted;
  }

  static async open(stateDirectory: string, warn: Warn): Promise<TemporaryProjects> {
    const path = join(stateDirectory, 'temporary-projects.log');
    return new TemporaryProjects(await DurableMap.open(path, warn, (value) => shape.problem(value, 'project') === undefined));
  }

  /** Notes a project that is made on the compute next. @throws storage_failed */
  async begin({ id: compute_id }: Pick<RegisteredCompute, 'id'>, project_id: string): Promise<void> {
    const key = keyOf({ compute_id, project_id });
    this.#used.add(key);
    try {
      await this.#noted.set(key, { compute_id, project_id });
    } catch (cause) {
      this.#used.delete(key);
      throw fault('storage_failed', { reason: (cause as Error).message }, { cause });
    }
  }

  /** Notes a project of this server that is made on the compute next. @throws storage_failed */
  async use(project_id: string, { id: compute_id }: Pick<RegisteredCompute, 'id'>): Promise<void> {
    const key = keyOf({ compute_id, project_id });
    if (this.#noted.get(key)?.is_own) return;
    await this.#noted.set(key, { compute_id, project_id, is_own: true }).catch((cause: Error) => {
      throw fault('storage_failed', { reason: cause.message }, { cause });
    });
  }

  /** Whether a project of this server was noted on the compute. */
  isUsed(project_id: string, { id: compute_id }: Pick<RegisteredCompute, 'id'>): boolean {
    return this.#noted.get(keyOf({ compute_id, project_id }))?.is_own === true;
  }

  /** A deleted project whose files the compute has: they are removed when it is looked at next. @throws storage_failed */
  async leave(projectId: string, compute: RegisteredCompute): Promise<void> {
    await this.begin(compute, projectId);
    this.#used.delete(keyOf({ compute_id: compute.id, project_id: projectId }));
  }

  /** The project stays: on the compute, or on all, as it is one of this server now. Never rejects. */
  async keep(projectId: string, compute?: RegisteredCompute): Promise<void> {
    const isKept = (key: string) =>
      compute ? key === keyOf({ project_id: projectId, compute_id: compute.id }) : key.startsWith(`${projectId} `);
    for (const key of [...this.#used].filter(isKept)) await this.#forget(key).catch(() => undefined);
  }

  /** The compute has removed the files of a project of this server. Never rejects. */
  async removed(project_id: string, { id: compute_id }: Pick<RegisteredCompute, 'id'>): Promise<void> {
    await this.#forget(keyOf({ compute_id, project_id })).catch(() => undefined);
  }

  /** Removes the project from the compute. One that does not answer is asked again when it is looked at next. Never rejects. */
  async end(projectId: string, compute: RegisteredCompute): Promise<void> {
    const key = keyOf({ compute_id: compute.id, project_id: projectId });
    if (this.#noted.has(key) && compute.transport.state.connected) await this.#remove(compute, projectId).catch(() => undefined);
    this.#used.delete(key);
  }

  /** Removes what was left on the compute. `isKnown`: it is a project of this server. @throws the first failure, after all were tried */
  async removeLeft(compute: RegisteredCompute, isKnown: (projectId: string) => boolean): Promise<void> {
    const isLeft = (key: string, { compute_id, is_own }: TemporaryProject) =>
      compute_id === compute.id && is_own !== true && !this.#used.has(key);
    const left = [...this.#noted.entries()].filter(([key, noted]) => isLeft(key, noted));
    const [error] = await forEachBounded(left, 1, ([key, { project_id }]) =>
      isKnown(project_id) ? this.#forget(key) : this.#remove(compute, project_id),
    );
    if (error !== undefined) throw error;
  }

  close(): Promise<void> {
    return this.#noted.close();
  }

  /** @throws what the compute answers */
  async #remove({ id: compute_id, transport }: RegisteredCompute, project_id: string): Promise<void> {
    try {
      // A compute knows those only that are open there.
      await transport.send('POST /v2/compute/projects', { body: { project_id, name: project_id } });
      await transport.send('DELETE /v2/compute/projects/{project_id}', { path: { project_id } });
    } catch (error) {
      // The files there are of another project by now.
      if (!isFault(error, 'compute_forbidden')) throw error;
    }
    await this.#forget(keyOf({ compute_id, project_id }));
  }

  async #forget(key: string): Promise<void> {
    this.#used.delete(key);
    await this.#noted.delete(key);
  }
}

function keyOf({ compute_id, project_id }: TemporaryProject): string {
  return `${project_id} ${compute_id}`;
}
