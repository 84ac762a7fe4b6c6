/** The computes that know an open project: each is told of it once, before it gets a node, and none any more once it is being closed. */
import { fault, isFault } from '../../api/faults.ts';
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import type { Log } from '../../lib/log.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import type { ProjectEntry } from '../model/topology.ts';

export interface ToldParts {
  /** Of the project, absolute. */
  readonly folder: string;
  readonly computes: Computes;
  readonly log: Log;
  readonly entry: () => ProjectEntry;
}

export class ToldComputes {
  readonly #parts: ToldParts;
  readonly #told = new Map<Compute, Promise<void>>();
  #isEnding = false;

  constructor(parts: ToldParts) {
    this.#parts = parts;
  }

  /** @throws `project_closed`, and why the compute cannot be told */
  tell(compute: Compute): Promise<void> {
    if (this.#isEnding) return Promise.reject(fault('project_closed', { name: this.#parts.entry().name }));
    const known = this.#told.get(compute);
    if (known) return known;
    const told = this.#tell(compute);
    this.#told.set(compute, told);
    told.catch(() => this.#told.delete(compute));
    return told;
  }

  /** It may have lost what it knew. */
  forget(compute: Compute): void {
    this.#told.delete(compute);
  }

  /** From now on no compute is told any more. */
  end(): void {
    this.#isEnding = true;
  }

  /** Has all of them close it, those too whose last node was deleted; errors are left aside. */
  async close(): Promise<void> {
    const { computes, entry } = this.#parts;
    const path = { project_id: entry().project_id };
    const registered = [...this.#told.keys()].filter((compute) => computes.find(compute.id) === compute);
    await forEachBounded(registered, concurrency, (compute) =>
      compute.transport.send('POST /v2/compute/projects/{project_id}/close', { path }),
    );
  }

  async #tell({ isLocal, transport }: Compute): Promise<void> {
    const { folder, log, entry } = this.#parts;
    const { name, project_id, variables } = entry();
    const body = { name, project_id, ...(isLocal && { path: folder }), ...(variables !== null && { variables }) };
    try {
      await transport.send('POST /v2/compute/projects', { body });
    } catch (error) {
      if (!isFault(error)) log.error({ err: error }, 'a compute failed');
      throw error;
    }
  }
}
