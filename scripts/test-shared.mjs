/**
 * Lets tests beside the code share four processes: most of what such a file costs is the start of Node and of the packages it imports.
 * Files that start processes or change their own keep a process each, so that what they leave behind is theirs.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const processCount = 4;
const isBesideCode = /^(src|web|demo|lab|cli)\/.*\.test\.ts$/;
/** A file with one of these words keeps its process. */
const keepsProcess =
  /child_process|spawn|startServer|withServer|qemuBench|startNode|driver\(|execFile|process\.(env|on|chdir|umask)|Worker\b|mock\.timers|contract/;

/** `files` with those that can share a process replaced by modules in `folder` that import them. */
export async function shareProcesses(files, folder) {
  const own = [];
  const shared = [];
  for (const file of files) {
    const isShared = isBesideCode.test(path.relative(process.cwd(), file)) && !keepsProcess.test(await readFile(file, 'utf8'));
    (isShared ? shared : own).push(file);
  }
  if (shared.length <= processCount) return files;
  const modules = Array.from({ length: processCount }, (_, number) => ({
    path: path.join(folder, `tests-beside-code-${number + 1}.mjs`),
    files: shared.filter((_, index) => index % processCount === number),
  }));
  for (const module of modules) {
    await writeFile(module.path, module.files.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)};\n`).join(''));
  }
  return [...own, ...modules.map((module) => module.path)];
}
