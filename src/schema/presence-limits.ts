/** Limits of sessions that have a project open, of one project. The page has them, too: nothing is imported here. */
export const presenceLimits = { sessions: 32, selected: 100, nameLength: 40, messageBytes: 8192 } as const;
/** Ids of nodes, links and drawings. */
export const presenceIdPattern = '^[0-9a-fA-F-]{36}$';
