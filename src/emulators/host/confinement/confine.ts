/**
 * The command that confines a program of a node: in a root folder and a PID namespace of its own, behind a filter of system calls, where
 * bubblewrap can make them; as the user of emulators on a server that is root. Where bubblewrap cannot be used, the program sees the files of
 * the host that its user may see.
 */
import { mkdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { fault } from '../../../api/faults.ts';
import { isBelow } from '../../../lib/inside.ts';
import { type BubblewrapSpec, bubblewrapWords, type RootFolder } from '../../../process/bubblewrap/bubblewrap.ts';
import { systemCallFilter } from '../../../process/bubblewrap/system-call-filter.ts';
import { bubblewrapObstacle } from '../../../process/bubblewrap/usable.ts';
import { allows } from '../file-access.ts';
import { commandAs, type RunAs } from '../run-as.ts';
import { quoteWord } from './shell-text.ts';

export interface Confinement {
  /** Undefined: the user of the server. */
  readonly runAs: RunAs | undefined;
  /** Where bubblewrap is not used, only its covers are made. */
  readonly root: RootFolder;
  readonly usesBubblewrap: boolean;
  /** Staging folder in the server's runtime folder, which only root may change; empty outside of the namespaces. */
  readonly stage: string;
}

interface ConfinedCommand {
  readonly program: string;
  readonly args: string[];
  /** Filter of system calls, for bubblewrap. */
  readonly filter: Buffer | undefined;
  /** Absent: the variables that confined programs get. */
  readonly env?: NodeJS.ProcessEnv;
}

interface ConfineOptions extends Pick<BubblewrapSpec, 'workingFolder' | 'hasOwnNetwork'> {
  /** Default `alone`. */
  readonly ends?: 'parent' | 'alone';
  /** Arguments of `prlimit`, beside those of the user. */
  readonly limits?: readonly string[];
  /** See `FilterOptions`. */
  readonly isolatesItself?: boolean;
}

export function confinedCommand(
  { runAs, root, usesBubblewrap, stage }: Confinement,
  program: string,
  args: readonly string[],
  { limits = [], ends = 'alone', isolatesItself = false, ...options }: ConfineOptions,
): ConfinedCommand {
  const inner = commandAs(runAs, program, args, limits);
  if (!usesBubblewrap) return { ...withCovers(root, stage, inner), filter: undefined };
  const [first = '', ...words] = bubblewrapWords({ ...options, root, ends });
  // Where an administrator lets users choose files of the host, they may choose io_uring, and windows of the server's session.
  const seesHost = root.coversHost !== undefined;
  const filter = systemCallFilter({ allowsIoUring: seesHost, isolatesItself });
  return { program: first, args: [...words, inner.program, ...inner.args], filter, ...(seesHost && { env: process.env }) };
}

/** Folders beside `bin` that belong to what is installed there. */
const installedFolders = ['lib', 'lib64', 'libexec', 'share'];

export interface ConfinementWish extends Pick<RootFolder, 'reads' | 'writes' | 'devices'> {
  /** A name alone is found among the programs of the distribution. */
  readonly program: string;
  readonly runAs: RunAs | undefined;
  /** The server's runtime folder. */
  readonly runDirectory: string;
  /** All files of the host as well, as far as the user reaches them. Default false. */
  readonly seesHost?: boolean;
  /** An administrator permits no confinement. Default false. */
  readonly isOpen?: boolean;
}

/**
 * A root folder with the program and those of the files that exist; where bubblewrap cannot be used, with all of the host.
 * @throws path_forbidden for a path in a folder that the program writes, if a link there leads to a file that it was not given
 */
export async function confine(wanted: ConfinementWish): Promise<Confinement> {
  const { writes, reads, devices = [], program, runAs, runDirectory, seesHost = false, isOpen = false } = wanted;
  const usesBubblewrap = !isOpen && (await bubblewrapObstacle()) === undefined;
  const { inside, outside: written } = await realPaths(writes, writes);
  const further = await realPaths([...reads, ...(await filesOfProgram(program))], writes);
  const read = further.outside;
  const isIn = (folders: readonly RealPath[], { real }: RealPath) => folders.some((folder) => isBelow(folder.real, real));
  const all = [...written, ...read];
  for (const one of [...inside, ...further.inside]) requireGiven(one, all);
  const root = {
    writes: written.filter((one) => !isIn(written, one)).flatMap((one) => placesOf(one, all)),
    reads: read.filter((one) => !isIn(all, one)).flatMap((one) => placesOf(one, all)),
    devices,
    ...((seesHost || !usesBubblewrap) && { coversHost: runAs ? await closedFolders(runAs, all) : [] }),
  };
  const stage = join(runDirectory, 'mounts');
  if (!usesBubblewrap && root.coversHost?.length) await mkdir(stage, { recursive: true, mode: 0o700 });
  return { runAs, root, usesBubblewrap, stage };
}

/** A program outside of the distribution brings what was installed with it, also where a link leads to it. */
async function filesOfProgram(program: string): Promise<string[]> {
  if (!isAbsolute(program)) return [];
  const real = await realpath(program).catch(() => program);
  const folders = [program, real].map(dirname).filter((folder) => basename(folder) === 'bin');
  return [program, ...folders.flatMap((folder) => installedFolders.map((name) => join(dirname(folder), name)))];
}

interface RealPath {
  readonly path: string;
  readonly real: string;
}

/** Resolves paths: those strictly inside one of the folders, and the others; without those that do not exist, or are not absolute. */
async function realPaths(
  paths: readonly string[],
  folders: readonly string[],
): Promise<{ inside: RealPath[]; outside: RealPath[] }> {
  const absolute = [...new Set(paths)].filter((path) => isAbsolute(path));
  const found = await Promise.all(absolute.map(async (path) => ({ path, real: await realpath(path).catch(() => undefined) })));
  const existing = found.filter((one): one is RealPath => one.real !== undefined);
  const isInside = ({ path }: RealPath) => folders.some((folder) => isBelow(folder, path));
  return { inside: existing.filter(isInside), outside: existing.filter((one) => !isInside(one)) };
}

/** An escaped program may have made the link: its target must not be mounted for the next one. */
function requireGiven({ path, real }: RealPath, given: readonly RealPath[]): void {
  if (given.some((one) => one.real === real || isBelow(one.real, real))) return;
  const reason =
    'it is a symbolic link that an emulator can have made, to a place outside of its folder: put the file in its place';
  throw fault('path_forbidden', { path, reason });
}

/** Returns the target of a link, and its own path unless a folder of the list brings it along. */
function placesOf({ path, real }: RealPath, all: readonly RealPath[]): string[] {
  const isThere = path === real || all.some((other) => isBelow(other.path, path));
  return isThere ? [real] : [real, path];
}

/** The first folder above each path that the user may not pass through, as `/root` is. Access control lists are not looked at: they only open more. */
async function closedFolders(runAs: RunAs, paths: readonly RealPath[]): Promise<string[]> {
  const closed = await Promise.all(paths.map(({ real }) => closedAbove(runAs, real)));
  return [...new Set(closed)].filter((folder) => folder !== undefined);
}

async function closedAbove(runAs: RunAs, path: string): Promise<string | undefined> {
  const above: string[] = [];
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) above.unshift(folder);
  for (const folder of above) if (!allows(runAs, await stat(folder), 0o1)) return folder;
  return undefined;
}

interface StartedCommand {
  readonly program: string;
  readonly args: readonly string[];
}

/**
 * Wraps a command so that it runs with the closed folders covered, where bubblewrap cannot be used: a user without privileges reaches files
 * although a folder above them is closed to it, as `/root` is. In a mount namespace of the program, a folder of mount points covers the
 * closed one, with only the wanted files in it. Nothing changes on the host. A shell makes the mounts on `stage`, then becomes the command.
 * Only root can.
 */
function withCovers(
  { reads, writes, coversHost = [] }: RootFolder,
  stage: string,
  { program, args }: StartedCommand,
): StartedCommand & { args: string[] } {
  if (coversHost.length === 0) return { program, args: [...args] };
  // A folder comes before what lies in it. Once the folder that holds the stage is covered, the other covers cannot be found any more.
  const paths = [...new Set([...reads, ...writes])].toSorted();
  const covers = coversHost.toSorted((one, other) => Number(isBelow(one, stage)) - Number(isBelow(other, stage)));
  const script = [
    `mount -t tmpfs -o mode=0755,nosuid,nodev tmpfs ${quoteWord(stage)}`,
    ...covers.flatMap((above, index) => coverCommands(above, join(stage, String(index)), paths)),
    ...covers.map((above, index) => `mount --rbind ${quoteWord(join(stage, String(index)))} ${quoteWord(above)}`),
    'exec "$@"',
  ].join(' && ');
  return { program: 'unshare', args: ['--mount', '--', 'sh', '-c', script, 'sh', program, ...args] };
}

function coverCommands(above: string, cover: string, paths: readonly string[]): string[] {
  const wanted = paths.filter((path) => isBelow(above, path));
  const outermost = wanted.filter((path) => !wanted.some((other) => isBelow(other, path)));
  return outermost.flatMap((path) => {
    const [source, target] = [quoteWord(path), join(cover, relative(above, path))];
    const [point, folder] = [quoteWord(target), quoteWord(dirname(target))];
    return [
      `mkdir -p -m 0755 -- ${folder}`,
      `if test -d ${source}; then mkdir ${point}; else : > ${point}; fi`,
      `mount --bind ${source} ${point}`,
    ];
  });
}
