/** Which steps of a project can be undone and redone, as its records tell. */
import type { LogRecord } from './records.ts';

export interface Step {
  /** Number of its first change. */
  readonly id: number;
  readonly records: readonly LogRecord[];
}

export interface Steps {
  /** The last is taken back first. */
  readonly undo: readonly Step[];
  readonly redo: readonly Step[];
}

/**
 * To undo and to redo is the same: to take back the changes of a step, by a step that says which one, and that comes to lie on the
 * other pile. A step that took nothing back leaves nothing to redo. One whose first changes are forgotten cannot be taken back.
 */
export function stepsOf(records: readonly LogRecord[]): Steps {
  const undo: Step[] = [];
  const redo: Step[] = [];
  for (const step of group(records)) {
    const { inverts } = step.records[0] as LogRecord;
    if (inverts === undefined) {
      undo.push(step);
      redo.length = 0;
      continue;
    }
    const [from, to] = undo.some(({ id }) => id === inverts) ? [undo, redo] : [redo, undo];
    const taken = remove(from, inverts);
    if (taken) to.push(step);
  }
  return { undo, redo };
}

/** Steps of which everything is remembered, in order. */
function group(records: readonly LogRecord[]): Step[] {
  const steps = new Map<number, LogRecord[]>();
  for (const record of records) {
    if (record.step === record.seq) steps.set(record.step, [record]);
    else if (record.step !== undefined) steps.get(record.step)?.push(record);
  }
  return Array.from(steps, ([id, ofStep]) => ({ id, records: ofStep }));
}

function remove(pile: Step[], id: number): Step | undefined {
  const index = pile.findIndex((step) => step.id === id);
  return index < 0 ? undefined : pile.splice(index, 1)[0];
}
