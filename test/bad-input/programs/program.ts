/** Programs of API calls and troubles of the host, drawn from a seed and short enough to be read. */
import { makeChance } from '../../durability/random.ts';

/** Requests of a client and how often each is drawn, relative to the others. */
export const verbs = {
  ...{ make_project: 3, set_project: 2, close: 1, open: 3, delete_project: 2, duplicate: 2, import: 3, fork: 3 },
  ...{ add_node: 12, move: 5, rename: 3, copy_node: 2, delete_node: 5, migrate: 4, bulk: 4, delete_many: 3, lock: 2, apply: 2 },
  ...{ start: 10, stop: 6, reload: 2, suspend: 2, start_all: 4, stop_all: 3 },
  ...{ link: 12, unlink: 5, impair: 8, schedule: 3, rewire: 3, mirror: 3, capture: 6, stop_capture: 4 },
  ...{ draw: 3, redraw: 2, erase: 2, snapshot: 4, freeze: 4, rewind: 5, fork_snapshot: 3, delete_snapshot: 2 },
  ...{ undo: 8, redo: 5, undo_one: 6, redo_one: 4, undo_all: 2 },
} as const;
/**
 * Troubles of the host. `kill` ends the server while clients wait for answers, `crash` when all have theirs; `fill` and `cut` last a few
 * steps.
 */
export const troubles = { kill: 3, crash: 3, restart: 2, fill: 3, cut: 3, kill_away: 2 } as const;

export type Verb = keyof typeof verbs;
export type Trouble = keyof typeof troubles;

export interface Step {
  /** Number of the client, from 0; of no meaning for troubles. */
  readonly client: number;
  readonly what: Verb | Trouble;
  /** Decides all that the step chooses. */
  readonly of: number;
}

export interface Program {
  readonly seed: number;
  readonly steps: readonly Step[];
}

export const clientCount = 3;
/** Every program begins with them, so that there is something to work on. */
const opening: readonly Verb[] = ['make_project', 'add_node', 'add_node', 'add_node', 'link', 'start_all'];

export const isTrouble = (what: Step['what']): what is Trouble => Object.hasOwn(troubles, what);

export function makeProgram(seed: number): Program {
  const chance = makeChance(Math.imul(seed, 0x9e3779b1) ^ 0x2545f491);
  const draw = <T extends string>(weights: Readonly<Record<T, number>>, usual: readonly T[]): T | undefined => {
    let left = chance.next() * usual.reduce((sum, name) => sum + weights[name], 0);
    return usual.find((name) => {
      left -= weights[name];
      return left < 0;
    });
  };
  const some = <T extends string>(weights: Readonly<Record<T, number>>, share: number) =>
    (Object.keys(weights) as T[]).filter(() => chance.next() < share);
  // Subsets differ by program: some requests and troubles come often, and others never.
  const usual = [...opening, ...some(verbs, 0.5)];
  const usualTroubles = some(troubles, 0.4);
  const count = chance.between(10, 40);
  const of = () => chance.between(0, 999);
  const steps: Step[] = opening.map((what) => ({ client: 0, what, of: of() }));
  while (steps.length < opening.length + count) {
    const what = (chance.next() < 0.08 ? draw(troubles, usualTroubles) : undefined) ?? draw(verbs, usual) ?? 'add_node';
    steps.push({ client: chance.between(0, clientCount - 1), what, of: of() });
  }
  return { seed, steps };
}
