/** The history of a project, step by step. */
import type { History, HistoryEntry } from '../../src/schema/history.ts';
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { linesOf, wordOf } from './activity-fields.ts';
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
  /** Changed fields, from what to what. */
  readonly details: readonly string[];
  /** Whether the step reverted another one. */
  readonly isRevert: boolean;
  /** The project was rewound in it, which is undone in a request of its own. */
  readonly isRewind: boolean;
  /** Whether undo can revert the step. */
  readonly isUndoable: boolean;
  /** The step was undone. */
  readonly isGone: boolean;
  /** Nodes that it made. */
  readonly made: ReadonlySet<string>;
}

export type LoadedHistory = Pick<History, 'entries' | 'undoable'>;

/**
 * Adds the newest entries to those that are known. Undefined when all must be read again: there are others between them, or the new
 * ones change whether older steps can be undone.
 */
export function joinHistory(known: LoadedHistory, newest: LoadedHistory): LoadedHistory | undefined {
  const last = known.entries[0]?.seq ?? 0;
  const fresh = newest.entries.filter(({ seq }) => seq > last);
  const isJoined = fresh.length < newest.entries.length || fresh.length === 0;
  if (!isJoined || fresh.some(({ inverts, action }) => inverts !== null || action === 'project.rewound')) return undefined;
  return { entries: [...fresh, ...known.entries], undoable: [...new Set([...newest.undoable, ...known.undoable])] };
}

/** `nameOf`: the name of a link, which the history does not have. */
export function activitySteps({ entries, undoable }: LoadedHistory, nameOf: (id: string) => string): ActivityStep[] {
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
    const isUndoable = step !== null && known.has(step);
    return [
      {
        ...{ seq, step, at },
        by: nameOfClient(by),
        words: inverts === null ? own : activityTexts.reverted(words.get(inverts) ?? own),
        details: detailsOf(group, nameOf),
        isRevert: inverts !== null,
        isRewind: first.action === 'project.rewound',
        isUndoable,
        isGone: step !== null && !isUndoable && inverts === null,
        made: new Set(group.flatMap(({ action, id }) => (action === 'node.created' ? [id] : []))),
      },
    ];
  });
}

function wordsOf(group: readonly HistoryEntry[], nameOf: (id: string) => string): string {
  const sortOf = (entry: HistoryEntry) => `${entry.action.replace('.deleting', '.deleted')} ${wordOf(entry) ?? ''}`;
  const parts = Array.from(Map.groupBy(group.toReversed(), sortOf), ([sort, entries]) => {
    const ids = new Map(entries.map(({ id, name }) => [id, name ?? nameOf(id)]));
    const [action = '', word] = sort.split(' ');
    return activityTexts.action(action, [...ids.values()], ids.size, word);
  });
  return parts.map((part, place) => (place === 0 ? part : `${part.charAt(0).toLowerCase()}${part.slice(1)}`)).join(', ');
}

/** Lines of details of one step. */
const mostLines = 6;

function detailsOf(group: readonly HistoryEntry[], nameOf: (id: string) => string): string[] {
  const isOne = new Set(group.map(({ id }) => id)).size === 1;
  const lines = group.toReversed().flatMap((entry) => {
    const name = isOne ? '' : (entry.name ?? nameOf(entry.id));
    return linesOf(entry).map((line) => (name ? activityTexts.ofObject(name, line) : line));
  });
  if (lines.length <= mostLines) return lines;
  return [...lines.slice(0, mostLines - 1), activityTexts.moreFields(lines.length - mostLines + 1)];
}

/** Browsers by their word in a User-Agent; each is looked for before those whose words it has, too. */
const browsers = ['Firefox', 'Edg', 'OPR', 'Chrome', 'Safari'];
const shownNames: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera' };

/** Names a browser, and shortens another User-Agent to its first product. */
function nameOfClient(by: string | null): string {
  if (by === null) return activityTexts.unknown;
  if (by.startsWith('Mozilla/')) {
    const found = browsers.find((name) => by.includes(`${name}/`));
    return activityTexts.browser(found && (shownNames[found] ?? found));
  }
  return /^[\w.-]+\/[\d.]+/.exec(by)?.[0] ?? by;
}

/** Whether a node has memory that its deletion loses. */
export function isRunning({ server }: App, project: ProjectState, nodeId: string): boolean {
  const node = project.nodes.peek(nodeId);
  return node !== undefined && node.status !== 'stopped' && !server.kinds.peek().get(node.node_type)?.always_running;
}
