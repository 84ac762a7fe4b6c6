/**
 * Open projects with nodes that are not where they belong, or not as they are to be: on a lost slice without room elsewhere, or stopped and
 * to run again; and with links of slices that could not be connected. They are looked at again every few seconds, as what they wait for may
 * come from anywhere. Not stored: where nodes are, and which are to run, is.
 */
import type { Log } from '../../lib/log.ts';

const everyMs = 2_000;

export class UnsettledProjects {
  readonly #ids = new Set<string>();
  readonly #settle: (projectId: string) => Promise<boolean>;
  readonly #log: Log;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #settling = new Set<string>();

  /** `settle` does what can be done now; false: something is left. */
  constructor(settle: (projectId: string) => Promise<boolean>, log: Log) {
    this.#settle = settle;
    this.#log = log;
  }

  /** Nothing is started any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  add(projectId: string): void {
    this.#ids.add(projectId);
    if (!this.#isClosed) this.#timer ??= setInterval(() => this.#lookAtAll(), everyMs).unref();
  }

  /** What is under way is not waited for: starts may take long. */
  close(): void {
    clearInterval(this.#timer);
    this.#isClosed = true;
  }

  #lookAtAll(): void {
    for (const id of this.#ids) {
      if (this.#settling.has(id)) continue;
      this.#ids.delete(id);
      this.#settling.add(id);
      void this.#look(id).finally(() => this.#settling.delete(id));
    }
    if (this.#ids.size > 0 || this.#settling.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(id: string): Promise<void> {
    try {
      if (!(await this.#settle(id))) this.add(id);
    } catch (error) {
      this.#log.warn({ err: error }, `nodes of project ${id} wait`);
      this.add(id);
    }
  }
}
