/**
 * Emulators of a server that is root, and programs beside them that need no privilege, run as another user: a guest that breaks out is
 * then that user, and no more. `setpriv` (util-linux) changes it rather than the program itself, as QEMU's sandbox forbids that, and rather
 * than Node, which would leave out the user's groups, and so `/dev/kvm`.
 */
import { createHash } from 'node:crypto';
import { chmod, lchown, lstat, opendir, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { isBelow } from '../../lib/inside.ts';
import { runTool } from '../../process/tool.ts';
import type { Settings } from '../../schema/settings.ts';
import type { NodeView } from '../driver.ts';

export interface RunAs {
  /** User for messages: a name, or the number of a user without one. */
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
/** Files of a folder that are looked at before a process gives all of them. */
const mostLooks = 200;

/** Name that a package would give its user. */
const packagedUser = 'patchbay';
/**
 * A user of our own needs no entry in the system's databases. Debian's policy (9.2.2) and systemd (Users, Groups, UIDs and GIDs on systemd
 * Systems) leave 60706 to 61183 unused.
 */
const ownId = '61100';

/**
 * Users of nodes, one for each, after the hash of its id: no machine owns what another one does. Numbers that systemd (Users, Groups, UIDs and
 * GIDs on systemd Systems) leaves unused, up to those of foreign images (2147352576 and more).
 */
const [firstNodeId, nodeIds] = [1_879_048_192, 2 ** 28 - 2 ** 17];

/**
 * The user of a node's emulators; without `nodeId` that of tools. Undefined when the server is not root and so cannot choose, or is to run them
 * as root. @throws run_as_failed for an unknown user
 */
export async function findRunAs({ Server: { run_as } }: Pick<Settings, 'Server'>, nodeId?: string): Promise<RunAs | undefined> {
  if (run_as === 'root' || process.getuid?.() !== 0) return undefined;
  const user = run_as === '' && (await hasPackagedUser()) ? packagedUser : run_as;
  if (user === '') {
    const id = nodeId !== undefined && (await hasNodeIds()) ? idOfNode(nodeId) : ownId;
    return { user: id, uid: id, gid: id, groups: await groupOfKvm(), limits: await findLimits() };
  }
  const answers = ['-u', '-g', '-G'].map((what) => runTool('id', [what, '--', user], { timeoutMs: toolLimitMs }));
  const [uid, gid, all] = await Promise.all(answers);
  if (uid?.code === 0 && gid?.code === 0 && all?.code === 0) {
    const groups = all.stdout.trim().replaceAll(' ', ',');
    return { user, uid: uid.stdout.trim(), gid: gid.stdout.trim(), groups, limits: await findLimits() };
  }
  throw fault('run_as_failed', { reason: `there is no user "${user}" on this compute` });
}

/** The user of a running process of a node, which an earlier version may have started as another. */
export async function findUserOf(settings: Pick<Settings, 'Server'>, nodeId: string, pid: number): Promise<RunAs | undefined> {
  const runAs = await findRunAs(settings, nodeId);
  const status = runAs && (await readFile(`/proc/${pid}/status`, 'latin1').catch(() => ''));
  const [uid, gid] = ['Uid', 'Gid'].map((name) => new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status ?? '')?.[1]);
  return runAs && uid !== undefined && gid !== undefined && uid !== runAs.uid ? { ...runAs, user: uid, uid, gid } : runAs;
}

/** Whether a file of this owner may be an emulator's. */
export function isEmulators(owner: number, { uid }: Pick<RunAs, 'uid'>): boolean {
  return [uid, ownId].includes(String(owner)) || (owner >= firstNodeId && owner < firstNodeId + nodeIds);
}

function idOfNode(nodeId: string): string {
  const hash = createHash('sha256').update(nodeId).digest().readUInt32BE();
  return String(firstNodeId + (hash % nodeIds));
}

/** A user namespace, as of a container, may have fewer. @see user_namespaces(7) */
async function hasNodeIds(): Promise<boolean> {
  const maps = await Promise.all(['uid_map', 'gid_map'].map((name) => readFile(`/proc/self/${name}`, 'latin1').catch(() => '')));
  return maps.every((map) =>
    map.split('\n').some((line) => {
      const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
      return first <= firstNodeId && firstNodeId + nodeIds <= first + count;
    }),
  );
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
  await own(runAs, [directory]);
  // New with each start, in a folder of the server's: nothing is in it, and no other program can have put another file in its place.
  if ((await readdir(runtimeDirectory)).length > 0) await own(runAs, [runtimeDirectory]);
  else await lchown(runtimeDirectory, Number(runAs.uid), Number(runAs.gid));
  // Others may pass through them, not look into them.
  for (let path = dirname(runtimeDirectory); isBelow(dirname(runDirectory), path); path = dirname(path)) await chmod(path, 0o711);
}

/**
 * Gives files and folders to a user; links themselves, never what they lead to. A start mostly finds them given by the one before, and a
 * process that gives them takes longer than to look. @throws run_as_failed
 */
export async function own(given: Pick<RunAs, 'user' | 'uid' | 'gid'>, paths: readonly string[]): Promise<void> {
  const { user, uid, gid } = given;
  const are = await Promise.all(paths.map((path) => isOwnedBy(given, path).catch(() => false)));
  if (are.every(Boolean)) return;
  const { code, reason } = await runTool('chown', ['-R', '-h', '-P', `${uid}:${gid}`, '--', ...paths], { timeoutMs: toolLimitMs });
  if (code !== 0) throw fault('run_as_failed', { reason: `files could not be given to the user ${user}: ${reason}` });
}

/** Whether a file is the user's, and with a folder all in it. False also for a folder with too much in it: a program may have filled it. */
async function isOwnedBy(given: Pick<RunAs, 'uid' | 'gid'>, path: string, looks = { left: mostLooks }): Promise<boolean> {
  looks.left -= 1;
  const facts = await lstat(path);
  if (looks.left < 0 || String(facts.uid) !== given.uid || String(facts.gid) !== given.gid) return false;
  if (!facts.isDirectory()) return true;
  for await (const { name } of await opendir(path)) if (!(await isOwnedBy(given, join(path, name), looks))) return false;
  return true;
}
