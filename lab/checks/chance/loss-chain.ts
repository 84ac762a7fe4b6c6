/**
 * Computes the exact distribution of how many of `n` packets pass a path of links that lose frames at random. Links lose each frame
 * independently (`packet_loss`, `corrupt`) or in bursts (Gilbert and Elliott: two states per link, which change before each frame;
 * `filter-burst-loss.ts`).
 */

/** Loss in one direction of a link. Probabilities are between 0 and 1. */
export interface LossyHop {
  /** Probability that a frame is lost in either state. */
  readonly loss: number;
  readonly burst?: {
    readonly begins: number;
    readonly ends: number;
    readonly lossWhenGood: number;
    readonly lossWhenBad: number;
  };
}

/** Most links with bursts, each of which doubles the number of states. */
export const mostBurstyHops = 6;

/** Element `k`: the probability that `k` of `n` packets pass all hops. A lost packet does not reach later hops. */
export function passDistribution(n: number, hops: readonly LossyHop[]): number[] {
  const bursty = hops.filter(({ burst }) => burst);
  if (bursty.length === 0)
    return binomial(
      n,
      hops.reduce((all, { loss }) => all * (1 - loss), 1),
    );
  const { passed, lost } = transitions(hops, bursty);
  const states = 1 << bursty.length;
  let counts = [steadyStates(bursty)];
  for (let sent = 0; sent < n; sent += 1) {
    const next = Array.from({ length: sent + 2 }, () => new Array<number>(states).fill(0));
    for (const [count, before] of counts.entries()) {
      addProduct(next[count] as number[], before, lost);
      addProduct(next[count + 1] as number[], before, passed);
    }
    counts = next;
  }
  return counts.map((byState) => byState.reduce((sum, one) => sum + one, 0));
}

/** Element `k`: the probability of `k` hits in `n` trials of probability `p`. */
export function binomial(n: number, p: number): number[] {
  if (p <= 0 || p >= 1) return Array.from({ length: n + 1 }, (_, k) => (k === (p <= 0 ? 0 : n) ? 1 : 0));
  const logs = new Array<number>(n + 1).fill(0);
  for (let k = 1; k <= n; k += 1) logs[k] = (logs[k - 1] as number) + Math.log((n - k + 1) / k);
  return logs.map((choose, k) => Math.exp(choose + k * Math.log(p) + (n - k) * Math.log1p(-p)));
}

/** Transition probabilities; index `[from * states + to]`. */
type Matrix = Float64Array;

function transitions(hops: readonly LossyHop[], bursty: readonly LossyHop[]): { passed: Matrix; lost: Matrix } {
  const states = 1 << bursty.length;
  const [passed, lost] = [new Float64Array(states * states), new Float64Array(states * states)];
  for (let from = 0; from < states; from += 1) {
    let alive = new Map([[from, 1]]);
    for (const hop of hops) {
      const next = new Map<number, number>();
      const settle = (state: number, probability: number, loss: number) => {
        const at = from * states + state;
        lost[at] = (lost[at] as number) + probability * loss;
        next.set(state, (next.get(state) ?? 0) + probability * (1 - loss));
      };
      const bit = 1 << bursty.indexOf(hop);
      for (const [state, probability] of alive) passHop(hop, { state, bit, probability }, settle);
      alive = next;
    }
    for (const [state, probability] of alive) passed[from * states + state] = probability;
  }
  return { passed, lost };
}

type Settle = (state: number, probability: number, loss: number) => void;

/** Passes a frame over a hop. `bit`: the link's bit in the combined state. */
function passHop(
  { loss, burst }: LossyHop,
  { state, bit, probability }: { readonly state: number; readonly bit: number; readonly probability: number },
  settle: Settle,
): void {
  if (!burst) {
    settle(state, probability, loss);
    return;
  }
  const isBad = (state & bit) !== 0;
  const changes = isBad ? burst.ends : burst.begins;
  const lossOf = (bad: boolean) => 1 - (1 - loss) * (1 - (bad ? burst.lossWhenBad : burst.lossWhenGood));
  settle(state, probability * (1 - changes), lossOf(isBad));
  settle(state ^ bit, probability * changes, lossOf(!isBad));
}

/** Probability of each combined state in the long run, which earlier frames have brought about. */
function steadyStates(bursty: readonly LossyHop[]): number[] {
  return Array.from({ length: 1 << bursty.length }, (_, state) =>
    bursty.reduce((product, { burst }, index) => {
      const { begins = 0, ends = 0 } = burst ?? {};
      const bad = begins + ends === 0 ? 0 : begins / (begins + ends);
      return product * (state & (1 << index) ? bad : 1 - bad);
    }, 1),
  );
}

function addProduct(into: number[], vector: readonly number[], matrix: Matrix): void {
  const states = vector.length;
  for (const [from, probability] of vector.entries()) {
    if (probability === 0) continue;
    for (let to = 0; to < states; to += 1) into[to] = (into[to] as number) + probability * (matrix[from * states + to] as number);
  }
}
