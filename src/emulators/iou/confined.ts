/**
 * An IOU image, confined by bubblewrap: it finds no program and no file of the host but its libraries, no process but its own, no network, and
 * a `/tmp` in which nothing but the sockets of this node stands. So two nodes with one number, two servers and two users never meet in
 * `/tmp/netio…`. A filter denies the system calls that lead elsewhere.
 *
 * Theory of operation. A shell starts two programs and the image, whose exit status is its own. The image has a terminal for its standard
 * input and output. The first socat holds the other side of it: it passes on what it shows to a pipe, and writes it to the log. At the end the
 * shell adds a line, and waits until that is in the log: the image's last words explain why it has ended. The second one serves the pipes at a
 * Unix socket, to one connection after the other. Both only copy bytes; on a server that is root they are root without capabilities. All of it
 * continues while no server runs.
 */
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { fault } from '../../api/faults.ts';
import { bubblewrapWords, filterDescriptor, statusDescriptor } from '../../process/bubblewrap/bubblewrap.ts';
import { systemCallFilter } from '../../process/bubblewrap/system-call-filter.ts';
import { runMarker } from '../../process/child.ts';
import { innerWork, type PrivateRootWords, privateRoot } from '../host/confinement/private-root.ts';
import { requireBubblewrap } from '../host/confinement/require-bubblewrap.ts';
import { quoteWord, quoteWords } from '../host/confinement/shell-text.ts';
import { requireProgram } from '../host/find-program.ts';
import type { RunAs } from '../host/run-as.ts';
import type { IouImage } from './image.ts';

/** Files in the node's runtime folder. */
export const consoleSocket = (runtimeDirectory: string) => join(runtimeDirectory, 'console');
export const netioFolder = (runtimeDirectory: string) => join(runtimeDirectory, 'netio');

/** Names inside the root folder. The image's own may be longer than IOU can handle. */
const innerImage = '/iou';
const innerLicense = '/iourc';
/** Files in the node's runtime folder that bubblewrap reads and writes. */
const [filterFile, statusFile] = ['system-calls', 'status'];
/** A 64-bit image maps more than the memory of its router. */
const overheadBytes = 4 * 2 ** 30;
const mib = 2 ** 20;
const tmpBytes = 64 * mib;
const mostLooks = 1000;
/** The last line of the log. */
export const endMark = 'The IOU image has ended.';

interface ConfinedIou {
  readonly directory: string;
  readonly runtimeDirectory: string;
  readonly image: IouImage;
  readonly args: readonly string[];
  readonly license: string | undefined;
  readonly ramMiB: number;
  readonly runAs: RunAs | undefined;
}

/** Writes what the command needs to the runtime folder. @throws tool_missing, confinement_failed */
export async function confineIou(confined: ConfinedIou): Promise<{ program: string; args: string[]; cwd: string }> {
  const { runtimeDirectory, runAs, license } = confined;
  await requireBubblewrap('IOU');
  const socat = await requireProgram('socat', 'socat');
  const inRuntime = (name: string) => join(runtimeDirectory, name);
  const netio = netioFolder(runtimeDirectory);
  await mkdir(netio, { mode: 0o700 });
  if (license !== undefined) await writeFile(inRuntime('iourc'), license, { mode: 0o400 });
  const given = license === undefined ? [netio] : [netio, inRuntime('iourc')];
  if (runAs) for (const path of given) await chown(path, Number(runAs.uid), Number(runAs.gid));
  await makePipes([inRuntime('in'), inRuntime('out')]);
  await writeFile(inRuntime('hostid'), await hostId());
  await writeFile(inRuntime(filterFile), systemCallFilter() ?? '', { mode: 0o600 });
  await writeFile(inRuntime('launch'), launchScript(confined, socat, await rootOf(confined)), { mode: 0o600 });
  await chmod(runtimeDirectory, 0o711);
  return { program: 'sh', args: ['launch'], cwd: runtimeDirectory };
}

function rootOf({ directory, runtimeDirectory, image, license, runAs }: ConfinedIou): Promise<PrivateRootWords> {
  const uid = runAs?.uid ?? String(process.geteuid?.() ?? 0);
  return privateRoot({
    reads: [
      [image.path, innerImage],
      [join(runtimeDirectory, 'hostid'), '/etc/hostid'],
      ...(license === undefined ? [] : [[join(runtimeDirectory, 'iourc'), innerLicense] as const]),
    ],
    writes: [
      [directory, innerWork],
      [netioFolder(runtimeDirectory), `/tmp/netio${uid}`],
    ],
    libraries: image.libraries,
    tmpBytes,
    runAs,
  });
}

/** Read by `sh` in the runtime folder; its standard output is the log. */
function launchScript({ image, args, license, ramMiB }: ConfinedIou, socat: string, { root, identity }: PrivateRootWords): string {
  const noPrivileges = process.geteuid?.() === 0 ? ['--bounding-set=-all', '--inh-caps=-all'] : [];
  const helper = ['setpriv', ...noPrivileges, '--no-new-privs', '--pdeathsig', 'KILL', '--', socat];
  const terminal = [...helper, '-r', '/dev/fd/4', 'PTY,link=tty,rawer', 'OPEN:in,rdwr!!OPEN:out,rdwr'];
  const server = [...helper, 'UNIX-LISTEN:console,fork,max-children=1,mode=600', 'OPEN:out,rdwr!!OPEN:in,rdwr'];
  const limits = ['prlimit', '--core=0', '--nofile=1024', `--as=${ramMiB * mib + overheadBytes}`];
  const namespaces = { workingFolder: innerWork, ends: 'shell', hasOwnNetwork: true } as const;
  const program = [...bubblewrapWords({ root: [...root, '--unshare-uts'], ...namespaces }), ...identity, innerImage, ...args];
  const descriptors = `<&3 >&3 2>&3 ${filterDescriptor}<${filterFile} ${statusDescriptor}>${statusFile}`;
  const environment = ['env', '-i', `${runMarker}="$${runMarker}"`, 'PATH="$PATH"', `HOME=${innerWork}`, 'TERM=dumb'];
  // The cache of the host's dynamic linker is not in the root folder.
  const folders = [...new Set(image.libraries.map(dirname))];
  if (folders.length > 0) environment.push(`LD_LIBRARY_PATH=${quoteWord(folders.join(':'))}`);
  const variables = license === undefined ? environment : [...environment, `IOURC=${innerLicense}`];
  return [
    'exec </dev/null 4>&1',
    // These signals go to all of them; the shell ends with the image. Its last words are of no interest then, and nothing writes them.
    'stopping=; trap stopping=1 HUP TERM',
    `${quoteWords(terminal)} &`,
    `${quoteWords(server)} 2>/dev/null &`,
    // The image waits for the socket, or what people type as soon as it runs would be lost.
    ...untilTrue('test -e tty -a -S console'),
    'exec 3<>tty && stty raw -echo <&3 || exit',
    `${variables.join(' ')} ${quoteWords([...limits, '--', ...program])} ${descriptors} & image=$!`,
    // A wait that a signal has interrupted is repeated. Asked to end, bubblewrap goes before the image has.
    'while kill -0 $image 2>/dev/null; do wait $image; status=$?; done',
    `inner=$(sed -n 's/.*"child-pid": \\([0-9]*\\).*/\\1/p' ${statusFile})`,
    'while test -n "$stopping" && kill -0 $inner 2>/dev/null; do sleep 0.02; done',
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
