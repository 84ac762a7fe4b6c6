/**
 * Lets tests beside the code share six processes: most of what such a file costs is the start of Node and of the packages it imports.
 * Files that start processes or change their own keep a process each, so that what they leave behind is theirs.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Processes of the files that compute, and of those that wait for seconds: one after the other, these would be the end of a run. */
const processCounts = { computing: 4, waiting: 2 };
/** Files that wait for leases, pauses of retries, or a busy event loop. */
const waits = /^src\/(?:slice|controller\/(?:slices|relocation|reconcile|engines\/\w+))\/|^src\/controller\/zip\/extract\.test/;
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
  const { computing, waiting } = processCounts;
  if (shared.length <= computing + waiting) return files;
  const isWaiting = (file) => waits.test(path.relative(process.cwd(), file));
  const modules = [
    ...dealOut(shared.filter(isWaiting), waiting, 'tests-that-wait'),
    ...dealOut(
      shared.filter((file) => !isWaiting(file)),
      computing,
      'tests-beside-code',
    ),
  ].map(({ name, files: own }) => ({ path: path.join(folder, `${name}.mjs`), files: own }));
  for (const module of modules) {
    await writeFile(module.path, module.files.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)};\n`).join(''));
  }
  const [first] = shared;
  return files.flatMap((file) => (file === first ? modules.map((module) => module.path) : shared.includes(file) ? [] : file));
}

function dealOut(files, count, name) {
  return Array.from({ length: count }, (_, number) => ({
    name: `${name}-${number + 1}`,
    files: files.filter((_, index) => index % count === number),
  }));
}
