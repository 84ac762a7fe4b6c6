/** Finds the presents of a project that were kept before rewinds: a folder each, complete or absent. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isUuid } from '../../schema/common.ts';
import { keptPresentsFolder } from '../../schema/folders.ts';

export function keptPresentPath(projectFolder: string, id: string): string {
  return join(projectFolder, keptPresentsFolder, id);
}

/** Lists the ids of the kept presents. */
export async function listKept(projectFolder: string): Promise<ReadonlySet<string>> {
  const names = await readdir(join(projectFolder, keptPresentsFolder)).catch((): string[] => []);
  return new Set(names.filter((name) => isUuid(name)));
}
