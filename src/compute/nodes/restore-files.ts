import { fault } from '../../api/faults.ts';
import { restoreFolder } from './kept-folders.ts';
import type { ComputeNode } from './node.ts';

/** Gives a stopped node the files back that were kept when it was deleted. @throws node_running */
export function restoreFiles(node: ComputeNode): Promise<void> {
  return node.exclusively(() => {
    if (node.emulator) throw fault('node_running', { name: node.name, what: 'replace its files' });
    return restoreFolder(node.project.path, node.id, node.directory);
  });
}
