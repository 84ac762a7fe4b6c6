/** Finds a short list of steps that still fails: leaves steps out, many at once first, then makes what is left smaller. */

export interface Shortening<S> {
  readonly steps: readonly S[];
  /** Whether these steps still fail in the same way. */
  readonly fails: (steps: readonly S[]) => boolean;
  /** A step as it could be, the smallest first; undefined: it is as small as it gets. */
  readonly smaller: (step: S) => S | undefined;
  /** How often it may be tried. */
  readonly mostTries: number;
}

export function shorten<S>({ steps, fails, smaller, mostTries }: Shortening<S>): readonly S[] {
  let tries = 0;
  let best = steps;
  const attempt = (candidate: readonly S[]): boolean => {
    if (tries >= mostTries) return false;
    tries += 1;
    if (!fails(candidate)) return false;
    best = candidate;
    return true;
  };
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < best.length; ) {
      if (!attempt([...best.slice(0, at), ...best.slice(at + size)])) at += size;
    }
  }
  for (let at = 0; at < best.length; at++) {
    for (let step = best[at]; step; ) {
      const next = smaller(step);
      if (!next || !attempt(best.with(at, next))) break;
      step = next;
    }
  }
  return best;
}
