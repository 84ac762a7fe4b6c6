/**
 * Dynamips, confined by bubblewrap: it sees its node's folder, the image, its own processes and nothing else of the host. Its control port,
 * consoles and datagrams are on the loopback of its own network namespace, where no other process of the host reaches them: socat leads from
 * Unix sockets in the node's private folder to the control port and the consoles. The frames' relays join the namespace later (`relays.ts`).
 */
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bubblewrapWords, filterDescriptor, statusDescriptor } from '../../process/bubblewrap/bubblewrap.ts';
import { systemCallFilter } from '../../process/bubblewrap/system-call-filter.ts';
import { innerWork, type PrivateRootWords, privateRoot } from '../host/confinement/private-root.ts';
import { requireBubblewrap } from '../host/confinement/require-bubblewrap.ts';
import { quoteWord, quoteWords } from '../host/confinement/shell-text.ts';
import { requireProgram } from '../host/find-program.ts';
import type { RunAs } from '../host/run-as.ts';
import type { DynamipsBinary } from './binary.ts';

/** TCP, of every Dynamips in its own network namespace. */
export const innerPorts = { control: 7200, console: 2000, aux: 2001 } as const;
/** Paths inside the confinement, where Dynamips sees them. */
export const innerImage = '/ios.image';
export const innerGhosts = '/ghosts';
export const configsFolder = 'configs';
const innerProgram = '/dynamips';
const tmpBytes = 16 * 2 ** 20;

export interface ConfinedDynamips {
  readonly binary: DynamipsBinary;
  /** The writable folder, with a subfolder `configs` that Dynamips only reads. */
  readonly work: string;
  /** Empty; gets the mount points, sockets and scripts. */
  readonly runtimeDirectory: string;
  /** Path of the image on the host. */
  readonly image: string;
  /** Folder of ghost images, only read. Default: none. */
  readonly ghosts?: string;
  readonly runAs: RunAs | undefined;
  /** The process serves one request and no server adopts it: it ends when this server does. Default false. */
  readonly endsWithServer?: boolean;
}

export const socketOf = (runtimeDirectory: string, port: keyof typeof innerPorts) => join(runtimeDirectory, 'io', port);

/** `-N1`: MAC addresses follow from the router's number. The log of the emulator is in its folder. */
export const dynamipsArguments = ['-N1', '-l', 'dynamips_log.txt', '-H', `127.0.0.1:${innerPorts.control}`];

/** Writes what the command needs to the runtime folder. @throws tool_missing, confinement_failed */
export async function confineDynamips(
  confined: ConfinedDynamips,
): Promise<{ program: string; args: string[]; cwd: string; filter: Buffer | undefined }> {
  const { runtimeDirectory, runAs } = confined;
  await requireBubblewrap('Dynamips');
  const [socat, ip] = await Promise.all([requireProgram('socat', 'socat'), requireProgram('ip', 'iproute2')]);
  const root = await rootOf(confined);
  const sockets = join(runtimeDirectory, 'io');
  await mkdir(sockets, { mode: 0o700 });
  if (runAs) await chown(sockets, Number(runAs.uid), Number(runAs.gid));
  // The relays, which are that user, pass through it by a relative path.
  if (runAs) await chmod(runtimeDirectory, 0o711);
  await writeFile(join(runtimeDirectory, 'launch'), launchScript(confined, root, { socat, ip }), { mode: 0o600 });
  // A user namespace owns the network of the relays if the server is not root.
  const user = process.geteuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const args = ['--no-new-privs', 'unshare', ...user, '--net', 'sh', 'launch'];
  return { program: 'setpriv', args, cwd: runtimeDirectory, filter: systemCallFilter() };
}

async function rootOf({ binary, work, image, ghosts, runAs }: ConfinedDynamips): Promise<PrivateRootWords> {
  const configs = join(work, configsFolder);
  await mkdir(configs, { recursive: true });
  return privateRoot({
    reads: [
      [binary.path, innerProgram],
      [image, innerImage],
      // The server writes to this folder as root: a link that the emulator made must not lead it elsewhere.
      [configs, join(innerWork, configsFolder)],
      ...(ghosts === undefined ? [] : [[ghosts, innerGhosts] as const]),
    ],
    writes: [[work, innerWork]],
    libraries: binary.libraries,
    tmpBytes,
    runAs,
  });
}

/** Read by `sh` in the runtime folder. */
function launchScript(
  { runAs, endsWithServer = false }: ConfinedDynamips,
  { root, identity }: PrivateRootWords,
  { socat, ip }: { socat: string; ip: string },
): string {
  const relayed = ['setpriv', ...identityWords(runAs), '--pdeathsig', 'KILL'];
  const relays = Object.entries(innerPorts).map(([name, port]) =>
    quoteWords([...relayed, socat, `UNIX-LISTEN:io/${name},fork,mode=600`, `TCP4:127.0.0.1:${port}`]),
  );
  const limits = ['prlimit', ...(runAs?.limits ?? ['--core=0']), '--'];
  const confinement = bubblewrapWords({ root: [...root, '--unshare-uts'], workingFolder: innerWork, ends: 'alone' });
  const program = [...limits, ...confinement, ...identity, innerProgram, ...dynamipsArguments];
  const others = `2>/dev/null ${filterDescriptor}<&- ${statusDescriptor}>&- &`;
  return [
    `${quoteWord(ip)} link set lo up || exit`,
    ...relays.map((relay) => `${relay} ${others}`),
    ...(endsWithServer ? [`${endWithServer()} ${others}`] : []),
    `exec ${quoteWords(program)}`,
    '',
  ].join('\n');
}

/** Ends the process group soon after this server. The parent of a process whose parent has ended is another one. @see proc(5), /proc/PID/stat */
function endWithServer(): string {
  const parent = `"$(sed 's/.*) . //; s/ .*//' /proc/$$/stat)"`;
  return `(while test ${parent} = ${process.pid}; do sleep 0.5; done; kill -KILL 0)`;
}

/** Arguments of `setpriv`. */
export function identityWords(runAs: RunAs | undefined): string[] {
  return runAs ? [`--reuid=${runAs.uid}`, `--regid=${runAs.gid}`, '--clear-groups'] : [];
}
