import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Driver } from '../../emulators/driver.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { memorySourceName, savedMemoryName } from '../../schema/folders.ts';

/** Removes the memory that was saved for the next start of a node; that of its template stays, as the node has not run since. */
export async function discardMemory(directory: string): Promise<void> {
  const folder = join(directory, savedMemoryName);
  const isOfTemplate = await access(join(folder, memorySourceName)).then(
    () => true,
    () => false,
  );
  if (!isOfTemplate) await removeTree(folder);
}

/** Whether a node has memory from which it continues at its next start. */
export async function hasMemory({
  driver,
  directory,
  name,
}: {
  driver: Driver;
  directory: string;
  name: string;
}): Promise<boolean> {
  if (!driver.memory) return false;
  return driver.memory.check(join(directory, savedMemoryName), name).then(
    () => true,
    () => false,
  );
}
