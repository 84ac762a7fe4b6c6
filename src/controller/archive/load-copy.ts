/** Makes a second project of a project file and the files beside it. */
import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { isReallyBelow } from '../../lib/inside.ts';
import { readProject, topologyOf } from '../log/project-state.ts';
import { topologyText } from '../model/topology-text.ts';
import { copyOwnFiles } from '../projects/copy-files.ts';
import { copyTree } from '../projects/copy-tree.ts';
import { duplicateProject } from '../projects/duplicate.ts';
import type { KnownProject } from '../projects/project.ts';
import { loadablePath } from '../projects/project-path.ts';
import { stagingPrefix } from '../projects/registry.ts';
import { projectEntry } from '../zip/archive-entries.ts';
import { adopt, type ImportOptions } from './import.ts';

/**
 * Copies the project file's folder into the projects folder, with new ids and a free name, and opens the copy. The folder stays as it is.
 * Files of nodes on remote computes are not in it: their copies start from their images.
 * @throws `not_local`, `path_forbidden`, `project_file_missing`, `project_damaged`, `project_newer`, `project_copy_failed`
 */
export async function loadCopy(path: string, options: ImportOptions): Promise<KnownProject> {
  const { Server } = options.settings;
  const file = await loadablePath(path, Server.local);
  const folder = dirname(file);
  if (folder === Server.projects_path || (await isReallyBelow(folder, Server.projects_path)))
    throw fault('path_forbidden', {
      path,
      reason: 'the projects folder would be copied into itself: give the project a folder of its own',
    });
  const known = [...options.projects.all()].find((project) => project.file === file);
  const project = await (known ? duplicateOf(known, options) : copyOf(file, options));
  await project.open();
  return project;
}

/** Copies a project of this server: its nodes may be running. */
async function duplicateOf(known: KnownProject, options: ImportOptions): Promise<KnownProject> {
  const { projects } = options;
  const { project, ...place } = await duplicateProject(
    known,
    { name: null },
    { ...options, isKnown: (id) => projects.find(id) !== undefined, freeName: (base) => projects.freeName(base) },
  );
  return projects.register(project, place);
}

async function copyOf(file: string, options: ImportOptions): Promise<KnownProject> {
  const { Server } = options.settings;
  const folder = dirname(file);
  const projectId = randomUUID();
  const state = await readProject(file);
  try {
    return await options.staging.use(join(Server.projects_path, `${stagingPrefix}import-${projectId}`), async (staging) => {
      const content = join(staging, 'content');
      await mkdir(content);
      await copyOwnFiles(folder, content);
      const files = join(folder, 'project-files');
      if (await stat(files).catch(() => undefined)) await copyTree(files, join(content, 'project-files'));
      const copied = join(content, projectEntry);
      // A file of an older revision is upgraded with the files beside it.
      if (state.upgradedFrom !== undefined) await copyFile(file, copied);
      else await writeFileAtomic(copied, await topologyText(topologyOf(state), options.version));
      return adopt({ content, path: join(Server.projects_path, projectId), projectId, name: undefined }, options);
    });
  } catch (error) {
    if (isFault(error)) throw error;
    const reason = (error as Error).message;
    throw fault('project_copy_failed', { name: state.project.name, reason }, { cause: error });
  }
}
