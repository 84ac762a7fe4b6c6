/**
 * UDP ports that a controller was given for NIOs that it is about to make. One that gets none within an hour is released: its controller has
 * died, or the request was cut off.
 */
import type { PortPool } from '../../lib/port-pool.ts';

/** A machine whose disks are large is on its way to another compute for so long before the last end of its links is joined. */
const unusedMs = 3_600_000;

export class ReservedPorts {
  readonly #pool: Pick<PortPool, 'release'>;
  readonly #timers = new Map<number, NodeJS.Timeout>();

  constructor(pool: Pick<PortPool, 'release'>) {
    this.#pool = pool;
  }

  add(port: number): void {
    clearTimeout(this.#timers.get(port));
    const timer = setTimeout(() => {
      this.#timers.delete(port);
      this.#pool.release(port);
    }, unusedMs);
    this.#timers.set(port, timer.unref());
  }

  /** Takes a port out, for a NIO. False: it was not reserved, or no longer. */
  take(port: number): boolean {
    clearTimeout(this.#timers.get(port));
    return this.#timers.delete(port);
  }

  /** Releases all of them. */
  clear(): void {
    for (const port of [...this.#timers.keys()]) if (this.take(port)) this.#pool.release(port);
  }
}
