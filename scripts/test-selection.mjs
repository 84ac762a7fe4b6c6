/** Selects test files: by files, folders and patterns, or those that a change of the work tree concerns. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { glob, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/**
 * Absolute paths, each once. Files of one pattern are sorted by a hash of their path: those of one folder load the machine in the
 * same way (waiting, computing, writing), and together they would leave a core idle or make the others slow.
 */
export async function listFiles(patterns) {
  const files = new Set();
  for (const pattern of patterns) {
    const isFolder = (await stat(pattern).catch(() => undefined))?.isDirectory();
    const found = [];
    for await (const file of glob(isFolder ? `${pattern}/**/*.test.{ts,mjs}` : pattern)) found.push(path.resolve(file));
    for (const file of found.sort((a, b) => mixed(a).localeCompare(mixed(b)))) files.add(file);
  }
  return [...files];
}

const mixed = (file) => createHash('sha256').update(path.relative(process.cwd(), file)).digest('hex');

/**
 * Test files among `patterns` that differ from `base`, or import, directly or not, a file that does; uncommitted and new files count.
 * A test that starts the server as a process imports none of its files: it is selected by its own changes only.
 */
export async function listChanged(patterns, base) {
  const git = async (...args) => (await promisify(execFile)('git', args)).stdout.split('\n').filter(Boolean);
  const [fork = 'HEAD'] = await git('merge-base', base, 'HEAD').catch(() => []);
  const names = [
    ...(await git('diff', '--name-only', '--relative', fork)),
    ...(await git('ls-files', '--others', '--exclude-standard')),
  ];
  const changed = new Set(names.map((name) => path.resolve(name)));
  const chosen = [];
  for (const file of await listFiles(patterns)) {
    for (const one of await importsOf(file)) {
      if (!changed.has(one)) continue;
      chosen.push(file);
      break;
    }
  }
  return chosen;
}

const direct = new Map();

/** The file and all files of the checkout that it imports by a relative path. */
async function importsOf(file) {
  const seen = new Set([file]);
  for (const one of seen) for (const found of await directImports(one)) seen.add(found);
  return seen;
}

async function directImports(file) {
  let found = direct.get(file);
  if (!found) {
    const text = await readFile(file, 'utf8').catch(() => '');
    found = [...text.matchAll(/(?:from|import\(?)\s*'(\.[^']*)'/g)].map(([, name]) => path.resolve(path.dirname(file), name));
    direct.set(file, found);
  }
  return found;
}
