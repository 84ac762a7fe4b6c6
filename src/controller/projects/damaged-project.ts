/** Lists a project whose file or log cannot be read: clients see it closed, and opening it reports the damage. */
import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { isUuid } from '../../schema/common.ts';
import { projectDefaults } from '../../schema/project.ts';
import { canonical } from '../model/canonical.ts';
import { readProjectEntry } from '../model/read-topology.ts';
import type { ProjectEntry } from '../model/topology.ts';

/**
 * Reads the project's entry from its file. A file that cannot be read gives only its name, with the id that the server knows the project
 * by. A project that was never registered has the id that names its folder, or one made of its path, which stays the same.
 */
export async function damagedEntry(
  file: string,
  knownId: string | undefined,
  isTaken: (id: string) => boolean,
): Promise<ProjectEntry> {
  const entry = await readProjectEntry(file).catch(() => undefined);
  if (entry && (entry.project_id === knownId || (knownId === undefined && !isTaken(entry.project_id)))) return entry;
  const ofFolder = basename(dirname(file));
  const isFree = isUuid(ofFolder) && !isTaken(ofFolder);
  const project_id = knownId ?? (isFree ? ofFolder : idOf(file));
  const name = basename(file).replace(/\.gns3$/, '') || project_id;
  return canonical({ ...projectDefaults, name, project_id });
}

function idOf(path: string): string {
  const hash = createHash('sha256').update(path).digest('hex');
  return [hash.slice(0, 8), hash.slice(8, 12), hash.slice(12, 16), hash.slice(16, 20), hash.slice(20, 32)].join('-');
}
