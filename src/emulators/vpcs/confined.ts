/**
 * vpcs in namespaces of its own. `! COMMAND` on its console finds no shell there, `rlogin` no host, and its sockets, which listen on all
 * addresses, are reached only by the two relays in its network namespace: socat from the fabric's datagrams to those of vpcs, and socat
 * from a Unix socket in the node's private folder to the console.
 *
 * Theory of operation. socat opens the datagram socket on the host's loopback and becomes `unshare`, then a shell that mounts and starts the
 * relays, then vpcs: one process id throughout. The frames' relay inherits the socket, so it needs no uplink. It ends when a datagram is
 * refused, as the fabric is restarting, and is started again; meanwhile datagrams wait in the socket.
 */
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { mountTable } from '../host/confinement/mount-table.ts';
import { unshareWords } from '../host/confinement/namespaces.ts';
import { innerProgram, innerWork, makePrivateRoot } from '../host/confinement/private-root.ts';
import { quoteWord, quoteWords } from '../host/confinement/shell-text.ts';
import { requireProgram } from '../host/find-program.ts';
import type { RunAs } from '../host/run-as.ts';
import type { VpcsBinary } from './binary.ts';
import type { VpcsPorts } from './command.ts';

/** Of vpcs in its own network namespace: the same for every node. */
export const innerPorts: VpcsPorts = { console: 2000, local: 10_000, fabric: 10_001 };
/** A frame is at most one datagram: 65,535 bytes less the headers of IPv4 and UDP. */
const maxDatagramBytes = 65_507;
/**
 * How late the kernel may wake it, instead of 50 µs. Its sender looks for frames every 100 µs: 6,000 wake-ups per second, which took 5 to 8 %
 * of a core in each idle PC. Now there are 900, and a frame leaves half a millisecond later on average.
 */
const timerSlackMs = 1;
/** Where many run, so that idle PCs leave their host to others: with 875 on two cores, 1 ms took them both. */
const longestTimerSlackMs = 20;
/** So many on a processor have the shortest. */
const quickPerProcessor = 8;
/** What `save` writes is a few lines. */
const limits = ['--core=0', '--nofile=64', '--fsize=1048576'];

export interface Confined {
  /** The node's folder: the only one that vpcs sees. */
  readonly directory: string;
  readonly runtimeDirectory: string;
  readonly binary: VpcsBinary;
  readonly args: readonly string[];
  /** Of the link, on the host's loopback: the fabric's, and the relay's. */
  readonly ports: { readonly fabric: number; readonly local: number };
  readonly runAs: RunAs | undefined;
  /** How many run on this compute. */
  readonly running: number;
}

export interface ConfinedCommand {
  readonly program: string;
  readonly args: string[];
  /** Names in the command are relative to it. */
  readonly cwd: string;
}

/** The socket of the console, as its relay names it. */
export const innerConsoleSocket = 'io/console';
export const consoleSocket = (runtimeDirectory: string) => join(runtimeDirectory, innerConsoleSocket);

/** Writes what the command needs to the runtime folder. @throws tool_missing */
export async function confineVpcs(confined: Confined): Promise<ConfinedCommand> {
  const { directory, runtimeDirectory, binary, ports, runAs } = confined;
  const [socat, ip] = await Promise.all([requireProgram('socat', 'socat'), requireProgram('ip', 'iproute2')]);
  const root = { folder: join(runtimeDirectory, 'root'), program: binary.path, libraries: binary.libraries, work: directory };
  const mounts = await makePrivateRoot(root);
  const sockets = join(runtimeDirectory, 'io');
  await mkdir(sockets, { mode: 0o700 });
  if (runAs) await chown(sockets, Number(runAs.uid), Number(runAs.gid));
  // The relays, which are that user, pass through it by a relative path.
  if (runAs) await chmod(runtimeDirectory, 0o711);
  await writeFile(join(runtimeDirectory, 'mounts'), mountTable(mounts), { mode: 0o600 });
  await writeFile(join(runtimeDirectory, 'launch'), launchScript(confined, { socat, ip }), { mode: 0o600 });
  const namespaces = unshareWords(['net', 'mount', 'ipc', 'uts']).join(' ');
  return {
    program: socat,
    args: [`UDP4:127.0.0.1:${ports.fabric},bind=127.0.0.1:${ports.local}`, `EXEC:${namespaces} sh launch,nofork`],
    cwd: runtimeDirectory,
  };
}

/** Read by `sh` in the runtime folder, with the datagram socket as its standard input and output. */
export function launchScript(
  { binary, args, runAs, running }: Pick<Confined, 'binary' | 'args' | 'runAs' | 'running'>,
  { socat, ip }: { socat: string; ip: string },
): string {
  // A user who is not root is "root" in its namespaces, and gives that up in one more.
  const identity = runAs ? [`--reuid=${runAs.uid}`, `--regid=${runAs.gid}`, '--clear-groups'] : [];
  const relayed = ['setpriv', ...identity, '--pdeathsig', 'KILL'];
  const vpcsIdentity = runAs ? [`--setgid=${runAs.gid}`, `--setuid=${runAs.uid}`] : process.geteuid?.() === 0 ? [] : nestedUser();
  const { console: tcp, local, fabric } = innerPorts;
  const frames = ['setpriv', '--pdeathsig', 'KILL', socat, '-b', String(maxDatagramBytes), 'FD:3'];
  const frameLoop = `while :; do ${quoteWords([...frames, `UDP4-DATAGRAM:127.0.0.1:${local},bind=127.0.0.1:${fabric}`])}; sleep 0.05 || exit; done`;
  const consoleRelay = [...relayed, socat, `UNIX-LISTEN:${innerConsoleSocket},fork,mode=600`, `TCP4:127.0.0.1:${tcp}`];
  const vpcs = [
    'prlimit',
    ...limits,
    'unshare',
    ...vpcsIdentity,
    '--root=root',
    `--wd=${innerWork}`,
    '--',
    innerProgram(binary.path),
    ...args,
  ];
  return [
    'exec 3<&0 >&2 </dev/null',
    `${quoteWord(ip)} link set lo up && mount --all --fstab mounts || exit`,
    `${quoteWords([...relayed, 'sh', '-c', frameLoop])} 2>/dev/null &`,
    'exec 3<&-',
    `${quoteWords(consoleRelay)} 2>/dev/null &`,
    // Inherited by all threads. A kernel without the file only wakes it more often.
    `{ echo ${timerSlackNs(running, availableParallelism())} > /proc/self/timerslack_ns; } 2>/dev/null`,
    `exec ${quoteWords(vpcs)}`,
    '',
  ].join('\n');
}

/** Of a PC that starts beside `running` others. */
export function timerSlackNs(running: number, processors: number): number {
  const ms = (timerSlackMs * running) / (processors * quickPerProcessor);
  return Math.round(1e6 * Math.min(Math.max(ms, timerSlackMs), longestTimerSlackMs));
}

function nestedUser(): string[] {
  return ['--user', `--map-user=${process.geteuid?.() ?? 0}`, `--map-group=${process.getegid?.() ?? 0}`];
}
