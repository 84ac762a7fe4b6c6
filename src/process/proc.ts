/**
 * Reads the kernel's facts of processes from `/proc`. Linux only: elsewhere nothing is found, and callers do without.
 * @see proc(5), /proc/PID/stat
 */
import { readFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';

interface ProcessFacts {
  pid: number;
  /** A letter; `Z` is a zombie: the process has ended, and its parent has not waited for it yet. */
  state: string;
  parent: number;
  group: number;
  session: number;
  /** Clock ticks after boot; with the pid it names a process for good. */
  startTime: number;
}

/** Facts of one process; undefined when there is none. Reads memory of the kernel, not a disk, so it is synchronous. */
export function processFacts(pid: number): ProcessFacts | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** Whether exactly this process still runs: a zombie, or another process with a reused pid, does not count. */
export function isRunning(pid: number, startTime: number): boolean {
  const facts = processFacts(pid);
  return facts !== undefined && facts.startTime === startTime && !hasEnded(facts);
}

const hasEnded = ({ state }: ProcessFacts) => state === 'Z' || state === 'X';

/** The name in parentheses may hold blanks and parentheses, so the fields are counted from the last `)`. */
function parseStat(text: string): ProcessFacts | undefined {
  const end = text.lastIndexOf(')');
  const pid = Number.parseInt(text, 10);
  const fields = text.slice(end + 2).split(' ');
  const [state, parent, group, session] = fields;
  const startTime = Number(fields[19]);
  if (end < 0 || state === undefined || !Number.isInteger(startTime)) return undefined;
  return { pid, state, parent: Number(parent), group: Number(group), session: Number(session), startTime };
}

/** Clock ticks a second in the kernel's reports; the same on all architectures of today. @see proc(5), sysconf(3) */
const ticksPerSecond = 100;

interface ProcessUsage {
  /** Processor time of all its threads. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

/** Processor time and memory of a process; undefined when there is none. */
export async function processUsage(pid: number): Promise<ProcessUsage | undefined> {
  try {
    const [stat, status] = await Promise.all([readFile(`/proc/${pid}/stat`, 'latin1'), readFile(`/proc/${pid}/status`, 'latin1')]);
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const residentKiB = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
    return { cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond, residentBytes: residentKiB * 1024 };
  } catch {
    return undefined;
  }
}

/** All pids now; empty where there is no `/proc`. */
export async function listPids(): Promise<number[]> {
  const names = await readdir('/proc').catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

/** Processes that are read at a time: a host may have thousands, and the event loop turns in between. */
const readAtOnce = 32;

/** All processes that run now, zombies not counted; empty where there is no `/proc`. */
export async function listProcesses(): Promise<ProcessFacts[]> {
  const pids = await listPids();
  const found: ProcessFacts[] = [];
  for (let first = 0; first < pids.length; first += readAtOnce) {
    const texts = await Promise.all(
      pids.slice(first, first + readAtOnce).map((pid) => readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')),
    );
    for (const text of texts) {
      const facts = parseStat(text);
      if (facts !== undefined && !hasEnded(facts)) found.push(facts);
    }
  }
  return found;
}

/**
 * Running children of a process. The kernel lists those of each thread: what that costs does not grow with the processes of the host.
 * @see proc(5), /proc/PID/task/TID/children; a kernel without CONFIG_PROC_CHILDREN has none
 */
export async function childrenOf(parent: number): Promise<ProcessFacts[]> {
  const threads = await readdir(`/proc/${parent}/task`).catch(() => []);
  try {
    const lists = await Promise.all(threads.map((thread) => childrenOfThread(parent, thread)));
    const found = lists.flat().map(processFacts);
    return found.filter((facts) => facts !== undefined && facts.parent === parent && !hasEnded(facts)) as ProcessFacts[];
  } catch {
    return (await listProcesses()).filter((facts) => facts.parent === parent);
  }
}

/** Children of a thread; empty for one that has ended. @throws where the kernel has no such lists */
async function childrenOfThread(pid: number, thread: string): Promise<number[]> {
  const path = `/proc/${pid}/task/${thread}`;
  const text = await readFile(`${path}/children`, 'latin1').catch(async (error: unknown) => {
    const isThere = await stat(path).catch(() => undefined);
    if (isThere) throw error;
    return '';
  });
  return text.split(' ').filter(Boolean).map(Number);
}

/** Running members of a process group. */
export async function groupMembers(group: number): Promise<number[]> {
  return (await listProcesses()).filter((facts) => facts.group === group).map(({ pid }) => pid);
}

/**
 * The environment a process was started with, each variable between two zero bytes; undefined when it cannot be read (ended, or another
 * user's). Synchronous as `processFacts`: a start looks at all processes of the host, and four jobs for threads each take ten times as long.
 */
function processEnvironment(pid: number): string | undefined {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}`;
  } catch {
    return undefined;
  }
}

/**
 * Reads the environment of a process. It is empty for a moment while the process becomes another program: then it is read again, 10 ms later,
 * `readings` times at most.
 */
export async function settledEnvironment(pid: number, readings: number): Promise<string | undefined> {
  for (let left = readings; ; left--) {
    const environment = processEnvironment(pid);
    if (environment !== '\0' || left === 0) return environment;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The command line of a process, its arguments parted by blanks; empty when there is none. */
export async function commandLine(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return text.replaceAll('\0', ' ').trimEnd();
}
