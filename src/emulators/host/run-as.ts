/**
 * Emulators of a server that is root, and programs beside them that need no privilege, run as another user: a guest that breaks out is
 * then that user, and no more. `setpriv` (util-linux) changes it rather than the program itself, as QEMU's sandbox forbids that, and rather
 * than Node, which would leave out the user's groups, and so `/dev/kvm`.
 */
import { chmod, lchown, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { isBelow } from '../../lib/inside.ts';
import { runTool } from '../../process/tool.ts';
import type { Settings } from '../../schema/settings.ts';
import type { NodeView } from '../driver.ts';

export interface RunAs {
  /** For people: a name, or the number of a user without one. */
  readonly user: string;
  readonly uid: string;
  readonly gid: string;
  /** Numbers of its groups, comma-separated: a confined program has no databases of the system. Absent in records of earlier versions: none. */
  readonly groups?: string;
  /** Arguments of `prlimit` for each of its processes. */
  readonly limits: readonly string[];
}

/**
 * Open files of one process, and processes and threads of the user, whose emulators all count: a machine has some twenty threads, and up to
 * 64 more while its disks are busy. Less than the 32,768 that the kernel gives all users by default (kernel.pid_max, proc(5)).
 */
const fileLimit = 65_536;
const processLimit = 30_000;

const toolLimitMs = 30_000;

/** What a package would name its user. */
const packagedUser = 'patchbay';
/**
 * A user of our own needs no entry in the system's databases. Debian's policy (9.2.2) and systemd (Users, Groups, UIDs and GIDs on systemd
 * Systems) leave 60706 to 61183 unused.
 */
const ownId = '61100';

/** Undefined when the server is not root and so cannot choose, or is to run them as root. @throws run_as_failed for an unknown user */
export async function findRunAs({ Server: { run_as } }: Pick<Settings, 'Server'>): Promise<RunAs | undefined> {
  if (run_as === 'root' || process.getuid?.() !== 0) return undefined;
  const user = run_as === '' && (await hasPackagedUser()) ? packagedUser : run_as;
  if (user === '') {
    return { user: ownId, uid: ownId, gid: ownId, groups: await groupOfKvm(), limits: await findLimits() };
  }
  const answers = ['-u', '-g', '-G'].map((what) => runTool('id', [what, '--', user], { timeoutMs: toolLimitMs }));
  const [uid, gid, all] = await Promise.all(answers);
  if (uid?.code === 0 && gid?.code === 0 && all?.code === 0) {
    const groups = all.stdout.trim().replaceAll(' ', ',');
    return { user, uid: uid.stdout.trim(), gid: gid.stdout.trim(), groups, limits: await findLimits() };
  }
  throw fault('run_as_failed', { reason: `there is no user "${user}" on this compute` });
}

/** Lower than the server's own limits, which only root could raise. */
async function findLimits(): Promise<string[]> {
  const text = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const atMost = (limit: number, name: string) =>
    Math.min(limit, Number(new RegExp(`^${name} +\\S+ +(\\d+)`, 'm').exec(text)?.[1] ?? limit));
  return ['--core=0', `--nofile=${atMost(fileLimit, 'Max open files')}`, `--nproc=${atMost(processLimit, 'Max processes')}`];
}

async function hasPackagedUser(): Promise<boolean> {
  return /^patchbay:/m.test(await readFile('/etc/passwd', 'utf8').catch(() => ''));
}

/** The number of the group that may use KVM; empty when there is none. */
async function groupOfKvm(): Promise<string> {
  const facts = await stat('/dev/kvm').catch(() => undefined);
  return facts !== undefined && facts.gid !== 0 && (facts.mode & 0o060) === 0o060 ? String(facts.gid) : '';
}

/** The command that runs a program as this user, within its limits and `further` ones, without a memory image when it crashes. */
export function commandAs(
  runAs: RunAs | undefined,
  program: string,
  args: readonly string[],
  further: readonly string[] = [],
): { program: string; args: string[] } {
  if (runAs === undefined) return { program, args: [...args] };
  const { uid, gid, groups = '', limits } = runAs;
  const groupWord = groups === '' ? '--clear-groups' : `--groups=${groups}`;
  return {
    program: 'setpriv',
    args: [
      `--reuid=${uid}`,
      `--regid=${gid}`,
      groupWord,
      '--no-new-privs',
      '--',
      'prlimit',
      ...limits,
      ...further,
      '--',
      program,
      ...args,
    ],
  };
}

/** Makes the node's folders the user's, and lets it pass to that of sockets. @throws run_as_failed */
export async function giveFolders(
  runAs: RunAs,
  { directory, runtimeDirectory }: Pick<NodeView, 'directory' | 'runtimeDirectory'>,
  runDirectory: string,
): Promise<void> {
  await own(runAs, [directory, runtimeDirectory]);
  // Others may pass through them, not look into them.
  for (let path = dirname(runtimeDirectory); isBelow(dirname(runDirectory), path); path = dirname(path)) await chmod(path, 0o711);
}

/** Links are changed themselves, never what they lead to. @throws run_as_failed */
export async function own({ user, uid, gid }: Pick<RunAs, 'user' | 'uid' | 'gid'>, paths: readonly string[]): Promise<void> {
  const { code, reason } = await runTool('chown', ['-R', '-h', '-P', `${uid}:${gid}`, '--', ...paths], { timeoutMs: toolLimitMs });
  if (code !== 0) throw fault('run_as_failed', { reason: `files could not be given to the user ${user}: ${reason}` });
}

/**
 * As `own`, for the folder of a node, without a process where it holds no folders: the user cannot put a link in its place, as the folder above
 * is the server's. @throws run_as_failed
 */
export async function ownNodeFolder(runAs: RunAs, directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => undefined);
  if (!entries || entries.some((entry) => entry.isDirectory())) return own(runAs, [directory]);
  const paths = [directory, ...entries.map(({ name }) => join(directory, name))];
  try {
    await Promise.all(paths.map((path) => lchown(path, Number(runAs.uid), Number(runAs.gid))));
  } catch {
    // A file was removed meanwhile; or it says why.
    await own(runAs, [directory]);
  }
}
