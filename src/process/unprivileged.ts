/**
 * Programs that turn what strangers sent into output, and need no file of this host: unpackers, the compiler of capture filters. On a server
 * that is root each runs as a user that owns nothing, not as the user of emulators, to whom machines and their disks belong. Where bubblewrap
 * can be used, it sees no file but the programs of the distribution, no other process and no network.
 */
import { bubblewrapWords } from './bubblewrap/bubblewrap.ts';
import { environmentFor } from './bubblewrap/environment.ts';
import { systemCallFilter } from './bubblewrap/system-call-filter.ts';
import { bubblewrapObstacle } from './bubblewrap/usable.ts';
import { runTool } from './tool.ts';

/** User without an entry in the system's databases; beside the user of emulators, in a range that Debian and systemd leave unused. */
export const ownsNothing = 61_101;

interface ToolLimits {
  readonly memoryBytes: number;
  /** Limit of processor time. */
  readonly seconds: number;
}

const probeLimitMs = 5000;
const openFiles = 32;
let canChange: Promise<boolean> | undefined;

interface UnprivilegedCommand {
  readonly program: string;
  readonly args: string[];
  /** The program of system calls that the starter writes to `filterDescriptor`; undefined where bubblewrap cannot be used. */
  readonly filter: Buffer | undefined;
  /** The environment in which the starter starts it. */
  readonly env: NodeJS.ProcessEnv;
}

/** The command that runs a program so. It can write no file, only its output. It ends with the thread that starts it. */
export async function unprivilegedCommand(
  program: string,
  args: readonly string[],
  { memoryBytes, seconds }: ToolLimits,
): Promise<UnprivilegedCommand> {
  if (process.platform !== 'linux') return { program, args: [...args], filter: undefined, env: environmentFor(undefined) };
  const bounds = [`--as=${memoryBytes}`, `--cpu=${seconds}`, '--fsize=0', `--nofile=${openFiles}`, '--core=0'];
  const inner = [...(await identityWords()), '--no-new-privs', '--', 'prlimit', ...bounds, '--', program, ...args];
  if ((await bubblewrapObstacle()) !== undefined)
    return { program: 'setpriv', args: inner, filter: undefined, env: environmentFor(undefined) };
  const root = { reads: [], writes: [] };
  const [first = '', ...words] = bubblewrapWords({ root, workingFolder: '/', ends: 'parent', hasOwnNetwork: true });
  const filter = systemCallFilter();
  return { program: first, args: [...words, 'setpriv', ...inner], filter, env: environmentFor(filter) };
}

/** Words of `setpriv`; empty where this process cannot change its user, as in a container that has one only. */
async function identityWords(): Promise<string[]> {
  if (process.geteuid?.() !== 0) return [];
  const words = [`--reuid=${ownsNothing}`, `--regid=${ownsNothing}`, '--clear-groups', '--bounding-set=-all', '--inh-caps=-all'];
  canChange ??= runTool('setpriv', [...words, '--', 'true'], { timeoutMs: probeLimitMs }).then(({ code }) => code === 0);
  return (await canChange) ? words : [];
}

/** Whether this exit code says that the program could not be run: it is not installed, or closed to other users. @see prlimit(1) */
export const couldNotRun = (code: unknown) => code === 126 || code === 127;
