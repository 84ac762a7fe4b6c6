/** What may be a project's name and folder. */
import { isAbsolute, resolve } from 'node:path';
import { fault } from '../api/faults.ts';
import { isReallyBelow } from '../lib/inside.ts';

/** File names may have 255 bytes; this leaves room for what is added to them. */
const maxFileNameBytes = 200;

/** @throws `project_name_invalid` */
export function projectFileName(name: string): string {
  const refuse = (reason: string) => fault('project_name_invalid', { reason });
  if (name.trim() === '') throw refuse('it is empty');
  if (name === '.' || name === '..') throw refuse(`"${name}" names a folder`);
  if (/[/\\\0]/.test(name)) throw refuse('it must not contain / or \\ or NUL: it becomes a file name');
  const filename = `${name}.gns3`;
  if (Buffer.byteLength(filename) > maxFileNameBytes)
    throw refuse(`it is too long: the file name may have ${maxFileNameBytes} bytes`);
  return filename;
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
