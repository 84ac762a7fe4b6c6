/** Reverts changes: first it is checked whether that can be done, then each is followed by its opposite, the last one first. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Outlook, RevertTarget } from '../../log/actions/action-rules.ts';
import { conflictOf, invertChange } from '../../log/actions/actions.ts';
import type { LogRecord } from '../../log/records.ts';

/** So many are reverted before other requests have their turn: a move waits for nothing else. */
const recordsPerTurn = 100;

/** Why the changes cannot be reverted as things are now, for people; undefined when they can. */
export function findConflict(records: readonly LogRecord[], project: RevertTarget): string | undefined {
  const outlook = outlookOn(project);
  for (const record of records.toReversed()) {
    const reason = conflictOf(outlook, record);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

export async function revertRecords(records: readonly LogRecord[], project: RevertTarget): Promise<void> {
  for (const [index, record] of records.toReversed().entries()) {
    if (index % recordsPerTurn === recordsPerTurn - 1) await turn();
    await invertChange(project, record);
  }
}

function outlookOn(project: RevertTarget): Outlook {
  const exists = new Map<string, boolean>();
  return {
    project,
    willExist: (id) => exists.get(id),
    expect: (id, will) => exists.set(id, will),
    isSeen: (id) => {
      if (exists.has(id)) return true;
      exists.set(id, true);
      return false;
    },
  };
}
