/**
 * Removes what computes have although it is not wanted there: projects that are not open here (they were closed while the compute was away,
 * their close or deletion was not answered, or a server died that was opening them), temporary projects of earlier servers, and of open
 * projects the nodes and joined ports that they do not have (`reconcile/strays.ts`). An attempt that fails is repeated while the compute is
 * connected; one that was away is looked at when it is back, and once more a minute later: requests whose connection was cut may arrive by
 * then.
 */
import type { Log } from '../../lib/log.ts';
import { Retry } from '../../lib/retry.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { TemporaryProjects } from '../computes/temporary-projects.ts';
import { removeStrays } from '../reconcile/strays.ts';
import type { KnownProject } from './project.ts';
import type { Registry } from './registry.ts';

interface Watched {
  readonly retry: Retry;
  /** Projects that were closed or deleted here, and may be open there; each resolves with whether it is closed there. */
  readonly unanswered: Map<string, PromiseWithResolvers<boolean>>;
  /** `performance.now()` until which late requests may arrive there. */
  lateUntil: number;
}

const retryTimes = { firstMs: 2_000, longestMs: 60_000 };
/** The project cannot be opened meanwhile. */
const answerMs = 10_000;
const lateMs = 60_000;

export class Leftovers {
  readonly #find: (projectId: string) => KnownProject | undefined;
  readonly #registry: Pick<Registry, 'get'>;
  readonly #temporary: TemporaryProjects;
  readonly #log: Log;
  readonly #watched = new Map<RegisteredCompute, Watched>();
  #hasEnded = false;

  constructor(
    find: (projectId: string) => KnownProject | undefined,
    registry: Pick<Registry, 'get'>,
    temporary: TemporaryProjects,
    log: Log,
  ) {
    this.#find = find;
    this.#registry = registry;
    this.#temporary = temporary;
    this.#log = log;
  }

  /** The compute has not answered a request to remove something. `projectId`: to close this project, or delete it. */
  failed(compute: RegisteredCompute, projectId?: string): void {
    const { unanswered, retry } = this.#watchedOf(compute);
    retry.stop();
    if (this.#hasEnded) return;
    if (projectId !== undefined && !unanswered.has(projectId)) unanswered.set(projectId, Promise.withResolvers());
    retry.failed();
  }

  /**
   * Resolves with true when the compute has closed a project that it was asked in vain to close, and with false when the server ends before.
   * Undefined if there is no such project.
   */
  closed(compute: RegisteredCompute, projectId: string): Promise<boolean> | undefined {
    return this.#watchedOf(compute).unanswered.get(projectId)?.promise;
  }

  /** The compute answers again. Never rejects. */
  async returned(compute: RegisteredCompute): Promise<void> {
    this.#watchedOf(compute).lateUntil = performance.now() + lateMs;
    await this.look(compute);
  }

  /** Never rejects. */
  async look(compute: RegisteredCompute): Promise<void> {
    const watched = this.#watchedOf(compute);
    const { retry, unanswered } = watched;
    if (this.#hasEnded || !compute.transport.state.connected) return;
    try {
      const known = await compute.transport.call('GET /v2/compute/projects', { timeoutMs: answerMs });
      for (const { project_id } of known) await this.#lookAt(compute, project_id, unanswered.has(project_id));
      await this.#temporary.removeLeft(compute, (id) => this.#find(id) !== undefined);
      const listed = new Set(known.map(({ project_id }) => project_id));
      for (const id of [...unanswered.keys()]) if (!listed.has(id)) this.#answered(compute, id);
      retry.succeeded();
      const restMs = watched.lateUntil - performance.now();
      if (restMs > 0 && !this.#hasEnded) retry.failed(restMs);
    } catch (error) {
      this.#log.warn({ err: error }, `${compute.record.name} may have something that is not wanted there`);
      if (!this.#hasEnded) retry.failed();
    }
  }

  close(): void {
    this.#hasEnded = true;
    for (const { retry, unanswered } of this.#watched.values()) {
      retry.stop();
      for (const { resolve } of unanswered.values()) resolve(false);
    }
  }

  #answered(compute: RegisteredCompute, projectId: string): void {
    const { unanswered } = this.#watchedOf(compute);
    unanswered.get(projectId)?.resolve(true);
    unanswered.delete(projectId);
  }

  #watchedOf(compute: RegisteredCompute): Watched {
    const known = this.#watched.get(compute);
    if (known) return known;
    const retry = new Retry(retryTimes, () => void this.look(compute));
    const watched: Watched = { retry, unanswered: new Map(), lateUntil: 0 };
    this.#watched.set(compute, watched);
    return watched;
  }

  /**
   * A project that is registered as open, but is closed, could not be read: its nodes are left alone. So are those of one that is not known.
   * @throws what the compute answers
   */
  async #lookAt(compute: RegisteredCompute, projectId: string, isUnanswered: boolean): Promise<void> {
    const project = this.#find(projectId);
    if (project?.isOpen) await project.whileOpen((live) => removeStrays(live, compute));
    const isClosed = project !== undefined && !project.isOpen && this.#registry.get(projectId)?.opened !== true;
    if (isUnanswered || isClosed) await this.#close(compute, projectId);
  }

  /** @throws what the compute answers */
  async #close(compute: RegisteredCompute, project_id: string): Promise<void> {
    const send = async () => {
      await compute.transport.send('POST /v2/compute/projects/{project_id}/close', { path: { project_id }, timeoutMs: answerMs });
      this.#answered(compute, project_id);
    };
    const project = this.#find(project_id);
    await (project ? project.whileClosed(send) : send());
  }
}
