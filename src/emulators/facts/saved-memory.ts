/** Where the memory of a machine waits for its next start: a folder in the node's own. */
export const savedMemoryName = 'saved-memory';
