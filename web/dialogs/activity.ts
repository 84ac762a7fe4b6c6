/** The history of a project, step by step. */
import type { History, HistoryEntry } from '../../src/schema/history.ts';
import { activityTexts } from './activity-texts.ts';

/** The changes of one request. */
export interface ActivityStep {
  /** Number of the step's last change. */
  readonly seq: number;
  /** Null: undo does not know it. */
  readonly step: number | null;
  readonly at: string;
  readonly by: string;
  readonly words: string;
  /** Whether the step reverted another one. */
  readonly isRevert: boolean;
  /** The project was rewound in it, which is undone in a request of its own. */
  readonly isRewind: boolean;
  /** Whether undo can revert the step. */
  readonly isUndoable: boolean;
  /** Objects that it changed. */
  readonly ids: ReadonlySet<string>;
}

/** `nameOf`: the name of a link, which the history does not have. */
export function activitySteps(
  { entries, undoable }: Pick<History, 'entries' | 'undoable'>,
  nameOf: (id: string) => string,
): ActivityStep[] {
  const groups: HistoryEntry[][] = [];
  for (const entry of entries) {
    const group = groups.at(-1);
    if (group && entry.step !== null && group[0]?.step === entry.step) group.push(entry);
    else groups.push([entry]);
  }
  const words = new Map(groups.map((group) => [group[0]?.step ?? 0, wordsOf(group, nameOf)]));
  const known = new Set(undoable);
  return groups.flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { seq, step, at, by, inverts } = first;
    const own = wordsOf(group, nameOf);
    return [
      {
        ...{ seq, step, at },
        by: nameOfClient(by),
        words: inverts === null ? own : activityTexts.reverted(words.get(inverts) ?? own),
        isRevert: inverts !== null,
        isRewind: first.action === 'project.rewound',
        isUndoable: step !== null && known.has(step),
        ids: new Set(group.map(({ id }) => id)),
      },
    ];
  });
}

function wordsOf(group: readonly HistoryEntry[], nameOf: (id: string) => string): string {
  const byAction = Map.groupBy(group.toReversed(), ({ action }) => action.replace('.deleting', '.deleted'));
  const parts = Array.from(byAction, ([action, entries]) => {
    const ids = new Map(entries.map(({ id, name }) => [id, name ?? nameOf(id)]));
    return activityTexts.action(action, [...ids.values()], ids.size);
  });
  return parts.map((part, place) => (place === 0 ? part : `${part.charAt(0).toLowerCase()}${part.slice(1)}`)).join(', ');
}

/** Shortens a User-Agent to its first product. */
function nameOfClient(by: string | null): string {
  if (by === null) return activityTexts.unknown;
  return by.startsWith('Mozilla/') ? activityTexts.browser : (/^[\w.-]+\/[\d.]+/.exec(by)?.[0] ?? by);
}
