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
  /spawn|startServer|withServer|qemuBench|startNode|driver\(|process\.(on|chdir|umask)|process\.env(\.\w+|\[.*\]) = |delete process\.env|Worker\b|mock\.timers|contract/;

/** `files` with those that can share a process replaced, where the first of them stood, by modules in `folder` that import them. */
export async function shareProcesses(files, folder) {
  const shared = [];
  for (const file of files)
    if (isBesideCode.test(path.relative(process.cwd(), file)) && !keepsProcess.test(await readFile(file, 'utf8')))
      shared.push(file);
  if (shared.length <= processCount) return files;
  const modules = Array.from({ length: processCount }, (_, number) => ({
    path: path.join(folder, `tests-beside-code-${number + 1}.mjs`),
    files: shared.filter((_, index) => index % processCount === number),
  }));
  for (const module of modules) {
    await writeFile(module.path, module.files.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)};\n`).join(''));
  }
  const [first] = shared;
  return files.flatMap((file) => (file === first ? modules.map((module) => module.path) : shared.includes(file) ? [] : file));
}
