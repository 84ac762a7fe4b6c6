/** Names in a project's folder that controller and compute share, and the paths that clients may write. */
import { isUuid } from './common.ts';

/** Folders of deleted nodes, by node id. The leading dot keeps it out of copies. */
export const deletedNodesFolder = '.deleted-nodes';
/** Prefix of folders that are being filled or removed. */
export const stagingPrefix = '.patchbay-';

/** Memory of machines, by snapshot id. The leading dot keeps it out of copies and archives. */
export const memoryFolder = '.memory';
/** Presents that were kept before rewinds, by their ids. The leading dot keeps it out of copies and archives. */
export const keptPresentsFolder = '.kept-presents';
/** File with the frames that were in the links, beside the memory of a snapshot. */
export const savedLinksName = 'links';
/** File in a project's folder with the frames that its links receive when its nodes run. */
export const resumedLinksName = `${stagingPrefix}links`;
/** Folder in a project's folder for machines' memory that is being moved to their folders. */
export const keptMemoryName = `${stagingPrefix}keep`;
/** Folder in a node's folder with the memory from which the node continues at its next start. */
export const savedMemoryName = 'saved-memory';
/** File in `project-files`, and in the memory of a snapshot, with the states of the nodes in the fabric, which continue from them likewise. */
export const savedStatesName = 'saved-states';
/**
 * File in that memory folder with the name of the memory's template. A node that cannot continue from a template's memory starts
 * cold.
 */
export const memorySourceName = 'template';

/** Prefix of the copies of disks in a running machine's folder, which the controller copies to its own disk. */
export const diskCopyPrefix = `${stagingPrefix}copy-`;

/**
 * Server files directly in the project's folder. The last two patterns are incomplete copies of `project-files` and incomplete
 * uploads.
 */
const ownNames =
  /^(?:snapshots|tmp|\.deleted-nodes|\.memory|\.kept-presents|\.patchbay-.*|\.project-files\..*|\.[0-9a-f]{12}\.tmp)$/;
/** Project file, log, history, and temporary files beside them. */
const projectFile = /\.gns3(?:\..*)?$/i;

/**
 * Whether only the server may use a path in a node's folder, given by its names. The whole path counts, because links may lead
 * there.
 */
export function isOwnInNode(names: readonly string[]): boolean {
  // QEMU trusts the memory that it restores.
  return names.some((name) => name === savedMemoryName || name.startsWith(diskCopyPrefix));
}

/**
 * Returns why clients may not write a file at this place of a project; undefined when they may. `path`: relative, normalised. In
 * `project-files`, clients may write files in nodes' folders and the pictures of drawings; outside it, files that the server does
 * not use.
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
