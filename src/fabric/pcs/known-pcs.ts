/** PCs that a server has asked for, with their present settings: a fabric that takes the place of a lost one makes them again. */
import type { PcReport, PcSpec } from '../protocol.ts';

export class KnownPcs {
  readonly #specs = new Map<string, PcSpec>();
  readonly #listeners = new Map<string, (report: PcReport) => void>();

  get ids(): string[] {
    return [...this.#specs.keys()];
  }

  get all(): PcSpec[] {
    return [...this.#specs.values()];
  }

  has(id: string): boolean {
    return this.#specs.has(id);
  }

  add(pc: PcSpec): void {
    this.#specs.set(pc.id, pc);
  }

  remove(id: string): void {
    this.#specs.delete(id);
  }

  /** Calls back when the PC has other settings, or has ended; one listener for each PC. Returns how to stop listening. */
  onReport(id: string, listener: (report: PcReport) => void): () => void {
    this.#listeners.set(id, listener);
    return () => {
      if (this.#listeners.get(id) === listener) this.#listeners.delete(id);
    };
  }

  /** The next time it is made, it continues with its settings. */
  note(report: PcReport): void {
    const pc = this.#specs.get(report.id);
    if (!pc) return;
    const { script: _script, state: _state, ...spec } = pc;
    this.#specs.set(report.id, { ...spec, settings: report.settings });
  }

  /** Notes how the PC is, and calls its listener. */
  report(pc: PcReport): void {
    this.note(pc);
    this.#listeners.get(pc.id)?.(pc);
  }

  /** The lease is over, and the fabric that had them is lost: none remains. */
  endAll(): void {
    const ended = this.all;
    this.#specs.clear();
    for (const pc of ended) this.#listeners.get(pc.id)?.(endedByLease(pc));
  }
}

export function endedByLease({ id, name, settings = { name, mtu: 1500, dns: [] } }: PcSpec): PcReport {
  return { id, settings, end: { kind: 'failed', message: 'the lease of its slice is over' } };
}
