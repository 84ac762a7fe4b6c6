/** Names of the files in a project's folder that note live moves which have not ended (`projects/pending-moves.ts`). */
import { readdir } from 'node:fs/promises';
import { stagingPrefix } from '../../../schema/folders.ts';

export const movePrefix = `${stagingPrefix}move-`;

/** Lists the names of a project's move files, of all nodes or of one node. Never rejects. */
export async function moveFiles(folder: string, nodeId = ''): Promise<string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  return names.filter((name) => name.startsWith(`${movePrefix}${nodeId}`) && name.endsWith('.json'));
}
