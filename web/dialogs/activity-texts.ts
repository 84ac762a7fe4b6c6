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

/** Verbs of changes of one sort. */
const words: Readonly<Record<string, string>> = {
  moved: 'Moved',
  renamed: 'Renamed',
  suspended: 'Suspended',
  resumed: 'Resumed',
  redrawn: 'Redrew',
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
  browser: (program: string | undefined) => (program === undefined ? 'a browser' : `someone in ${program}`),
  unknown: 'unknown',
  reverted: (what: string) => `Reverted: ${what}`,
  earlier: 'an earlier change',
  /** "Added R1", "Changed 29 nodes, deleted 2 links". */
  action: (action: string, names: readonly string[], count: number, word?: string) => {
    const [kind = '', happened = ''] = action.split('.');
    const [one, several] = things[kind] ?? [kind, kind];
    const verb = (word ? words[word] : undefined) ?? verbs[happened] ?? happened;
    const [name] = names;
    if (action === 'project.rewound') return `Rewound to “${name ?? ''}”`;
    if (kind === 'project') return `${verb} the settings`;
    if (count === 1) return `${verb} ${name || one}`;
    return `${verb} ${plural(count, one, several)}`;
  },
  change: (field: string, from: string, to: string) => `${field}: ${from} → ${to}`,
  oneWay: (label: string, way: string) => `${label}, ${way === 'ab' ? 'first to second' : 'second to first'}`,
  ofObject: (name: string, line: string) => `${name} · ${line}`,
  moreFields: (count: number) => `and ${plural(count, 'more change', 'more changes')}`,
  none: 'none',
  on: 'on',
  off: 'off',
  /** Labels of filters, and the unit of each value. */
  filters: {
    delay: { label: 'Latency, each way', units: [' ms', ' ms jitter'] },
    latency: { label: 'Latency, each way', units: [' ms'] },
    jitter: { label: 'Jitter', units: [' ms'] },
    packet_loss: { label: 'Packet loss', units: [' %'] },
    burst_loss: { label: 'Burst loss', units: [' %', ' %', ' %', ' %'] },
    bandwidth: { label: 'Bandwidth', units: [' kbit/s'] },
    corrupt: { label: 'Corruption', units: [' %'] },
    duplicate: { label: 'Duplicates', units: [' %'] },
    reorder: { label: 'Reordering', units: [' %'] },
    bpf: { label: 'Packet filter', units: [] },
  } as Readonly<Record<string, { readonly label: string; readonly units: readonly string[] }>>,
  /** Labels of fields whose names are unclear. */
  fields: {
    suspend: 'Suspended',
    svg: 'Picture',
    console_type: 'Console',
    auto_close: 'Close without a client',
    first_port_name: 'Name of the first port',
  } as Readonly<Record<string, string>>,
  nothingOfYours: (verb: 'undo' | 'redo') => `There is nothing of yours to ${verb}. The changes of others are in Activity`,
  ask: (steps: number, running: number) => ({
    title: `Undo ${plural(steps, 'change', 'changes')}?`,
    text: `${plural(running, 'running node is', 'running nodes are')} deleted with what is in memory. Redo restores all else, one by one.`,
    yes: 'Undo',
  }),
} as const;
