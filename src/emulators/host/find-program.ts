/** Finds programs the way a shell does. */
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { fault } from '../../api/faults.ts';

/** The path of an executable file: `name` is a path, or is looked for in PATH. */
export async function findProgram(name: string): Promise<string | undefined> {
  const folders = name.includes('/') ? [''] : (process.env.PATH ?? '').split(delimiter).filter(isAbsolute);
  for (const folder of folders) {
    const path = folder === '' ? resolve(name) : join(folder, name);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK)
    .then(() => stat(path))
    .then(
      (facts) => facts.isFile(),
      () => false,
    );
}

/** @throws `tool_missing`, which names the Debian package */
export async function requireProgram(name: string, debianPackage: string): Promise<string> {
  const path = await findProgram(name);
  if (path === undefined) throw fault('tool_missing', { tool: name, package: debianPackage });
  return path;
}
