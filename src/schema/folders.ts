/** Names in a project's folder that controller and compute both know. */

/** Folders of deleted nodes, by node id. The leading dot keeps it out of copies. */
export const deletedNodesFolder = '.deleted-nodes';
