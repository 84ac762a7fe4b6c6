/** Ranges of the text that describe nodes and links: each moves with the text, and is marked for the selection of the canvas. */
import { type EditorState, RangeSet, RangeSetBuilder, RangeValue, StateEffect, StateField, type Text } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view';
import type { LabPlanReply } from '../../../src/schema/lab.ts';

type ItemLines = LabPlanReply['lines'][number];

class ItemRange extends RangeValue {
  readonly ids: readonly string[];
  constructor(ids: readonly string[]) {
    super();
    this.ids = ids;
  }
}

/** Sets the lines of all items. */
export const setItems = StateEffect.define<readonly ItemLines[]>();
/** Sets the ids of the marked items. */
export const setMarked = StateEffect.define<ReadonlySet<string>>();

const ranges = StateField.define<RangeSet<ItemRange>>({
  create: () => RangeSet.empty,
  update: (set, transaction) => {
    const items = transaction.effects.find((effect) => effect.is(setItems));
    return items ? rangesOf(items.value, transaction.newDoc) : set.map(transaction.changes);
  },
});

const marked = StateField.define<ReadonlySet<string>>({
  create: () => new Set(),
  update: (ids, { effects }) => effects.find((effect) => effect.is(setMarked))?.value ?? ids,
});

/** Items of one range have the same lines. */
function rangesOf(items: readonly ItemLines[], doc: Text): RangeSet<ItemRange> {
  const byLines = Map.groupBy(
    items.filter(({ id, end }) => id !== null && end <= doc.lines),
    ({ line, end }) => `${line} ${end}`,
  );
  const found = Array.from(byLines.values(), ([first, ...others]) => {
    const { line, end } = first as ItemLines;
    return { from: doc.line(line).from, to: doc.line(end).to, ids: [first, ...others].flatMap((item) => item?.id ?? []) };
  });
  const builder = new RangeSetBuilder<ItemRange>();
  for (const { from, to, ids } of found.toSorted((one, other) => one.from - other.from || one.to - other.to))
    builder.add(from, to, new ItemRange(ids));
  return builder.finish();
}

/** Returns the ids of the items at a position; none where the text describes none that exists. */
export function idsAt(state: EditorState, position: number): readonly string[] {
  const found: string[] = [];
  state.field(ranges).between(position, position, (_from, _to, { ids }) => {
    found.push(...ids);
  });
  return found;
}

/** Returns the beginning of the first marked item. */
export function firstMarked(state: EditorState): number | undefined {
  const ids = state.field(marked);
  let first: number | undefined;
  state.field(ranges).between(0, state.doc.length, (from, _to, item) => {
    if (!item.ids.some((id) => ids.has(id))) return undefined;
    first = from;
    return false;
  });
  return first;
}

const markedLine = Decoration.line({ class: 'marked-line' });

function decorationsOf(state: EditorState): DecorationSet {
  const ids = state.field(marked);
  if (ids.size === 0) return Decoration.none;
  const starts = new Set<number>();
  state.field(ranges).between(0, state.doc.length, (from, to, item) => {
    if (!item.ids.some((id) => ids.has(id))) return;
    for (let at = from; at <= to; ) {
      const line = state.doc.lineAt(at);
      starts.add(line.from);
      at = line.to + 1;
    }
  });
  return Decoration.set([...starts].sort((one, other) => one - other).map((start) => markedLine.range(start)));
}

export const itemRanges = [ranges, marked, EditorView.decorations.compute([ranges, marked], decorationsOf)];
