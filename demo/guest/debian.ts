/** Downloads and unpacks Debian packages without installing them: needs no root, only apt's package lists. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { access, mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

export interface Output {
  code: number;
  stdout: string;
  stderr: string;
}

const running = new Set<ChildProcess>();
const workFolders = new Set<string>();

// A process that ends in the middle leaves neither its programs nor half of a guest.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of workFolders) rmSync(folder, { recursive: true, force: true });
});

/** Runs `work` with a folder in the cache, which is removed at its end, and at the exit of the process. */
export async function withWorkFolder<T>(cache: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = path.join(cache, `.building-${randomUUID()}`);
  workFolders.add(folder);
  try {
    await mkdir(path.join(folder, 'root'), { recursive: true });
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
    workFolders.delete(folder);
  }
}

/** Ends this process with its clean-up when it gets a signal, as a server sends one when its client is gone. */
export function cleanUpOnSignal(): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));
}

/** Runs a program to its end. A program that cannot be started counts as exited with code 127. */
export function run(command: string, args: readonly string[], cwd?: string): Promise<Output> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...(cwd === undefined ? {} : { cwd }) });
    running.add(child);
    child.once('close', () => running.delete(child));
    const output: Output = { code: 127, stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.stderr += text;
    });
    child.on('error', (error) => resolve({ ...output, stderr: error.message }));
    child.on('close', (code) => resolve({ ...output, code: code ?? 1 }));
  });
}

/** Name of the kernel package that the meta package currently depends on, e.g. `linux-image-6.1.0-56-cloud-amd64`. */
export async function resolveMetaPackage(meta: string): Promise<string | undefined> {
  const { stdout } = await run('apt-cache', ['depends', '--no-recommends', '--no-suggests', meta]);
  return /Depends: (\S+)/.exec(stdout)?.[1];
}

/** Updates apt's package lists, which only root can. */
export async function updateLists(): Promise<void> {
  const update = await run('apt-get', ['update', '-q']);
  if (update.code !== 0) throw new Error(`apt-get update failed: ${lastLines(update.stderr)}`);
}

export const isRoot = () => process.getuid?.() === 0;

/**
 * Downloads packages into `folder` and unpacks each into `folder/root`; `members` lists the required paths as tar patterns.
 * Outdated lists name removed packages: root then updates the lists once and retries.
 */
export async function fetchPackages(names: readonly string[], folder: string, members: readonly string[]): Promise<void> {
  // Root would be warned by apt that apt's own user cannot write here.
  const download = () => run('apt-get', ['download', '-q', '-o', 'APT::Sandbox::User=root', ...names], folder);
  let output = await download();
  if (output.code !== 0 && isRoot()) {
    await updateLists();
    output = await download();
  }
  if (output.code !== 0) {
    throw new Error(
      `apt-get download ${names.join(' ')} failed: ${lastLines(output.stderr)}\nIf the package lists are old, run as root: apt-get update`,
    );
  }
  const packages = (await readdir(folder)).filter((name) => name.endsWith('.deb'));
  await Promise.all(
    packages.map(async (file) => {
      // tar complains about patterns without a match in this package; the caller reports missing files.
      const script =
        'deb=$1 root=$2; shift 2; dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --wildcards --no-anchored "$@" 2>/dev/null';
      await run('sh', ['-c', script, 'unpack', file, 'root', ...members], folder);
    }),
  );
}

/** Package name and version from the names of the downloaded files: `name_version_architecture.deb`. */
export async function fetchedVersions(folder: string): Promise<Record<string, string>> {
  const versions: Record<string, string> = {};
  for (const file of await readdir(folder)) {
    const [name, version] = file.endsWith('.deb') ? file.split('_') : [];
    if (name && version) versions[name] = decodeURIComponent(version);
  }
  return versions;
}

export async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** All files below a folder whose name ends in `suffix`, keyed by the name without it. */
export async function filesBelow(folder: string, suffix: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && entry.name.endsWith(suffix)) {
      found.set(entry.name.slice(0, -suffix.length), path.join(entry.parentPath, entry.name));
    }
  }
  return found;
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join(' / ');
}
