/**
 * The command that confines a program of a node: in a root folder and a PID namespace of its own, behind a filter of system calls, where
 * bubblewrap can make them; as the user of emulators on a server that is root. Where bubblewrap cannot be used, the program sees the files of
 * the host that its user may see.
 */
import { mkdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { isBelow } from '../../../lib/inside.ts';
import { type BubblewrapSpec, bubblewrapWords, type RootFolder } from '../../../process/bubblewrap/bubblewrap.ts';
import { systemCallFilter } from '../../../process/bubblewrap/system-call-filter.ts';
import { bubblewrapObstacle } from '../../../process/bubblewrap/usable.ts';
import { allows } from '../file-access.ts';
import { commandAs, type RunAs } from '../run-as.ts';
import { withCovers } from './covers.ts';

export interface Confinement {
  /** Undefined: the user of the server. */
  readonly runAs: RunAs | undefined;
  /** Where bubblewrap is not used, only its covers are made. */
  readonly root: RootFolder;
  readonly usesBubblewrap: boolean;
  /** In the server's runtime folder, which only root may change; empty outside of the namespaces. */
  readonly stage: string;
}

export interface ConfinedCommand {
  readonly program: string;
  readonly args: string[];
  /** Filter of system calls, for bubblewrap. */
  readonly filter: Buffer | undefined;
}

export interface ConfineOptions extends Pick<BubblewrapSpec, 'workingFolder' | 'hasOwnNetwork'> {
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
  // Where an administrator lets users choose files of the host, they may choose io_uring.
  const filter = systemCallFilter({ allowsIoUring: root.coversHost !== undefined, isolatesItself });
  return { program: first, args: [...words, inner.program, ...inner.args], filter };
}

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

/** A root folder with the program and those of the files that exist; where bubblewrap cannot be used, with all of the host. */
export async function confine(wanted: ConfinementWish): Promise<Confinement> {
  const { writes, reads, devices = [], program, runAs, runDirectory, seesHost = false, isOpen = false } = wanted;
  const usesBubblewrap = !isOpen && (await bubblewrapObstacle()) === undefined;
  const written = await realPaths(writes);
  const read = await realPaths([...reads, ...filesOfProgram(program)]);
  const isIn = (folders: readonly RealPath[], { real }: RealPath) => folders.some((folder) => isBelow(folder.real, real));
  const all = [...written, ...read];
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

/** A program outside of the distribution brings what was installed with it. */
function filesOfProgram(program: string): string[] {
  if (!isAbsolute(program)) return [];
  const folder = dirname(program);
  const others = ['lib', 'lib64', 'libexec', 'share'].map((name) => join(dirname(folder), name));
  return [program, ...(basename(folder) === 'bin' ? others : [])];
}

interface RealPath {
  readonly path: string;
  readonly real: string;
}

/** Without those that do not exist, or are not absolute. */
async function realPaths(paths: readonly string[]): Promise<RealPath[]> {
  const absolute = [...new Set(paths)].filter((path) => isAbsolute(path));
  const found = await Promise.all(absolute.map(async (path) => ({ path, real: await realpath(path).catch(() => undefined) })));
  return found.filter((one): one is RealPath => one.real !== undefined);
}

/** Where links lead, and the path that leads there; a link in a folder of the list is there with that folder. */
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
