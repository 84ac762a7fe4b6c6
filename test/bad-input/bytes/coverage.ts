/** The parts of the program that ran since the last look, by the inspector's precise coverage. */
import { type Profiler, Session } from 'node:inspector';

const ours = /\/(?:src|lab|web)\/.*\.ts$/;

export class Coverage implements Disposable {
  readonly #session = new Session();
  readonly #seen = new Set<string>();

  constructor() {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** Whether a part of the program ran that never did before, or ran in another order of magnitude. */
  isNew(): boolean {
    let result: Profiler.ScriptCoverage[] = [];
    // A session with its own thread is answered before `post` returns.
    this.#session.post('Profiler.takePreciseCoverage', (_error, answer) => {
      result = answer.result;
    });
    const before = this.#seen.size;
    for (const { url, functions } of result) {
      if (!ours.test(url)) continue;
      for (const { ranges } of functions)
        for (const { startOffset, endOffset, count } of ranges)
          if (count > 0) this.#seen.add(`${url}:${startOffset}-${endOffset}:${Math.floor(Math.log2(count) / 2)}`);
    }
    return this.#seen.size > before;
  }

  get size(): number {
    return this.#seen.size;
  }

  [Symbol.dispose](): void {
    this.#session.disconnect();
  }
}
