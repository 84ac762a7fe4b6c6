/** The steps that can be redone, the last that was undone on top. A new step drops those that it is in the way of. */
import { reachOf } from './step-reach.ts';
import type { Step } from './steps.ts';

type StepIndex = Map<string | null, Set<Step>>;

export class RedoPile {
  /** Steps in the order in which they were undone. */
  readonly #steps = new Set<Step>();
  readonly #byId = new Map<number, Step>();
  readonly #claims: StepIndex = new Map();
  readonly #makes: StepIndex = new Map();
  readonly #needs: StepIndex = new Map();
  readonly #requesters: StepIndex = new Map();
  /** Whether the undo of a rewind was pushed: it concerns all. */
  #isOfAll = false;

  get steps(): Step[] {
    return [...this.#steps];
  }

  push(step: Step): void {
    const { claims, makes, needs, isAll } = reachOf(step.records);
    this.#isOfAll ||= isAll;
    this.#steps.add(step);
    this.#byId.set(step.id, step);
    addAll(this.#claims, claims, step);
    addAll(this.#makes, makes, step);
    addAll(this.#needs, needs, step);
    addAll(this.#requesters, [requesterOf(step)], step);
  }

  /** Takes a step off the pile, wherever it is. @returns whether it was there */
  take(id: number): boolean {
    const step = this.#byId.get(id);
    return step !== undefined && this.#steps.delete(step);
  }

  /** Drops what the requester of a new step has undone, and what `areEntangled` with it. */
  dropFor(step: Step): void {
    if (this.#steps.size === 0) return;
    const { claims, makes, needs, isAll } = reachOf(step.records);
    const by = requesterOf(step);
    if (isAll || this.#isOfAll || by === null) {
      this.#steps.clear();
      this.#isOfAll = false;
    } else {
      this.#drop(this.#requesters, [by, null]);
      this.#drop(this.#claims, claims);
      this.#drop(this.#makes, needs);
      this.#drop(this.#needs, makes);
    }
  }

  #drop(index: StepIndex, ids: Iterable<string | null>): void {
    for (const id of ids) {
      for (const step of index.get(id) ?? []) this.#steps.delete(step);
      index.delete(id);
    }
  }
}

function addAll(index: StepIndex, ids: Iterable<string | null>, step: Step): void {
  for (const id of ids) index.set(id, (index.get(id) ?? new Set()).add(step));
}

function requesterOf({ records: [record] }: Step): string | null {
  return record?.by ?? null;
}
