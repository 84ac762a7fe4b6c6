/**
 * Assigns local UDP ports to NIOs. As in GNS3, several NIOs may name the same port while at most one of their nodes runs: one holds
 * the port, the others wait, and carry no frames. A starting node gets the ports of nodes that do not run.
 */
import type { Binding } from './wiring.ts';

export class PortHolders {
  readonly #holders = new Map<number, Binding>();
  readonly #waiting = new Map<number, Set<Binding>>();
  readonly #isRunning: (nodeId: string) => boolean;

  constructor(isRunning: (nodeId: string) => boolean) {
    this.#isRunning = isRunning;
  }

  get(lport: number): Binding | undefined {
    return this.#holders.get(lport);
  }

  holds(binding: Binding): boolean {
    return this.#holders.get(binding.nio.lport) === binding;
  }

  /** Takes the port over from a node that does not run. False: the holder's node runs, and the binding waits. */
  claim(binding: Binding): boolean {
    const { lport } = binding.nio;
    const holder = this.#holders.get(lport);
    if (holder === binding) return true;
    const isFree = holder === undefined || !this.#isRunning(holder.nodeId);
    this.#forget(binding);
    if (isFree) this.#holders.set(lport, binding);
    const other = isFree ? holder : binding;
    if (other) this.#waiting.set(lport, (this.#waiting.get(lport) ?? new Set()).add(other));
    return isFree;
  }

  /** The port goes to the NIO that waits longest, if one does. */
  release(binding: Binding): void {
    const { lport } = binding.nio;
    this.#forget(binding);
    if (!this.holds(binding)) return;
    this.#holders.delete(lport);
    const [next] = this.#waiting.get(lport) ?? [];
    if (!next) return;
    this.#forget(next);
    this.#holders.set(lport, next);
  }

  /** Replaces the record of a NIO; it keeps its place. */
  replace(before: Binding, after: Binding): void {
    if (this.holds(before)) this.#holders.set(after.nio.lport, after);
    else {
      this.#forget(before);
      this.#waiting.set(after.nio.lport, (this.#waiting.get(after.nio.lport) ?? new Set()).add(after));
    }
  }

  #forget(binding: Binding): void {
    const { lport } = binding.nio;
    const waiting = this.#waiting.get(lport);
    if (waiting?.delete(binding) && waiting.size === 0) this.#waiting.delete(lport);
  }
}
