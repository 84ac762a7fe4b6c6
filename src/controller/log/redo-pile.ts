/**
 * The steps that can be redone, the last that was undone on top. Those above were made before those below: a step that goes, because a new
 * one is in its way, takes those below along that it is in the way of.
 */
import { type Reach, reachOf } from './step-reach.ts';
import type { Step } from './steps.ts';

interface UndoneStep {
  readonly step: Step;
  /** Number of steps that were pushed before. */
  readonly place: number;
  readonly reach: Reach;
}

type StepIndex = Map<string | null, Set<UndoneStep>>;

export class RedoPile {
  readonly #undone = new Map<number, UndoneStep>();
  readonly #claims: StepIndex = new Map();
  readonly #makes: StepIndex = new Map();
  readonly #needs: StepIndex = new Map();
  readonly #requesters: StepIndex = new Map();
  #pushed = 0;
  /** Whether the undo of a rewind was pushed: it is about everything. */
  #isOfAll = false;

  /** Steps in the order in which they were undone. */
  get steps(): Step[] {
    return Array.from(this.#undone.values(), ({ step }) => step);
  }

  push(step: Step): void {
    const reach = reachOf(step.records);
    const undone = { step, place: this.#pushed, reach };
    this.#pushed += 1;
    this.#isOfAll ||= reach.isAll;
    this.#undone.set(step.id, undone);
    addAll(this.#claims, reach.claims, undone);
    addAll(this.#makes, reach.makes, undone);
    addAll(this.#needs, reach.needs, undone);
    addAll(this.#requesters, [requesterOf(step)], undone);
  }

  /** Takes a step off the pile, wherever it is. @returns whether it was there */
  take(id: number): boolean {
    return this.#undone.delete(id);
  }

  /** Drops what the requester of a new step has undone, and what `areEntangled` with it. */
  dropFor(step: Step): void {
    if (this.#undone.size === 0) return;
    const reach = reachOf(step.records);
    const by = requesterOf(step);
    if (reach.isAll || this.#isOfAll || by === null) {
      this.#undone.clear();
      this.#isOfAll = false;
      return;
    }
    const own = [by, null].flatMap((requester) => [...(this.#requesters.get(requester) ?? [])]);
    const left = [...own, ...this.#entangledWith(reach)].sort((one, other) => one.place - other.place);
    for (let undone = left.pop(); undone; undone = left.pop()) {
      if (this.#undone.delete(undone.step.id)) left.push(...this.#entangledWith(undone.reach, undone.place));
    }
  }

  /** Removes from the indexes, and returns, those below a place that are entangled with a step; without a place all of them. */
  #entangledWith({ claims, makes, needs }: Reach, place = Number.POSITIVE_INFINITY): UndoneStep[] {
    return [...takeAll(this.#claims, claims, place), ...takeAll(this.#makes, needs, place), ...takeAll(this.#needs, makes, place)];
  }
}

function addAll(index: StepIndex, ids: Iterable<string | null>, undone: UndoneStep): void {
  for (const id of ids) index.set(id, (index.get(id) ?? new Set()).add(undone));
}

function takeAll(index: StepIndex, ids: Iterable<string>, place: number): UndoneStep[] {
  const taken: UndoneStep[] = [];
  for (const id of ids) {
    const undone = index.get(id) ?? new Set();
    for (const one of undone) if (one.place < place && undone.delete(one)) taken.push(one);
  }
  return taken;
}

function requesterOf({ records: [record] }: Step): string | null {
  return record?.by ?? null;
}
