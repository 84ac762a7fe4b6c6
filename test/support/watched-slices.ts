/** Reports of an engine on the slices of one controller. */
import type { Engine, SliceReport } from '../../src/controller/engines/engine.ts';
import { waitFor } from './wait-for.ts';

/** Values with which a listener was called. */
export class WatchedSlices {
  readonly slices = new Map<string, SliceReport>();
  readonly states: string[] = [];
  problem: string | null = null;
  readonly #abort = new AbortController();
  readonly #ended: Promise<void>;

  constructor(engine: Engine, owner: string) {
    const add = (slice: SliceReport) => {
      this.slices.set(slice.id, slice);
      this.states.push(slice.state);
    };
    const listener = {
      onList: (slices: readonly SliceReport[]) => {
        this.slices.clear();
        slices.forEach(add);
      },
      onChange: add,
      onProblem: (problem: string | null) => {
        this.problem = problem;
      },
    };
    this.#ended = engine.watch(owner, listener, this.#abort.signal);
  }

  until(id: string, state: SliceReport['state']): Promise<SliceReport> {
    return waitFor(
      () => {
        const slice = this.slices.get(id);
        return slice?.state === state && slice;
      },
      { what: `${state} of ${id}, which is ${JSON.stringify(this.slices.get(id))}, ${this.problem}` },
    );
  }

  async end(): Promise<void> {
    this.#abort.abort();
    await this.#ended;
  }
}
