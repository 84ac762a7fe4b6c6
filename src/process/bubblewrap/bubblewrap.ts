/**
 * Bubblewrap (bwrap(1)) starts a program in a PID namespace and a root folder of its own, behind a filter of system calls. Paths below the new
 * root are those of the host, so a command line means the same inside and outside.
 */
import { lstatSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { isBelow } from '../../lib/inside.ts';

/** Descriptors that the program which starts bubblewrap opens: it reads the filter from one, and writes the pid to the other. */
export const filterDescriptor = 3;
export const statusDescriptor = 4;

export interface RootFolder {
  /** Files and folders of the host, at their own paths, which are absolute. */
  readonly writes: readonly string[];
  readonly reads: readonly string[];
  /** Device files; one that does not exist is left out. Default: those of each `/dev` of bubblewrap. */
  readonly devices?: readonly string[];
  /** All other files of the host are there, too, and these folders of it are covered by the files and folders above. Default: no others. */
  readonly coversHost?: readonly string[] | undefined;
}

export interface BubblewrapSpec {
  /** Words of bubblewrap: a root folder with nothing else. */
  readonly root: RootFolder | readonly string[];
  /** The program starts in this folder. */
  readonly workingFolder: string;
  /** `parent`: with the process that starts it. `alone`: it outlives that one. `shell`: a script waits for it. */
  readonly ends: 'parent' | 'alone' | 'shell';
  /** No network but a loopback. Default: that of the process that starts it. */
  readonly hasOwnNetwork?: boolean;
}

/** Folders and files that programs of a distribution need beside their own. */
const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix', '/gnu'];
const systemFiles = [
  ...['/etc/ld.so.cache', '/etc/ld.so.conf', '/etc/ld.so.conf.d', '/etc/alternatives', '/etc/localtime', '/etc/timezone'],
  ...['/etc/resolv.conf', '/etc/nsswitch.conf', '/etc/hosts', '/etc/qemu', '/etc/magic'],
];

/** The words before a program. */
export function bubblewrapWords({ root, workingFolder, ends, hasOwnNetwork = false }: BubblewrapSpec): string[] {
  return [
    'bwrap',
    ...userWords(),
    '--unshare-pid',
    '--unshare-ipc',
    ...(hasOwnNetwork ? ['--unshare-net'] : []),
    ...('writes' in root ? mountWords(root) : root),
    ...['--seccomp', String(filterDescriptor)],
    // A program without a session of its own could open the terminal of the server, and type there (TIOCSTI, ioctl_tty(2)).
    ...(ends === 'parent' ? ['--die-with-parent', '--new-session'] : []),
    // The first process of a namespace gets only the signals that it handles.
    ...(ends === 'alone' ? ['--as-pid-1'] : []),
    ...(ends === 'parent' ? [] : ['--json-status-fd', String(statusDescriptor)]),
    ...['--chdir', workingFolder],
    '--',
  ];
}

/** The user namespace that bubblewrap makes for a user who is not root, also where that user is the root of one: a program has no privilege there. */
function userWords(): string[] {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  return uid === 0 ? [] : ['--unshare-user', '--uid', String(uid), '--gid', String(gid)];
}

function mountWords({ writes, reads, devices = [], coversHost }: RootFolder): string[] {
  const binds = [...reads.map((path) => ({ path, word: '--ro-bind' })), ...writes.map((path) => ({ path, word: '--bind' }))]
    // A folder comes before what lies in it; of one path, the right to write comes last.
    .toSorted((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1 : one.word < other.word ? 1 : -1));
  if (coversHost) {
    return [
      ...['--dev-bind', '/', '/', '--proc', '/proc'],
      ...coversHost.flatMap((path) => ['--perms', '0755', '--tmpfs', path]),
      ...bindWords(
        binds.filter(({ path }) => coversHost.some((folder) => isBelow(folder, path))),
        [],
      ),
    ];
  }
  return [
    ...systemFolders.flatMap(systemWords),
    ...['/etc', '/run', '/var'].flatMap((path) => ['--dir', path]),
    ...systemFiles.flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...devices.flatMap((path) => [...(dirname(path) === '/dev' ? [] : ['--dir', dirname(path)]), '--dev-bind-try', path, path]),
    ...['--perms', '1777', '--tmpfs', '/tmp'],
    ...['--symlink', '../tmp', '/var/tmp'],
    ...bindWords(
      binds.filter(({ path, word }) => word === '--bind' || !systemFolders.some((folder) => isBelow(folder, path))),
      systemFolders,
    ),
  ];
}

/** `bound`: folders that are there. */
function bindWords(binds: readonly { readonly path: string; readonly word: string }[], bound: readonly string[]): string[] {
  return binds.flatMap(({ path, word }, index) => {
    const before = [...bound, ...binds.slice(0, index).map((bind) => bind.path)];
    return [...foldersAbove(path, before).flatMap((folder) => ['--dir', folder]), word, path, path];
  });
}

/** Folders of the new root that must be made, from the top; bubblewrap would close them to other users. */
function foldersAbove(path: string, bound: readonly string[]): string[] {
  const above: string[] = [];
  for (let folder = dirname(path); folder.length > 1 && !bound.includes(folder); folder = dirname(folder)) above.unshift(folder);
  const [top = '/'] = above;
  return bound.includes(dirname(top)) ? [] : above;
}

/** A folder of the system, or the link that it is where all of it lies below `/usr`. */
function systemWords(path: string): string[] {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return [];
  return facts.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}
