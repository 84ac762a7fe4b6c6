/**
 * Dynamips in namespaces of its own: it sees its node's folder, the image and nothing else of the host's files. Its control port, consoles and
 * datagrams are on the loopback of its own network namespace, where no other process of the host reaches them: socat leads from Unix sockets
 * in the node's private folder to the control port and the consoles. The frames' relays join the namespace later (`relays.ts`).
 */
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Mount, mountTable } from '../host/confinement/mount-table.ts';
import { unshareWords } from '../host/confinement/namespaces.ts';
import { innerProgram, innerWork, makePrivateRoot } from '../host/confinement/private-root.ts';
import { quoteWord, quoteWords } from '../host/confinement/shell-text.ts';
import { requireProgram } from '../host/find-program.ts';
import type { RunAs } from '../host/run-as.ts';
import type { DynamipsBinary } from './binary.ts';

/** TCP, of every Dynamips in its own network namespace. */
export const innerPorts = { control: 7200, console: 2000, aux: 2001 } as const;
/** As Dynamips sees them. */
export const innerImage = '/ios.image';
export const innerGhosts = '/ghosts';
export const configsFolder = 'configs';

export interface ConfinedDynamips {
  readonly binary: DynamipsBinary;
  /** The writable folder, with a subfolder `configs` that Dynamips only reads. */
  readonly work: string;
  /** Empty; gets the mount points, sockets and scripts. */
  readonly runtimeDirectory: string;
  /** Of the host. */
  readonly image: string;
  /** Folder of ghost images, only read. Default: none. */
  readonly ghosts?: string;
  readonly runAs: RunAs | undefined;
  /** It runs for a request only, and no server adopts it: it ends when this server does. Default false. */
  readonly endsWithServer?: boolean;
}

export const socketOf = (runtimeDirectory: string, port: keyof typeof innerPorts) => join(runtimeDirectory, 'io', port);

/** `-N1`: MAC addresses follow from the router's number. The log of the emulator is in its folder. */
export const dynamipsArguments = ['-N1', '-l', 'dynamips_log.txt', '-H', `127.0.0.1:${innerPorts.control}`];

/** Writes what the command needs to the runtime folder. @throws tool_missing */
export async function confineDynamips(confined: ConfinedDynamips): Promise<{ program: string; args: string[]; cwd: string }> {
  const { runtimeDirectory, runAs } = confined;
  const [socat, ip] = await Promise.all([requireProgram('socat', 'socat'), requireProgram('ip', 'iproute2')]);
  const mounts = await makeRoot(confined);
  const sockets = join(runtimeDirectory, 'io');
  await mkdir(sockets, { mode: 0o700 });
  if (runAs) await chown(sockets, Number(runAs.uid), Number(runAs.gid));
  // The relays, which are that user, pass through it by a relative path.
  if (runAs) await chmod(runtimeDirectory, 0o711);
  await writeFile(join(runtimeDirectory, 'mounts'), mountTable(mounts), { mode: 0o600 });
  await writeFile(join(runtimeDirectory, 'launch'), launchScript(confined, { socat, ip }), { mode: 0o600 });
  const [program = '', ...words] = unshareWords(['net', 'mount', 'ipc', 'uts']);
  return { program, args: [...words, 'sh', 'launch'], cwd: runtimeDirectory };
}

async function makeRoot({ binary, work, runtimeDirectory, image, ghosts }: ConfinedDynamips): Promise<Mount[]> {
  const folder = join(runtimeDirectory, 'root');
  const mounts = await makePrivateRoot({ folder, program: binary.path, libraries: binary.libraries, work });
  await mkdir(join(work, configsFolder), { recursive: true });
  await writeFile(join(folder, innerImage), '');
  await mkdir(join(folder, innerGhosts));
  await mkdir(join(folder, 'tmp'));
  await writeFile(join(folder, 'dev/null'), '');
  const readOnly = 'bind,ro,nosuid,nodev,noexec';
  return [
    ...mounts,
    // What the server writes there, it writes as root: a link of the emulator's making must not lead it elsewhere.
    { source: join(work, configsFolder), target: join(folder, innerWork, configsFolder), options: readOnly },
    { source: image, target: join(folder, innerImage), options: readOnly },
    ...(ghosts === undefined ? [] : [{ source: ghosts, target: join(folder, innerGhosts), options: readOnly }]),
    { source: '/dev/null', target: join(folder, 'dev/null'), options: 'bind,nosuid,noexec' },
    { source: 'tmpfs', target: join(folder, 'tmp'), type: 'tmpfs', options: 'mode=1777,size=16m,nosuid,nodev,noexec' },
  ];
}

/** Read by `sh` in the runtime folder. */
function launchScript(
  { binary, runAs, endsWithServer = false }: ConfinedDynamips,
  { socat, ip }: { socat: string; ip: string },
): string {
  const relayed = ['setpriv', ...identityWords(runAs), '--pdeathsig', 'KILL'];
  const relays = Object.entries(innerPorts).map(([name, port]) =>
    quoteWords([...relayed, socat, `UNIX-LISTEN:io/${name},fork,mode=600`, `TCP4:127.0.0.1:${port}`]),
  );
  // A user who is not root is "root" in its namespaces, and gives that up in one more.
  const identity = runAs ? [`--setgid=${runAs.gid}`, `--setuid=${runAs.uid}`] : process.geteuid?.() === 0 ? [] : nestedUser();
  const limits = runAs?.limits ?? ['--core=0'];
  const words = ['prlimit', ...limits, 'unshare', ...identity, '--root=root', `--wd=${innerWork}`, '--'];
  return [
    `${quoteWord(ip)} link set lo up && mount --all --fstab mounts || exit`,
    ...relays.map((relay) => `${relay} 2>/dev/null &`),
    ...(endsWithServer ? [endWithServer()] : []),
    `exec ${quoteWords([...words, innerProgram(binary.path), ...dynamipsArguments])}`,
    '',
  ].join('\n');
}

/** Ends the process group soon after this server. The parent of a process whose parent has ended is another one. @see proc(5), /proc/PID/stat */
function endWithServer(): string {
  const parent = `"$(sed 's/.*) . //; s/ .*//' /proc/$$/stat)"`;
  return `(while test ${parent} = ${process.pid}; do sleep 0.5; done; kill -KILL 0) &`;
}

/** Arguments of `setpriv`. */
export function identityWords(runAs: RunAs | undefined): string[] {
  return runAs ? [`--reuid=${runAs.uid}`, `--regid=${runAs.gid}`, '--clear-groups'] : [];
}

function nestedUser(): string[] {
  return ['--user', `--map-user=${process.geteuid?.() ?? 0}`, `--map-group=${process.getegid?.() ?? 0}`];
}
