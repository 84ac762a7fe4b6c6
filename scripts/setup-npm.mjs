/** The npm part of set-up: compares the installed modules with the lock file, and finds the Node that runs the server. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Node of this major version or newer runs TypeScript directly. */
const neededMajor = 24;

/**
 * Whether node_modules matches package-lock.json. npm writes the list of installed packages into node_modules as its last
 * step, so an interrupted installation counts as missing.
 */
export async function modulesMatch(root, { production }) {
  const [wanted, installed] = await Promise.all([
    readPackages(path.join(root, 'package-lock.json')),
    readPackages(path.join(root, 'node_modules/.package-lock.json')),
  ]);
  if (!wanted) throw new Error('package-lock.json is missing or damaged: restore it from the repository');
  if (!installed) return false;
  return Object.entries(wanted).every(([where, entry]) => {
    if (where === '' || (production && entry.dev)) return true;
    const found = installed[where];
    // Optional packages are mostly for other platforms; an installed one must still have the right version.
    return found ? found.version === entry.version : entry.optional === true || entry.devOptional === true;
  });
}

async function readPackages(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

export async function npmCi(root) {
  console.error('Installing the npm packages of package-lock.json (npm ci)');
  const npmScript = process.env.npm_execpath;
  const node = outerNode();
  // npm replaces node_modules, so it must not run on the Node inside.
  const [command, args] = npmScript && node ? [node, [npmScript, 'ci']] : ['npm', ['ci']];
  const code = await new Promise((resolve, reject) => {
    const child = spawn(command, [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: root,
      // npm's output goes to standard error: standard output belongs to the command.
      stdio: ['ignore', 2, 2],
    });
    child.on('error', (error) => reject(new Error(`npm cannot be started: ${error.message}`)));
    child.on('exit', resolve);
  });
  if (code !== 0) throw new Error('npm ci failed: see above');
}

/** A `node` of PATH outside of node_modules. */
function outerNode() {
  for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
    const file = path.join(folder, 'node');
    if (folder !== '' && !folder.includes('node_modules') && existsSync(file)) return file;
  }
  return undefined;
}

/** The Node that npm installed, or this one when it is new enough. */
export function installedNode(root) {
  // A Patchbay that is a dependency of another package has its own dependencies beside its folder.
  for (let folder = root; ; folder = path.dirname(folder)) {
    const node = path.join(folder, 'node_modules/.bin/node');
    if (existsSync(node)) return node;
    if (folder === path.dirname(folder) || !root.includes('node_modules')) break;
  }
  if (Number(process.versions.node.split('.')[0]) >= neededMajor) return process.execPath;
  console.error(
    `npm has no Node ${neededMajor} for this machine (${process.platform} ${process.arch}): install Node ${neededMajor} or newer yourself and run this again`,
  );
  process.exit(1);
}

/**
 * Runs a program in this one's place: its output, signals and exit code are those of the program. With the cache from the beginning, no
 * file is stripped of its types once more: that takes a third of a start, and 12 MB for as long as the program runs.
 */
export function handOver(node, args, given) {
  const env = { NODE_COMPILE_CACHE: path.join(tmpdir(), 'node-compile-cache'), ...given };
  // Node 24 can replace itself by the program; an older one remains its parent.
  if (process.execve) process.execve(node, [node, ...args], env);
  const child = spawn(node, args, { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends SIGINT to the whole group: the program received it already.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    console.error(`${node} cannot be started: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
