/** The rows of `decide`, and how often each was the answer within a minute after each kind of trouble. */
import type { Decision, Observed } from '../../../src/controller/reconcile/decide.ts';
import type { Trouble } from '../schedule.ts';

export const decisionRows = [
  ...([
    'nothing',
    'list',
    'settle',
    'make',
    'start',
    'stop',
    'move',
    'want adopted',
    'want guest',
    'wait failed',
    'wait room',
  ] as const),
  ...(['wait away', 'wait ending', 'wait fenced', 'wait unregistered'] as const),
] as const;
export type DecisionRow = (typeof decisionRows)[number];

export function rowOf({ reach, leaving }: Observed, decision: Decision): DecisionRow {
  if (decision.do === 'want') return `want ${decision.by}`;
  if (decision.do !== 'wait') return decision.do;
  if (decision.failed) return 'wait failed';
  // A node that has to leave waits for room, unless its compute cannot be asked for its files.
  return reach === 'connected' || leaving === 'lost' ? 'wait room' : `wait ${reach}`;
}

/** Kinds of trouble after which requests may arrive long after they were sent. */
const late: readonly Trouble[] = ['cut', 'freeze', 'compute_freeze'];
/** Kinds of trouble after which requests may arrive whose senders have given up. */
const cutsOff: readonly Trouble[] = ['reset', 'compute_kill', 'kill', 'power_cut', 'restart', 'slice_end'];

/** Longest time between a failure and what it has delayed. */
export const longestDelayMs = 200_000;

/** Times at which something of each kind went wrong last in a play. */
export class PastTroubles {
  readonly #times = new Map<Trouble, number>();
  /** Number of decisions. The key is `ROW\tTROUBLE`. */
  readonly counts = new Map<string, number>();

  note(trouble: Trouble, now: number): void {
    this.#times.set(trouble, now);
  }

  /** Whether there was trouble shortly before that time, or after it, that delays requests; `also`: or cuts their senders off. */
  delayedRequests(at: number, { also }: { readonly also?: 'cut_off' } = {}): boolean {
    const kinds = also ? [...late, ...cutsOff] : late;
    return kinds.some((trouble) => (this.#times.get(trouble) ?? Number.NEGATIVE_INFINITY) > at - longestDelayMs);
  }

  count(row: DecisionRow, now: number): void {
    for (const [trouble, at] of this.#times) {
      if (at < now - 60_000) continue;
      const key = `${row}\t${trouble}`;
      this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    }
  }
}
