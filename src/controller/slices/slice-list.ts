/** Slices as clients are shown them: what is stored, and what their engines report. */
import { fault } from '../../api/faults.ts';
import type { SliceObject } from '../../schema/slice.ts';
import type { Computes } from '../computes/computes.ts';
import type { SliceReport } from '../engines/engine.ts';
import type { SliceEntry } from './slice-entry.ts';
import type { Slices } from './slices.ts';

export class SliceList {
  readonly #slices: Slices;
  readonly #computes: Computes;
  /** Returns the last report of a slice's engine, by the id of the slice. */
  readonly #reportOf: (id: string) => SliceReport | undefined;

  /** State of a slice's drain, in words. */
  progressOf: (id: string) => string | null = () => null;

  constructor(slices: Slices, computes: Computes, reportOf: (id: string) => SliceReport | undefined) {
    this.#slices = slices;
    this.#computes = computes;
    this.#reportOf = reportOf;
  }

  all(): SliceObject[] {
    return this.#slices.all().map(([id, entry]) => this.#present(id, entry));
  }

  /** @throws slice_not_found */
  get(id: string): SliceObject {
    const entry = this.#slices.find(id);
    if (!entry) throw fault('slice_not_found', { compute_id: id });
    return this.#present(id, entry);
  }

  #present(id: string, entry: SliceEntry): SliceObject {
    const report = this.#reportOf(id);
    const isOn = entry.state === 'joined' && (entry.isDraining || report?.state === 'draining');
    // A lost slice of an engine is placed again.
    const isPending = entry.order !== null && entry.state !== 'joined';
    return {
      compute_id: id,
      name: entry.name,
      // `find` and `all` return no deleted one.
      state: isOn ? 'draining' : isPending ? 'pending' : entry.state === 'deleted' ? 'left' : entry.state,
      reason:
        (entry.isDraining && isOn ? this.progressOf(id) : null) ??
        (isPending ? report?.reason : null) ??
        entry.reason ??
        report?.reason ??
        null,
      epoch: entry.epoch,
      host: report?.host ?? this.#computes.find(id)?.record.host ?? null,
      engine: entry.order?.engine ?? null,
      project_id: entry.order?.projectId || null,
      ends_at: report?.endsAt?.toISOString() ?? null,
      findings: [...entry.findings],
    };
  }
}
