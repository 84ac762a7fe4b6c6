/** Indexes the NIOs that mirror another NIO's link. */
import type { Binding } from './wiring.ts';

export class MirrorBindings {
  /** Mirrors by the local port of the mirrored NIO. */
  readonly #bySource = new Map<number, Set<Binding>>();

  of(lport: number): Binding[] {
    return [...(this.#bySource.get(lport) ?? [])];
  }

  add(binding: Binding): void {
    const source = binding.nio.mirror_of;
    if (source !== undefined) this.#bySource.set(source, (this.#bySource.get(source) ?? new Set()).add(binding));
  }

  delete(binding: Binding): void {
    const source = binding.nio.mirror_of;
    const mirrors = source === undefined ? undefined : this.#bySource.get(source);
    if (source !== undefined && mirrors?.delete(binding) && mirrors.size === 0) this.#bySource.delete(source);
  }
}
