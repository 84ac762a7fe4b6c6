/** Derives from a project's records which of its steps can be undone and redone. */
import type { Action, LogRecord } from './records.ts';
import { RedoPile } from './redo-pile.ts';

export interface Step {
  /** Number of its first change. */
  readonly id: number;
  readonly records: readonly LogRecord[];
}

export interface TouchedThing {
  readonly sort: 'nodes' | 'links' | 'drawings';
  readonly id: string;
}

export interface Steps {
  /** The last is reverted first. */
  readonly undo: readonly Step[];
  readonly redo: readonly Step[];
}

/**
 * Derives the piles. `kept`: ids of the presents that are kept; a rewind without one cannot be reverted, nor can what was done before it.
 *
 * Undo and redo do the same: they revert the changes of a step, by a step that names it (`inverts`) and is put on the other pile.
 * A new step leaves nothing to redo that the same requester undid, or that is entangled with it; a redo that was under way then is a new
 * step, too. A step whose first changes are forgotten cannot be reverted.
 */
export function stepsOf(records: readonly LogRecord[], kept: ReadonlySet<string> = new Set()): Steps {
  const undo: Step[] = [];
  const redo = new RedoPile();
  /** Ids of the steps of `undo`. */
  const undoable = new Set<number>();
  const remembered = new Set<number>();
  for (const step of group(records)) {
    const { inverts } = step.records[0] as LogRecord;
    const isUndo = inverts !== undefined && undoable.delete(inverts);
    const isTaken = inverts !== undefined && (isUndo ? remove(undo, inverts) !== undefined : redo.take(inverts));
    const isForgotten = inverts !== undefined && !remembered.has(inverts);
    remembered.add(step.id);
    if (isForgotten) continue;
    if (isUndo) {
      redo.push(step);
      continue;
    }
    if (!isTaken) redo.dropFor(step);
    undo.push(step);
    undoable.add(step.id);
  }
  return { undo: reachable(undo, kept), redo: reachable(redo.steps, kept) };
}

/** Id of the present that a step of a rewind kept; null: none. Undefined for other steps. */
export function keptBy({ records: [record] }: Step): string | null | undefined {
  return record?.action === 'project.rewound' ? record.event.kept : undefined;
}

/** The steps of a pile after the last rewind without a kept present. */
function reachable(pile: Step[], kept: ReadonlySet<string>): Step[] {
  const isBarrier = (id: string | null | undefined) => id !== undefined && !(id !== null && kept.has(id));
  return pile.slice(pile.findLastIndex((step) => isBarrier(keptBy(step))) + 1);
}

/**
 * Steps of which everything is remembered, in the order in which they began. Steps of two clients may run side by side: one that changed
 * a thing after another had changed it is above that one, as the last change is reverted first.
 */
function group(records: readonly LogRecord[]): Step[] {
  const steps: PlacedStep[] = [];
  const byId = new Map<number, PlacedStep>();
  let touched: Map<string, Set<PlacedStep>> | undefined;
  for (const record of records) {
    if (record.step === undefined) continue;
    const isFirst = record.step === record.seq;
    const step = isFirst ? { id: record.step, records: [], place: steps.length } : byId.get(record.step);
    if (!step) continue;
    step.records.push(record);
    if (isFirst) {
      byId.set(step.id, step);
      steps.push(step);
    }
    const isTop = steps.at(-1) === step;
    if (touched) note(touched, step, record);
    // Steps side by side are rare: what each has touched is looked up from the first such step on.
    else if (!isTop) touched = touchedBy(steps);
    if (!isTop) raise(steps, step, touched?.get(subjectOf(record)?.id ?? ''));
  }
  return steps;
}

interface PlacedStep extends Step {
  readonly records: LogRecord[];
  /** Index among the steps. */
  place: number;
}

/** Collects by the ids of things which steps have changed them. */
function touchedBy(steps: readonly PlacedStep[]): Map<string, Set<PlacedStep>> {
  const touched = new Map<string, Set<PlacedStep>>();
  for (const step of steps) for (const record of step.records) note(touched, step, record);
  return touched;
}

function note(touched: Map<string, Set<PlacedStep>>, step: PlacedStep, record: LogRecord): void {
  const id = subjectOf(record)?.id;
  if (id !== undefined) touched.set(id, (touched.get(id) ?? new Set()).add(step));
}

/** Puts a step above those that have changed the thing before, `others`. */
function raise(steps: PlacedStep[], step: PlacedStep, others: ReadonlySet<PlacedStep> | undefined): void {
  const from = step.place;
  let to = from;
  for (const { place } of others ?? []) to = Math.max(to, place);
  if (to === from) return;
  steps.copyWithin(from, from + 1, to + 1);
  steps[to] = step;
  for (const [at, moved] of steps.slice(from, to + 1).entries()) moved.place = from + at;
}

/** Returns the node, link or drawing that a record changed; undefined for other changes. */
export function subjectOf({ action, event }: LogRecord): TouchedThing | undefined {
  const sort = sortOf(action);
  if (!sort) return undefined;
  const { node_id, link_id, drawing_id } = event as Readonly<Record<string, string | undefined>>;
  const id = { nodes: node_id, links: link_id, drawings: drawing_id }[sort];
  return id === undefined ? undefined : { sort, id };
}

function sortOf(action: Action): TouchedThing['sort'] | undefined {
  if (action === 'node.deleting') return undefined;
  if (action.startsWith('node.')) return 'nodes';
  if (action.startsWith('link.')) return 'links';
  return action.startsWith('drawing.') ? 'drawings' : undefined;
}

/**
 * The records from index `from` on, and those before them that the steps among these need: a step is kept whole, and one that undid
 * another with that one, or it could not be redone. No more than `most` are kept for it.
 */
export function keepSteps(records: readonly LogRecord[], from: number, most: number): LogRecord[] {
  const begins = new Map<number, number>();
  const kinds = new Map<number, 'do' | 'undo' | 'redo'>();
  for (const [index, { seq, step, inverts }] of records.entries()) {
    if (step !== seq) continue;
    begins.set(step, index);
    const inverted = inverts === undefined ? undefined : kinds.get(inverts);
    if (inverts === undefined) kinds.set(step, 'do');
    else if (inverted) kinds.set(step, inverted === 'undo' ? 'redo' : 'undo');
  }
  let first = from;
  const include = (step: number | undefined) => {
    const index = step === undefined ? undefined : begins.get(step);
    if (index !== undefined && index < first && records.length - index <= most) first = index;
  };
  for (let index = records.length - 1; index >= first; index--) {
    const { step, inverts } = records[index] as LogRecord;
    include(step);
    if (step !== undefined && kinds.get(step) === 'undo') include(inverts);
  }
  return records.slice(first).map((record) => {
    const { step, inverts, ...rest } = record;
    if (step === undefined || inverts === undefined || kinds.get(step) !== 'redo') return record;
    // The step that this record redid is no longer in the history: the record becomes a first step, which undo reverts.
    return (begins.get(inverts) ?? -1) < first ? ({ ...rest, step } as LogRecord) : record;
  });
}

function remove(pile: Step[], id: number): Step | undefined {
  // Usually the last one.
  const index = pile.findLastIndex((step) => step.id === id);
  return index < 0 ? undefined : pile.splice(index, 1)[0];
}
