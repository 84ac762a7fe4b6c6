/** Finds a short list of steps that still fails: leaves steps out, many at once first, then makes what is left smaller. */

export interface Shortening<S> {
  readonly steps: readonly S[];
  /** Whether these steps still fail in the same way. */
  readonly fails: (steps: readonly S[]) => Promise<boolean>;
  /** A step as it could be, the smallest first; undefined: it is as small as it gets. */
  readonly smaller: (step: S) => S | undefined;
  /** Number of attempts, at most. */
  readonly mostTries: number;
}

export async function shorten<S>({ steps, fails, smaller, mostTries }: Shortening<S>): Promise<readonly S[]> {
  let tries = 0;
  let best = steps;
  const attempt = async (candidate: readonly S[]): Promise<boolean> => {
    if (tries >= mostTries) return false;
    tries += 1;
    if (!(await fails(candidate))) return false;
    best = candidate;
    return true;
  };
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < best.length; ) {
      if (!(await attempt([...best.slice(0, at), ...best.slice(at + size)]))) at += size;
    }
  }
  for (let at = 0; at < best.length; at++) {
    for (let step = best[at]; step; ) {
      const next = smaller(step);
      if (!next || !(await attempt(best.with(at, next)))) break;
      step = next;
    }
  }
  return best;
}
