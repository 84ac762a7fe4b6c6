/** Limits of the sessions that have one project open. The page loads this file too, so it imports nothing. */
export const presenceLimits = { sessions: 32, selected: 100, nameLength: 40, messageBytes: 8192 } as const;
/** Pattern of the ids of nodes, links and drawings. */
export const presenceIdPattern = '^[0-9a-fA-F-]{36}$';
