/**
 * The folders of projects: where a new one may stand, and how one is removed. A folder that another program had filled before it
 * became a project's is never removed as a whole: of it, only what projects keep in a folder goes.
 */
import { readdir, realpath, rmdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, normalize, resolve } from 'node:path';
import { fault } from '../../api/faults.ts';
import { isBelow, isReallyBelow } from '../../lib/inside.ts';
import { makeFolders } from '../../lib/make-folders.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { deletedNodesFolder, keptPresentsFolder, memoryFolder } from '../../schema/folders.ts';
import type { Settings } from '../../schema/settings.ts';
import type { ProjectRecord } from '../store.ts';

/**
 * The folder for a new project, absolute.
 * @throws path_forbidden outside the projects folder on a server that is not local, and for folders that hold more than a project
 */
export async function placeFor(settings: Settings, projectId: string, wanted?: string | null): Promise<string> {
  const projects = settings.Server.projects_path;
  if (!wanted) return join(projects, projectId);
  const path = resolve(normalize(wanted));
  const refuse = (reason: string) => fault('path_forbidden', { path: wanted, reason });
  if (!isAbsolute(wanted)) throw refuse('a project folder is given by its absolute path');
  if (!settings.Server.local && !(await isReallyBelow(projects, path))) throw refuse('it lies outside the projects folder');
  const real = await realpath(path).catch(() => path);
  const holds = [projects, settings.dataDirectory, homedir()].find((folder) => folder === real || isBelow(real, folder));
  if (holds !== undefined) throw refuse(`it holds ${holds}`);
  return path;
}

/** Folders of a project on a compute that has no node of it any more. */
const ownNames: readonly string[] = ['tmp', deletedNodesFolder, keptPresentsFolder, memoryFolder];

/** Makes the folder. Resolves to whether it is the project's own to remove. */
export async function makeFolder(path: string): Promise<boolean> {
  try {
    await makeFolders(path);
    const names = await readdir(path);
    await removeTree(join(path, 'tmp'));
    return (
      names.every((name) => ownNames.includes(name)) || names.some((name) => name === 'project-files' || name.endsWith('.gns3'))
    );
  } catch (cause) {
    throw fault('storage_failed', { reason: (cause as Error).message }, { cause });
  }
}

/** Removes the folder of a closed project. @throws project_delete_failed */
export async function removeFolder({ path, owned, name, project_id }: ProjectRecord): Promise<void> {
  try {
    if (owned) return await removeTree(path);
    for (const part of ['project-files', 'tmp', deletedNodesFolder]) await removeTree(join(path, part));
    await rmdir(path).catch(() => undefined);
  } catch (cause) {
    throw fault('project_delete_failed', { name: name ?? project_id, reason: (cause as Error).message }, { cause });
  }
}
