/** Checks the name and the folder of a project. */
import { stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { fault } from '../../api/faults.ts';
import { isReallyBelow } from '../../lib/inside.ts';

/** File names may have 255 bytes; this leaves room for what is added to them. */
const maxNameBytes = 195;

/** @throws `project_name_invalid` */
export function projectFileName(name: string): string {
  const reason = fileNameProblem(name);
  if (reason !== undefined) throw fault('project_name_invalid', { reason });
  return `${name}.gns3`;
}

/** Why a file cannot be named so, with something short added; undefined when it can. */
export function fileNameProblem(name: string): string | undefined {
  if (name.trim() === '') return 'it is empty';
  if (name === '.' || name === '..') return `"${name}" names a folder`;
  if (/[/\\\0]/.test(name)) return 'it must not contain / or \\ or NUL: it becomes a file name';
  if (Buffer.byteLength(name) > maxNameBytes) return `it is too long: as a file name it may have ${maxNameBytes} bytes`;
  return undefined;
}

/**
 * The folder as it is stored. A local server takes any absolute path, others only folders inside the projects folder.
 * @throws `path_forbidden`
 */
export async function projectFolder(path: string, projectsPath: string, local: boolean): Promise<string> {
  const refuse = (reason: string) => fault('path_forbidden', { path, reason });
  if (path.includes('"') || path.includes('\0')) throw refuse('it contains a quotation mark or NUL');
  if (!isAbsolute(path)) throw refuse('it is not absolute');
  const folder = resolve(path);
  if (!local && !(await isReallyBelow(projectsPath, folder)))
    throw refuse('it is not inside the projects folder, and the server is not local');
  return folder;
}

/** Returns the resolved path of a project file that a client names. @throws `not_local`, `path_forbidden`, `project_file_missing` */
export async function loadablePath(path: string, local: boolean): Promise<string> {
  if (!local) throw fault('not_local', { what: 'loading a project from a path' });
  if (!isAbsolute(path) || path.includes('\0')) throw fault('path_forbidden', { path, reason: 'it is not an absolute path' });
  const file = resolve(path);
  if (!file.endsWith('.gns3')) throw fault('path_forbidden', { path, reason: 'project files end in .gns3' });
  if (!(await stat(file).catch(() => undefined))) throw fault('project_file_missing', { path: file });
  return file;
}
