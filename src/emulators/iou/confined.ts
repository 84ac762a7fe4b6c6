/**
 * An IOU image in namespaces of its own: it finds no program and no file of the host but its libraries, no network, and a `/tmp` in which
 * nothing but the sockets of this node stands. So two nodes with one number, two servers and two users never meet in `/tmp/netio…`.
 *
 * Theory of operation. A shell in the new namespaces mounts the root folder, starts two programs and runs the image, whose exit status is its
 * own. The image has a terminal for its standard input and output. The first socat holds the other side of it: it passes on what it shows to
 * a pipe, and writes it to the log. At the end the shell adds a line, and waits until that is in the log: the image's last words explain why
 * it has ended. The second one serves the pipes at a Unix socket, to one connection after the other. Both are root without capabilities, and only copy bytes. All of it
 * continues while no server runs.
 */
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { fault } from '../../api/faults.ts';
import { runMarker } from '../../process/child.ts';
import { type Mount, mountTable } from '../host/confinement/mount-table.ts';
import { unshareWords } from '../host/confinement/namespaces.ts';
import { innerWork, makePrivateRoot } from '../host/confinement/private-root.ts';
import { quoteWord, quoteWords } from '../host/confinement/shell-text.ts';
import { requireProgram } from '../host/find-program.ts';
import type { RunAs } from '../host/run-as.ts';
import type { IouImage } from './image.ts';

/** Files in the node's runtime folder. */
export const consoleSocket = (runtimeDirectory: string) => join(runtimeDirectory, 'console');
export const netioFolder = (runtimeDirectory: string) => join(runtimeDirectory, 'netio');

/** Names inside the root folder. The image's own may be longer than IOU can handle. */
const innerImage = 'iou';
const innerLicense = '/iourc';
/** A 64-bit image maps more than the memory of its router. */
const overheadBytes = 4 * 2 ** 30;
const mib = 2 ** 20;
const devices = ['null', 'zero', 'random', 'urandom'];
const mostLooks = 1000;
/** The last line of the log. */
export const endMark = 'The IOU image has ended.';

export interface ConfinedIou {
  readonly directory: string;
  readonly runtimeDirectory: string;
  readonly image: IouImage;
  readonly args: readonly string[];
  readonly license: string | undefined;
  readonly ramMiB: number;
  readonly runAs: RunAs | undefined;
}

/** Writes what the command needs to the runtime folder. @throws tool_missing */
export async function confineIou(confined: ConfinedIou): Promise<{ program: string; args: string[]; cwd: string }> {
  const { runtimeDirectory, runAs, license } = confined;
  const socat = await requireProgram('socat', 'socat');
  const inRuntime = (name: string) => join(runtimeDirectory, name);
  const netio = netioFolder(runtimeDirectory);
  await mkdir(netio, { mode: 0o700 });
  if (license !== undefined) await writeFile(inRuntime('iourc'), license, { mode: 0o400 });
  const given = license === undefined ? [netio] : [netio, inRuntime('iourc')];
  if (runAs) for (const path of given) await chown(path, Number(runAs.uid), Number(runAs.gid));
  await makePipes([inRuntime('in'), inRuntime('out')]);
  await writeFile(inRuntime('hostid'), await hostId());
  await writeFile(inRuntime('mounts'), mountTable(await mountsOf(confined)), { mode: 0o600 });
  await writeFile(inRuntime('launch'), launchScript(confined, socat), { mode: 0o600 });
  await chmod(runtimeDirectory, 0o711);
  const [program = '', ...args] = [...unshareWords(['net', 'mount', 'ipc', 'uts']), 'sh', 'launch'];
  return { program, args, cwd: runtimeDirectory };
}

async function mountsOf({ directory, runtimeDirectory, image, license, runAs }: ConfinedIou): Promise<Mount[]> {
  const folder = join(runtimeDirectory, 'root');
  const root = { folder, program: image.path, innerName: innerImage, libraries: image.libraries, work: directory };
  const mounts = await makePrivateRoot(root);
  const files: [source: string, inside: string, options: string][] = [
    [join(runtimeDirectory, 'hostid'), '/etc/hostid', 'bind,ro,nosuid,nodev'],
    ...devices.map((name): [string, string, string] => [`/dev/${name}`, `/dev/${name}`, 'bind,nosuid,noexec']),
  ];
  if (license !== undefined) files.push([join(runtimeDirectory, 'iourc'), innerLicense, 'bind,ro,nosuid,nodev']);
  await mkdir(join(folder, 'etc'), { recursive: true });
  await mkdir(join(folder, 'tmp'), { recursive: true });
  for (const [, inside] of files) await writeFile(join(folder, inside), '');
  const uid = runAs?.uid ?? String(process.geteuid?.() ?? 0);
  return [
    ...mounts,
    ...files.map(([source, inside, options]) => ({ source, target: join(folder, inside), options })),
    { source: 'tmpfs', target: join(folder, 'tmp'), type: 'tmpfs', options: 'size=64m,mode=1777,nosuid,nodev,noexec' },
    {
      source: netioFolder(runtimeDirectory),
      target: join(folder, 'tmp', `netio${uid}`),
      options: 'bind,X-mount.mkdir,nosuid,nodev,noexec',
    },
  ];
}

/** Read by `sh` in the runtime folder; its standard output is the log. */
function launchScript({ image, args, license, ramMiB, runAs }: ConfinedIou, socat: string): string {
  const identity = runAs
    ? [`--setgid=${runAs.gid}`, `--setuid=${runAs.uid}`]
    : process.geteuid?.() === 0
      ? []
      : ['--user', `--map-user=${process.geteuid?.() ?? 0}`, `--map-group=${process.getegid?.() ?? 0}`];
  const helper = ['setpriv', '--bounding-set=-all', '--inh-caps=-all', '--pdeathsig', 'KILL', '--', socat];
  const terminal = [...helper, '-r', '/dev/fd/4', 'PTY,link=tty,rawer', 'OPEN:in,rdwr!!OPEN:out,rdwr'];
  const server = [...helper, 'UNIX-LISTEN:console,fork,max-children=1,mode=600', 'OPEN:out,rdwr!!OPEN:in,rdwr'];
  const limits = ['prlimit', '--core=0', '--nofile=1024', `--as=${ramMiB * mib + overheadBytes}`];
  const program = ['unshare', ...identity, '--root=root', `--wd=${innerWork}`, '--', `/${innerImage}`, ...args];
  const environment = ['env', '-i', `${runMarker}="$${runMarker}"`, 'PATH="$PATH"', `HOME=${innerWork}`, 'TERM=dumb'];
  // The cache of the host's dynamic linker is not in the root folder.
  const folders = [...new Set(image.libraries.map(dirname))];
  if (folders.length > 0) environment.push(`LD_LIBRARY_PATH=${quoteWord(folders.join(':'))}`);
  const variables = license === undefined ? environment : [...environment, `IOURC=${innerLicense}`];
  return [
    'exec </dev/null 4>&1',
    'mount --all --fstab mounts || exit',
    // These signals go to all of them; the shell ends with the image. Its last words are of no interest then, and nothing writes them.
    'stopping=; trap stopping=1 HUP TERM',
    `${quoteWords(terminal)} &`,
    `${quoteWords(server)} 2>/dev/null &`,
    // Without the socket, what people type as soon as the image runs would be lost.
    ...untilTrue('test -e tty -a -S console'),
    'exec 3<>tty && stty raw -echo <&3 || exit',
    `${variables.join(' ')} ${quoteWords([...limits, '--', ...program])} <&3 >&3 2>&3 3>&- & image=$!`,
    // A wait that a signal has interrupted is repeated.
    'while kill -0 $image 2>/dev/null; do wait $image; status=$?; done',
    `test -n "$stopping" || printf '\\r\\n%s\\r\\n' '${endMark}' >&3`,
    ...untilTrue(`test -n "$stopping" || tail -c 64 /dev/fd/4 | grep -q '${endMark}'`),
    'exit $status',
    '',
  ].join('\n');
}

/** Looks at a condition again and again, for some seconds at most. */
function untilTrue(condition: string): string[] {
  return ['looked=0', `until ${condition} || test $looked -ge ${mostLooks}; do looked=$((looked + 1)); sleep 0.01; done`];
}

/** Four bytes, as gethostid(3) reads them from /etc/hostid: licences depend on it, and there is no other way to it in the new root. */
async function hostId(): Promise<Buffer> {
  const { stdout } = await promisify(execFile)('hostid').catch(() => ({ stdout: '0' }));
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(Number.parseInt(stdout.trim(), 16) >>> 0);
  return bytes;
}

async function makePipes(paths: readonly string[]): Promise<void> {
  await promisify(execFile)('mkfifo', ['-m', '600', '--', ...paths]).catch((cause: Error) => {
    throw fault('storage_failed', { reason: cause.message }, { cause });
  });
}
