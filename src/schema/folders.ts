/** Names in a project's folder that controller and compute both know, and what of it clients may write. */
import { isUuid } from './common.ts';

/** Folders of deleted nodes, by node id. The leading dot keeps it out of copies. */
export const deletedNodesFolder = '.deleted-nodes';
/** Folders that are being filled or removed begin so. */
export const stagingPrefix = '.patchbay-';

/** Memory of machines, by snapshot id. The leading dot keeps it out of copies and archives. */
export const memoryFolder = '.memory';
/** Beside the memory of a snapshot: what was in the links. */
export const savedLinksName = 'links';
/** In a project's folder: what its links are to hold when its nodes run. */
export const resumedLinksName = `${stagingPrefix}links`;
/** In a project's folder: memory of machines on its way to their folders. */
export const keptMemoryName = `${stagingPrefix}keep`;
/** In the folder of a node: the memory that it continues from at its next start. */
export const savedMemoryName = 'saved-memory';
/** In that folder: the name of the template that the memory comes from. A node that cannot continue from such memory starts cold. */
export const memorySourceName = 'template';

/** In the folder of a running machine: copies of its disks that its controller copies in turn. */
export const diskCopyPrefix = `${stagingPrefix}copy-`;

/** Directly in the project's folder. Copies of `project-files` and uploads grow under the last two names. */
const ownNames = /^(?:snapshots|tmp|\.deleted-nodes|\.memory|\.patchbay-.*|\.project-files\..*|\.[0-9a-f]{12}\.tmp)$/;
/** Project file, log, history, and what comes and goes beside them. */
const projectFile = /\.gns3(?:\..*)?$/i;

/** Whether a path in the folder of a node, by its names, is the server's alone. Anywhere in it, as links may lead to it. */
export function isOwnInNode(names: readonly string[]): boolean {
  // QEMU trusts what it restores.
  return names.some((name) => name === savedMemoryName || name.startsWith(diskCopyPrefix));
}

/**
 * Why clients may not write a file at this place of a project; undefined when they may. `path`: relative, normalised. Below
 * `project-files` only files in the folder of a node and pictures of drawings may be written; beside it, what the server does not use.
 */
export function writeProblem(path: string, kindFolders: ReadonlySet<string>): string | undefined {
  const parts = path.split('/');
  if (isOwnInNode(parts)) return 'the server keeps the memory of machines, or copies of disks, there';
  const [top = '', kind = '', node = '', ...inNode] = parts;
  if (top === 'project-files') {
    const isPicture = kind === 'images' && node !== '' && !node.startsWith('.') && inNode.length === 0;
    const isNodeFile = kindFolders.has(kind) && isUuid(node) && inNode.length > 0;
    return isPicture || isNodeFile ? undefined : 'below project-files, only files in the folder of a node can be written';
  }
  if (ownNames.test(top)) return 'the server keeps its own files there';
  return kind === '' && projectFile.test(top) ? 'the server writes the project itself' : undefined;
}
