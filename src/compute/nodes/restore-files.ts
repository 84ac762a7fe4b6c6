import { fault } from '../../api/faults.ts';
import { restoreFolder, restoreMissing } from '../host/kept-folders.ts';
import type { ComputeNode } from './node.ts';

/** Restores the files that were kept when the node was deleted; the node is stopped, or of a kind that always runs. @throws node_running */
export function restoreFiles(node: ComputeNode): Promise<void> {
  return node.exclusively(() => {
    if (node.driver.kind.alwaysRunning) return restoreMissing(node.project.path, node.id, node.directory);
    if (node.emulator) throw fault('node_running', { name: node.name, what: 'replace its files' });
    return restoreFolder(node.project.path, node.id, node.directory);
  });
}
