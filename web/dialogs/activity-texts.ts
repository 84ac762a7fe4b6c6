/** Texts of the activity log, loaded with it. */
const plural = (count: number, one: string, several: string) => `${count.toLocaleString('en')} ${count === 1 ? one : several}`;

/** Verbs of actions: `node.created`. */
const verbs: Readonly<Record<string, string>> = { created: 'Added', updated: 'Changed', deleted: 'Deleted', deleting: 'Deleted' };
const things: Readonly<Record<string, readonly [one: string, several: string]>> = {
  node: ['node', 'nodes'],
  link: ['link', 'links'],
  drawing: ['drawing', 'drawings'],
  project: ['the project', 'projects'],
  snapshot: ['snapshot', 'snapshots'],
};

export const activityTexts = {
  title: 'Activity',
  empty: 'Nothing was changed yet.',
  more: 'Show earlier changes',
  undoToHere: 'Undo to here',
  undoToHereOf: (what: string) => `Undo to here: ${what}`,
  undone: 'undone',
  now: 'now',
  by: (name: string) => `by ${name}`,
  browser: 'the page',
  unknown: 'unknown',
  reverted: (what: string) => `Reverted: ${what}`,
  earlier: 'an earlier change',
  /** "Added R1", "Changed 29 nodes, deleted 2 links". */
  action: (action: string, names: readonly string[], count: number) => {
    const [kind = '', happened = ''] = action.split('.');
    const [one, several] = things[kind] ?? [kind, kind];
    const verb = verbs[happened] ?? happened;
    const [name] = names;
    if (action === 'project.rewound') return `Rewound to “${name ?? ''}”`;
    if (kind === 'project') return `${verb} the settings`;
    if (count === 1) return `${verb} ${name || one}`;
    return `${verb} ${plural(count, one, several)}`;
  },
  ask: (steps: number, items: number) => ({
    title: `Undo ${plural(steps, 'change', 'changes')}?`,
    text: `${plural(items, 'item is', 'items are')} affected. Redo brings the changes back one by one.`,
    yes: 'Undo',
  }),
} as const;
