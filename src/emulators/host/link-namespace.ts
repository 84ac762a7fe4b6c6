/**
 * The server's link namespace: a network of its own that holds the interfaces of machines, so that neither the host nor another server
 * sees them or their frames, and that goes with them. Machines run in it: they need no other network.
 *
 * Theory of operation: a process that only sleeps, the holder, has the network namespace and a mount namespace with a `/sys` of that network
 * and a `/dev/net/tun` that emulators may open. Without root it is the root of a user namespace that owns them, and machines are in a user
 * namespace below, without a privilege over them. The holder is adopted like an emulator. The network stays while a machine or this server is in it or
 * keeps it open, so a holder that was ended is replaced by another one in the same network, and no frame is lost.
 */
import { type FileHandle, open, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Mutex } from '../../lib/mutex.ts';
import { BatchTool } from '../../process/batch-tool.ts';
import { bubblewrapObstacle } from '../../process/bubblewrap/usable.ts';
import { adoptChild, type Child, spawnChild } from '../../process/child.ts';
import { enterNetwork, enterWords } from '../../process/enter-namespaces.ts';
import { runTool } from '../../process/tool.ts';
import type { Settings } from '../../schema/settings.ts';
import { findProgram } from './find-program.ts';
import type { FabricPaths } from './host.ts';
import { commandAs, findRunAs } from './run-as.ts';

interface HolderRecord {
  readonly pid: number;
  readonly startTime: number;
  /** Name of the network namespace, such as `net:[4026532281]`. */
  readonly network: string;
  /** Name of the user namespace that owns it, of a server that is not root. */
  readonly user?: string;
}

/** Word that the holder prints when all is in place. */
const readyWord = 'ready';
const startLimitMs = 10_000;
const pollMs = 5;
const toolLimitMs = 5000;
/** A cause that failed may pass: a module that is loaded, a limit that is raised. */
const retryMs = 60_000;
const stopGraceMs = 500;

const isRoot = process.getuid?.() === 0;

/**
 * Commands of the holder, which act in its mount namespace only. IPv6 would send frames of the host. A user namespace has no device files of its own. Majors and minors:
 * Documentation/admin-guide/devices.txt of the kernel.
 */
const prepareScript = [
  // Read-only, as the kernel requires where the host's is.
  'mount -t sysfs -o ro sysfs /sys',
  '[ -c /dev/net/tun ] || { echo "there is no /dev/net/tun: load the module tun, or give it to the container" >&2; exit 1; }',
  ...(isRoot
    ? ['mount -t tmpfs -o mode=0755,size=64k tmpfs /dev/net', 'mknod -m 0666 /dev/net/tun c 10 200']
    : [
        '[ -r /dev/net/tun -a -w /dev/net/tun ] || { echo "/dev/net/tun is closed to this user: chmod 0666 /dev/net/tun" >&2; exit 1; }',
      ]),
  '{ echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6; echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6; } 2> /dev/null || true',
];
const holderScript = [...prepareScript, `echo ${readyWord}`, 'exec sleep infinity'].join(' && ');

/** Words before a command that is to have a network and mounts of its own; a user that is not root needs to be the root of a user namespace. */
const unshareWords = (kinds: readonly string[]) => [
  ...['unshare', ...(isRoot || !kinds.includes('--net') ? [] : ['--user', '--map-root-user'])],
  ...[...kinds, '--mount', '--propagation', 'slave'],
];

const trialWords = [...unshareWords(['--net']), 'sh', '-e', '-c'];

/** Words before a command that is to run where machines of this user could have interfaces, for as long as it runs. */
export const trialNamespace: readonly string[] = [...trialWords, [...prepareScript, 'exec "$@"'].join(' && '), 'sh'];

/** Tries whether there can be a link namespace. @returns why not, and what allows it; undefined when there can be one */
export async function tryLinkNamespace(): Promise<string | undefined> {
  // Machines that are not confined would be the root of the namespace, and could change the links of the others.
  const confinement = isRoot ? undefined : await bubblewrapObstacle();
  if (confinement !== undefined) return `bubblewrap cannot be used: ${confinement}`;
  const [program = '', ...args] = [...trialNamespace, 'true'];
  const { code, reason } = await runTool(program, args, { timeoutMs: toolLimitMs });
  return code === 0 ? undefined : withRemedy(reason);
}

function withRemedy(reason: string): string {
  if (isRoot || !/unshare|permission denied|not permitted/i.test(reason)) return reason;
  return `${reason}. User namespaces are needed: let sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0 and user.max_user_namespaces allow them, or run the server as root`;
}

export class LinkNamespace {
  /** Programs that are kept running there. */
  readonly ip = new BatchTool(() => [...this.#words(), 'ip']);
  readonly tc = new BatchTool(() => [...this.#words(), 'tc']);
  readonly #settings: Settings;
  readonly #fabric: FabricPaths;
  readonly #log: (level: 'warning' | 'error', message: string) => void;
  readonly #changes = new Mutex();
  #holder: Child | undefined;
  /** Keep the namespaces while this server runs. */
  #kept: FileHandle[] = [];
  #trial: Promise<string | undefined> | undefined;
  #likely: Promise<string | undefined> | undefined;
  #isClosed = false;

  constructor(settings: Settings, fabric: FabricPaths, log: (level: 'warning' | 'error', message: string) => void) {
    this.#settings = settings;
    this.#fabric = fabric;
    this.#log = log;
  }

  /** Process id of the holder; undefined while there is none. */
  get pid(): number | undefined {
    return this.#holder?.pid;
  }

  /** Finds the namespace of a server that ended. Never rejects. */
  async adopt(): Promise<void> {
    const record = await this.#readRecord();
    if (!record) return;
    const { runtimeDirectory: runDirectory } = this.#settings;
    try {
      const child = await adoptChild({ ...record, logFile: this.#logFile, runDirectory });
      if (child) await this.#use(child);
      else await this.#holdAgain(await findNamespaces(record));
    } catch (error) {
      this.#log('error', `the link namespace could not be taken over: ${(error as Error).message}`);
    }
  }

  /** Why machines cannot have interfaces here; undefined when they can. Makes the namespace with the first call. Never rejects. */
  obstacle(): Promise<string | undefined> {
    this.#trial ??= this.#tryAndSay();
    return this.#trial;
  }

  /** Whether machines will have interfaces, as far as can be said without making the namespace. */
  async isLikely(): Promise<boolean> {
    if (this.#trial) return (await this.#trial) === undefined;
    this.#likely ??= this.#tryNamespace();
    return (await this.#likely) === undefined;
  }

  async #tryAndSay(): Promise<string | undefined> {
    const reason = await this.#try().catch((error: Error) => error.message);
    if (reason === undefined || this.#isClosed) return reason;
    this.#log('warning', `machines have no TAP interfaces, so their links are slower: ${reason}`);
    setTimeout(() => {
      this.#trial = undefined;
    }, retryMs).unref();
    return reason;
  }

  /** Words before a command that is to run there, in this folder (default: `/`); only while there is no obstacle. */
  enter(directory?: string): string[] {
    return [...this.#words(), ...(directory === undefined ? [] : ['env', `--chdir=${directory}`])];
  }

  /** Names of the interfaces there. */
  async interfaces(): Promise<string[]> {
    const pid = this.pid;
    return pid === undefined ? [] : readdir(`/proc/${pid}/root/sys/class/net`);
  }

  /** Lets go; with `ends` the namespace ends, and with it its interfaces. */
  async close({ ends }: { ends: boolean }): Promise<void> {
    this.#isClosed = true;
    this.ip.close();
    this.tc.close();
    await this.#changes.run(async () => {
      if (ends) {
        await this.#holder?.stop({ graceMs: stopGraceMs });
        await rm(this.#recordFile, { force: true });
        await rm(this.#logFile, { force: true });
      } else this.#holder?.release();
      await this.#keep([]);
    });
  }

  get #recordFile(): string {
    return join(this.#settings.runtimeDirectory, 'link-namespace.json');
  }

  get #logFile(): string {
    return join(this.#settings.runtimeDirectory, 'link-namespace.log');
  }

  /** Words before a command that is to run there. Without a holder it fails: it must not run in the network of the host. */
  #words(): string[] {
    return enterWords(`/proc/${this.pid ?? 0}/ns`);
  }

  async #try(): Promise<string | undefined> {
    for (const [name, source] of [
      ['unshare', 'util-linux'],
      ['nsenter', 'util-linux'],
      ['ip', 'iproute2'],
      ['tc', 'iproute2'],
    ])
      if (!(await findProgram(name as string))) return `${name} (package ${source}) is not installed`;
    if (this.#holder === undefined) {
      const obstacle = await this.#tryNamespace();
      if (obstacle !== undefined) return obstacle;
      const [network, user] = this.#keptPaths;
      await this.#changes.run(() => this.#hold(network === undefined ? [] : enterNetwork(network, user)));
    }
    const { linkObstacle } = await this.#fabric.capabilities();
    if (linkObstacle !== null) return linkObstacle;
    const runAs = await findRunAs(this.#settings);
    const { program, args } = commandAs(runAs, 'sh', ['-c', ': <> /dev/net/tun']);
    const [first = '', ...words] = [...this.enter(), program, ...args];
    const { code, reason } = await runTool(first, words, { timeoutMs: toolLimitMs });
    return code === 0 ? undefined : `emulators cannot open /dev/net/tun: ${reason}`;
  }

  async #tryNamespace(): Promise<string | undefined> {
    if (!isRoot && !this.#settings.Qemu.sandbox) return 'a server that is not root needs the sandbox of [Qemu]';
    return tryLinkNamespace();
  }

  /** Starts a holder, in a network of its own or behind `words` in an existing one. @throws with the reason */
  async #hold(words: readonly string[]): Promise<void> {
    if (this.#isClosed) return;
    const { runtimeDirectory } = this.#settings;
    const script = ['sh', '-e', '-c', holderScript];
    const [program = '', ...args] = [...words, ...unshareWords(words.length === 0 ? ['--net'] : []), ...script];
    const child = await spawnChild({
      ...{ program, args, cwd: '/', logFile: this.#logFile, runDirectory: runtimeDirectory },
    });
    let hasEnded = false;
    void child.outcome.then(() => {
      hasEnded = true;
    });
    const limit = performance.now() + startLimitMs;
    while (!(await child.tail()).includes(readyWord)) {
      if (hasEnded || performance.now() > limit) {
        const { tail } = await child.stop({ graceMs: 0 });
        throw new Error(`a network namespace cannot be made: ${tail.trim() || 'it was not ready in time'}`);
      }
      await sleep(pollMs);
    }
    await this.#use(child);
  }

  /** Another holder of a network that is still there. `paths`: of the network namespace, and of the user namespace unless this is root. */
  async #holdAgain([network, user]: readonly string[]): Promise<void> {
    if (network === undefined) return;
    await this.#changes.run(() => this.#hold(enterNetwork(network, user)));
  }

  async #keep(paths: readonly string[]): Promise<void> {
    const before = this.#kept;
    this.#kept = await Promise.all(paths.map((path) => open(path, 'r')));
    for (const file of before) await file.close();
  }

  async #use(child: Child): Promise<void> {
    const paths = namespacesOf(child.pid);
    await this.#keep(paths);
    this.#holder = child;
    const [network = '', user] = await Promise.all(paths.map((path) => readlink(path)));
    const record: HolderRecord = { pid: child.pid, startTime: child.startTime, network, ...(user !== undefined && { user }) };
    await writeFile(this.#recordFile, JSON.stringify(record), { mode: 0o600 });
    void child.outcome.then(() => this.#lost(child));
    await this.#fabric.useNamespace(child.pid);
  }

  async #lost(child: Child): Promise<void> {
    if (this.#isClosed || this.#holder !== child) return;
    this.#log('warning', 'the holder of the link namespace has ended and is started again');
    await this.#holdAgain(this.#keptPaths).catch((error: Error) => {
      this.#log('error', `the link namespace: ${error.message}`);
      if (this.#holder !== child) return;
      // The next machine that starts has another one made.
      this.#holder = undefined;
      this.#trial = undefined;
    });
  }

  /** Paths of the namespaces that this server keeps. */
  get #keptPaths(): string[] {
    return this.#kept.map(({ fd }) => `/proc/${process.pid}/fd/${fd}`);
  }

  async #readRecord(): Promise<HolderRecord | undefined> {
    try {
      const { pid, startTime, network, user } = JSON.parse(await readFile(this.#recordFile, 'utf8')) as Partial<HolderRecord>;
      if (!Number.isInteger(pid) || typeof startTime !== 'number' || typeof network !== 'string') return undefined;
      return { pid: pid as number, startTime, network, ...(typeof user === 'string' && { user }) };
    } catch {
      return undefined;
    }
  }
}

/** Paths of a process's network namespace, and of its user namespace unless this is root. */
function namespacesOf(pid: number | string): string[] {
  return ['net', ...(isRoot ? [] : ['user'])].map((kind) => `/proc/${pid}/ns/${kind}`);
}

/** Finds paths to the recorded namespaces: of a process in them, or of one that keeps the network open, as the fabric does. Empty when there is none. */
async function findNamespaces({ network, user }: HolderRecord): Promise<string[]> {
  for (const pid of await readdir('/proc')) {
    const paths = /^\d+$/.test(pid) ? namespacesOf(pid) : [];
    const names = await Promise.all(paths.map((path) => readlink(path).catch(() => '')));
    if (names[0] === network && names[1] === user) return paths;
    const kept = isRoot && paths.length > 0 ? await findDescriptor(`/proc/${pid}/fd`, network) : undefined;
    if (kept !== undefined) return [kept];
  }
  return [];
}

async function findDescriptor(folder: string, target: string): Promise<string | undefined> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = `${folder}/${name}`;
    if ((await readlink(path).catch(() => '')) === target) return path;
  }
  return undefined;
}
