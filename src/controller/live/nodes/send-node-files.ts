/** Files of a node that lie on the controller, sent to the compute that the node is on; never held in memory. */
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { removeTree } from '../../../lib/remove-tree.ts';
import { findKind } from '../../model/node.ts';
import type { OpenNode } from './open-node.ts';

/**
 * Sends the files of a node that lie here (it was imported or restored) to the compute that it is on, and removes them here when all
 * are there. Links and special files are not sent. Quick when there is nothing to send. Nothing is sent while a live move of the node has not
 * ended: what lies here may be the other half of it, and its machine runs with the disks there.
 */
export async function sendNodeFiles(projectFolder: string, node: OpenNode): Promise<void> {
  const compute = node.requireCompute();
  const folder = findKind(node.entry.node_type)?.folder;
  if (compute.isLocal || folder === undefined) return;
  const own = join(projectFolder, 'project-files', folder, node.id);
  const files = await readdir(own, { recursive: true, withFileTypes: true }).catch(() => undefined);
  if (files === undefined || node.wanted.move) return;
  for (const file of files) {
    if (!file.isFile()) continue;
    const path = join(file.parentPath, file.name);
    const way = relative(projectFolder, path);
    await compute.transport.raw('POST', `/v2/compute/projects/${node.projectId}/files/${way}`, createReadStream(path));
  }
  await removeTree(own);
}
