/**
 * The server's link namespace: a network of its own that holds the interfaces of machines, so that neither the host nor another server
 * sees them or their frames, and that goes with them. Machines run in it: they need no other network.
 *
 * Theory of operation: a process that only sleeps, the holder, has the network namespace and a mount namespace with a `/sys` of that network
 * and a `/dev/net/tun` that emulators may open. It is adopted like an emulator. The network stays while a machine or this server is in it or
 * keeps it open, so a holder that was ended is replaced by another one in the same network, and no frame is lost.
 */
import { existsSync } from 'node:fs';
import { type FileHandle, open, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Mutex } from '../../lib/mutex.ts';
import { BatchTool } from '../../process/batch-tool.ts';
import { adoptChild, type Child, spawnChild } from '../../process/child.ts';
import { runTool } from '../../process/tool.ts';
import type { Settings } from '../../schema/settings.ts';
import { findProgram } from './find-program.ts';
import type { FabricPaths } from './host.ts';
import { commandAs, findRunAs } from './run-as.ts';

export interface LinkNamespaceParts {
  readonly settings: Settings;
  readonly fabric: FabricPaths;
  log(level: 'warning' | 'error', message: string): void;
}

interface HolderRecord {
  readonly pid: number;
  readonly startTime: number;
  /** Name of the network namespace, such as `net:[4026532281]`. */
  readonly network: string;
}

/** Word that the holder prints when all is in place. */
const readyWord = 'ready';
const startLimitMs = 10_000;
const pollMs = 5;
const toolLimitMs = 5000;
/** A cause that failed may pass: a module that is loaded, a limit that is raised. */
const retryMs = 60_000;
const stopGraceMs = 500;

/** In its mount namespace only; IPv6 would send frames of the host. Majors and minors: Documentation/admin-guide/devices.txt of the kernel. */
const holderScript = [
  'mount -t sysfs sysfs /sys',
  '[ -c /dev/net/tun ] || { echo "there is no /dev/net/tun: load the module tun, or give it to the container"; exit 1; }',
  'mount -t tmpfs -o mode=0755,size=64k tmpfs /dev/net',
  'mknod -m 0666 /dev/net/tun c 10 200',
  '{ echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6; echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6; } 2> /dev/null || true',
  `echo ${readyWord}`,
  'exec sleep infinity',
].join(' && ');

export class LinkNamespace {
  /** Programs that are kept running there. */
  readonly ip = new BatchTool(() => [...this.#words(), 'ip']);
  readonly tc = new BatchTool(() => [...this.#words(), 'tc']);
  readonly #parts: LinkNamespaceParts;
  readonly #changes = new Mutex();
  #holder: Child | undefined;
  /** Keeps the network while this server runs. */
  #network: FileHandle | undefined;
  #trial: Promise<string | undefined> | undefined;
  #isClosed = false;

  constructor(parts: LinkNamespaceParts) {
    this.#parts = parts;
  }

  /** Process id of the holder; undefined while there is none. */
  get pid(): number | undefined {
    return this.#holder?.pid;
  }

  /** Finds the namespace of a server that ended. Never rejects. */
  async adopt(): Promise<void> {
    const record = await this.#readRecord();
    if (!record) return;
    const { runtimeDirectory: runDirectory } = this.#parts.settings;
    try {
      const child = await adoptChild({ ...record, logFile: this.#logFile, runDirectory });
      if (child) await this.#use(child);
      else await this.#holdAgain(await pathOf(record.network));
    } catch (error) {
      this.#parts.log('error', `the link namespace could not be taken over: ${(error as Error).message}`);
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
    return process.getuid?.() === 0 && process.env.PATCHBAY_NATIVE !== 'off' && existsSync('/dev/net/tun');
  }

  async #tryAndSay(): Promise<string | undefined> {
    const reason = await this.#try().catch((error: Error) => error.message);
    if (reason === undefined || this.#isClosed) return reason;
    this.#parts.log('warning', `machines have no TAP interfaces, so their links are slower: ${reason}`);
    setTimeout(() => {
      this.#trial = undefined;
    }, retryMs).unref();
    return reason;
  }

  /** Words before a command that is to run there, in this folder; only while there is no obstacle. */
  enter(directory: string): string[] {
    return [...this.#words(), 'env', `--chdir=${directory}`];
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
      await this.#network?.close();
    });
  }

  get #recordFile(): string {
    return join(this.#parts.settings.runtimeDirectory, 'link-namespace.json');
  }

  get #logFile(): string {
    return join(this.#parts.settings.runtimeDirectory, 'link-namespace.log');
  }

  #words(): string[] {
    const pid = this.pid ?? 'self';
    return ['nsenter', `--net=/proc/${pid}/ns/net`, `--mount=/proc/${pid}/ns/mnt`];
  }

  async #try(): Promise<string | undefined> {
    const { fabric, settings } = this.#parts;
    if (process.getuid?.() !== 0) return 'the server is not root';
    for (const [name, source] of [
      ['unshare', 'util-linux'],
      ['nsenter', 'util-linux'],
      ['ip', 'iproute2'],
      ['tc', 'iproute2'],
    ])
      if (!(await findProgram(name as string))) return `${name} (package ${source}) is not installed`;
    if (!(await fabric.capabilities()).taps) return 'koffi cannot be loaded';
    if (this.#holder === undefined) await this.#changes.run(() => this.#hold([]));
    const { linkObstacle } = await fabric.capabilities();
    if (linkObstacle !== null) return linkObstacle;
    const runAs = await findRunAs(settings);
    const { program, args } = commandAs(runAs, 'sh', ['-c', ': <> /dev/net/tun']);
    const [first = '', ...words] = [...this.enter('/'), program, ...args];
    const { code, reason } = await runTool(first, words, { timeoutMs: toolLimitMs });
    return code === 0 ? undefined : `emulators cannot open /dev/net/tun: ${reason}`;
  }

  /** Starts a holder, in a network of its own or behind `words` in an existing one. @throws with the reason */
  async #hold(words: readonly string[]): Promise<void> {
    if (this.#isClosed) return;
    const { runtimeDirectory } = this.#parts.settings;
    const own = words.length === 0 ? ['--net'] : [];
    const script = ['sh', '-e', '-c', holderScript];
    const [program = '', ...args] = [...words, 'unshare', ...own, '--mount', '--propagation', 'slave', ...script];
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

  /** Another holder of a network that is still there. */
  async #holdAgain(path: string | undefined): Promise<void> {
    if (path === undefined) return;
    await this.#changes.run(() => this.#hold(['nsenter', `--net=${path}`]));
  }

  async #use(child: Child): Promise<void> {
    const path = `/proc/${child.pid}/ns/net`;
    const network = await open(path, 'r');
    await this.#network?.close();
    this.#network = network;
    this.#holder = child;
    const record: HolderRecord = { pid: child.pid, startTime: child.startTime, network: await readlink(path) };
    await writeFile(this.#recordFile, JSON.stringify(record), { mode: 0o600 });
    void child.outcome.then(() => this.#lost(child));
    await this.#parts.fabric.useNamespace(child.pid);
  }

  async #lost(child: Child): Promise<void> {
    if (this.#isClosed || this.#holder !== child) return;
    this.#parts.log('warning', 'the holder of the link namespace has ended and is started again');
    const path = `/proc/${process.pid}/fd/${this.#network?.fd}`;
    await this.#holdAgain(path).catch((error: Error) => this.#parts.log('error', `the link namespace: ${error.message}`));
  }

  async #readRecord(): Promise<HolderRecord | undefined> {
    try {
      const { pid, startTime, network } = JSON.parse(await readFile(this.#recordFile, 'utf8')) as Partial<HolderRecord>;
      if (!Number.isInteger(pid) || typeof startTime !== 'number' || typeof network !== 'string') return undefined;
      return { pid: pid as number, startTime, network };
    } catch {
      return undefined;
    }
  }
}

/** A path to the network namespace of this name, of a process that is in it; undefined when there is none. */
async function pathOf(network: string): Promise<string | undefined> {
  for (const name of await readdir('/proc')) {
    const path = `/proc/${name}/ns/net`;
    if (/^\d+$/.test(name) && (await readlink(path).catch(() => '')) === network) return path;
  }
  return undefined;
}
