/**
 * The owner of every child process. A child leads a session of its own and writes to a file, so that it outlives the server; a
 * server that starts again takes it over by pid and start time. It has one outcome, and the first cause wins: a child that was
 * asked to stop has `stopped`, whatever its exit code.
 *
 * Theory of operation: a process group is spoken to as a whole. When its leader has ended, members that are left are ended
 * firmly, and only then the outcome settles: a settled outcome means that nothing of the child runs any more. A child that bubblewrap starts
 * is the confined program: its pid is that one's as the host sees it, bubblewrap leads the group and ends with it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { openRegular } from '../lib/regular-file.ts';
import { filterDescriptor, statusDescriptor } from './bubblewrap/bubblewrap.ts';
import { environmentFor } from './bubblewrap/environment.ts';
import { adoptionFailed, endGroup, signalGroup, signalProcess } from './group.ts';
import { openLog } from './open-log.ts';
import { niceWords, prioritise, programNiceness } from './priority.ts';
import { isRunning, processFacts } from './proc.ts';

/** Name of the environment variable that every child carries; its value is the server's runtime folder. */
export const runMarker = 'PATCHBAY_RUN';

export interface Outcome {
  /**
   * `exited`: by itself (or by a signal of another process). `stopped`: we asked and it went. `killed`: we asked and it had to be
   * forced. `failed-to-start`: there never was a process. `lost`: an adopted child ended by itself, its code is not known.
   */
  readonly how: 'exited' | 'stopped' | 'killed' | 'failed-to-start' | 'lost';
  readonly code?: number;
  readonly signal?: string;
  /** Last words of the child, at most 4 KiB. */
  readonly tail: string;
}

export interface Child {
  /** 0 when it failed to start. */
  readonly pid: number;
  /** Field 22 of /proc/PID/stat; 0 when unknown. */
  readonly startTime: number;
  /** Settles once, when no process of the group is left. Never rejects. */
  readonly outcome: Promise<Outcome>;
  /** SIGTERM to the group, after `graceMs` SIGKILL. With 0 at once SIGKILL. */
  stop(options: { graceMs: number }): Promise<Outcome>;
  /** The last 4 KiB of its output so far. */
  tail(): Promise<string>;
  /** Lets go: it runs on, `outcome` stays open, and nothing here keeps this process awake for it. */
  release(): void;
}

export interface ChildSpec {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Receives standard output and error. */
  readonly logFile: string;
  /** Keep what the log holds; otherwise it starts empty. */
  readonly append?: boolean;
  /** The server's runtime folder, the value of `PATCHBAY_RUN`. */
  readonly runDirectory: string;
  /** Added to this process's environment, or with `filter` to the variables that confined programs get. */
  readonly env?: Readonly<NodeJS.ProcessEnv>;
  /** Nice value, -20 to 19. That it could not be set is ignored: raising it needs privileges. */
  readonly niceness?: number;
  /** The program is bubblewrap, which reads this filter of system calls and reports the pid of the confined program. */
  readonly filter?: Buffer | undefined;
}

export interface ChildRecord {
  readonly pid: number;
  readonly startTime: number;
  readonly logFile: string;
  /** Where this child's output begins in the log, bytes; default 0. */
  readonly logOffset?: number;
}

/** Starts a child. Never rejects for the child's sake: a program that cannot be run gives a child with its outcome settled. */
export async function spawnChild(spec: ChildSpec): Promise<Child> {
  const log = await openLog(spec.logFile, { append: spec.append === true }).catch((cause: Error) => cause);
  if (log instanceof Error) return stillborn(`cannot write ${spec.logFile}: ${log.message}`);
  try {
    const { size } = await log.stat();
    const niceness = spec.niceness ?? programNiceness();
    const isConfined = spec.filter !== undefined;
    const nice = isConfined && niceness !== undefined ? niceWords(niceness) : [];
    const [program = '', ...args] = [...nice, spec.program, ...spec.args];
    const child = spawn(program, args, {
      cwd: spec.cwd,
      env: { ...environmentFor(spec.filter), ...spec.env, [runMarker]: spec.runDirectory },
      detached: true,
      stdio: ['ignore', log.fd, log.fd, ...(isConfined ? (['pipe', 'pipe'] as const) : [])],
    });
    // Threads and children that the program makes from now on inherit the value.
    if (niceness !== undefined && nice.length === 0 && child.pid !== undefined) prioritise(child.pid, niceness);
    const inner = spec.filter === undefined ? undefined : confinedPid(child, spec.filter).catch(() => undefined);
    const started = await new Promise<Error | number>((resolve) => {
      child.once('error', resolve);
      // Read before the event loop can reap the child, or a child that ends at once would have no start time.
      const startTime = child.pid === undefined ? 0 : (processFacts(child.pid)?.startTime ?? 0);
      child.once('spawn', () => resolve(startTime));
    });
    if (started instanceof Error || child.pid === undefined) {
      return stillborn(started instanceof Error ? started.message : 'it has no process id');
    }
    const ended = new Promise<Ended>((resolve) => {
      const settle = (code: number | null, signal: string | null) =>
        resolve({ ...(code !== null && { code }), ...(signal && { signal }) });
      if (child.exitCode !== null || child.signalCode !== null) settle(child.exitCode, child.signalCode);
      else child.once('exit', settle);
    });
    const confined = await inner;
    const facts =
      confined === undefined
        ? { pid: child.pid, startTime: started }
        : { pid: confined, startTime: processFacts(confined)?.startTime ?? 0 };
    return supervise(
      { ...facts, logFile: spec.logFile, logOffset: size },
      {
        group: child.pid,
        ended: inner === undefined ? ended : ended.then(ofConfined),
        alive: () => child.exitCode === null && child.signalCode === null,
        release: () => child.unref(),
        natural: 'exited',
      },
    );
  } finally {
    await log.close();
  }
}

/** Gives bubblewrap the filter. @returns the pid of the confined program; undefined when there never was one */
async function confinedPid(child: ChildProcess, filter: Buffer): Promise<number | undefined> {
  const [input, status] = [child.stdio[filterDescriptor] as Socket, child.stdio[statusDescriptor] as Socket];
  for (const pipe of [input, status]) pipe.on('error', () => undefined);
  input.end(filter);
  // Left open, as bubblewrap writes its exit code there, too; this process does not stay awake for that.
  status.unref();
  let text = '';
  for await (const chunk of status.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    const pid = /"child-pid": (\d+)/.exec(text)?.[1];
    if (pid !== undefined) return Number(pid);
  }
  return undefined;
}

/** Bubblewrap ends with the code of the program, or 128 and the number of the signal that ended it. */
function ofConfined({ code, signal }: Ended): Ended {
  const name = Object.entries(constants.signals).find(([, number]) => number === (code ?? 0) - 128)?.[0];
  if (name !== undefined) return { signal: name };
  return { ...(code !== undefined && { code }), ...(signal !== undefined && { signal }) };
}

/**
 * Takes over a child of a server that ended. Undefined when it no longer runs, or when the pid belongs to another process now.
 * As it is not our child, its end is noticed by looking four times a second, and its exit code is not known.
 */
export function adoptChild(record: ChildRecord & { readonly runDirectory?: string }): Promise<Child | undefined> {
  return adoptionFailed(record, runMarker).then((failed) => {
    if (failed) return undefined;
    const { promise: ended, resolve } = Promise.withResolvers<Ended>();
    const timer = setInterval(() => alive(), adoptedPollMs);
    const alive = () => {
      if (isRunning(record.pid, record.startTime)) return true;
      clearInterval(timer);
      resolve({});
      return false;
    };
    const group = processFacts(record.pid)?.group ?? record.pid;
    return supervise(record, { group, ended, alive, release: () => clearInterval(timer), natural: 'lost' });
  });
}

const adoptedPollMs = 250;

interface Ended {
  code?: number;
  signal?: string;
}

interface Watch {
  /** Process group. Where another process leads it, that one is bubblewrap. */
  readonly group: number;
  readonly ended: Promise<Ended>;
  readonly alive: () => boolean;
  readonly release: () => void;
  readonly natural: 'exited' | 'lost';
}

function supervise(record: ChildRecord, watch: Watch): Child {
  let cause: 'stopped' | 'killed' | undefined;
  const tail = () => logTail(record.logFile, record.logOffset);
  const outcome = watch.ended.then(async (ended): Promise<Outcome> => {
    const how = cause ?? watch.natural;
    await endGroup(watch.group, how === 'stopped' ? groupGraceMs : 0);
    return { how, ...ended, tail: await tail() };
  });
  const kill = (signal: NodeJS.Signals) => {
    // Never signal a pid that might already be another process.
    if (!watch.alive()) return;
    // Bubblewrap would end by a signal before the program has.
    if (signal === 'SIGTERM' && watch.group !== record.pid) signalProcess(record.pid, signal);
    else signalGroup(watch.group, signal);
  };
  return {
    pid: record.pid,
    startTime: record.startTime,
    outcome,
    tail,
    async stop({ graceMs }) {
      if (!watch.alive()) return outcome;
      if (graceMs > 0) {
        cause ??= 'stopped';
        kill('SIGTERM');
        if (await settledWithin(watch, graceMs)) return outcome;
      }
      if (watch.alive()) cause = 'killed';
      kill('SIGKILL');
      await settledWithin(watch, forcedLimitMs);
      return outcome;
    },
    release: watch.release,
  };
}

/** Members of a group whose leader went politely may take this long to follow it. */
const groupGraceMs = 500;

/** Time after SIGKILL in which the child is polled often; a process in an uninterruptible wait of the kernel can take longer. */
const forcedLimitMs = 2000;

/** Polls often while a caller waits for an end: an adopted child gives no sign of it. */
async function settledWithin(watch: Watch, limitMs: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const limit = setTimeout(() => resolve(false), limitMs);
  const look = setInterval(() => !watch.alive() && resolve(true), 10);
  void watch.ended.then(() => resolve(true));
  const settled = await promise;
  clearTimeout(limit);
  clearInterval(look);
  return settled;
}

function stillborn(reason: string): Child {
  const outcome = Promise.resolve<Outcome>({ how: 'failed-to-start', tail: reason });
  return { pid: 0, startTime: 0, outcome, stop: () => outcome, tail: () => Promise.resolve(reason), release: () => {} };
}

/** Length of a child's output that a failure quotes. */
const tailBytes = 4096;

/** The last words of a log file, at most 4 KiB of what was written after `from` bytes; empty when the file cannot be read. */
async function logTail(path: string, from = 0): Promise<string> {
  const opened = await openRegular(path, { noFollow: true }).catch(() => undefined);
  if (opened === undefined) return '';
  const { file, sizeBytes } = opened;
  try {
    const start = Math.max(from, sizeBytes - tailBytes, 0);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(tailBytes), 0, tailBytes, start);
    return buffer.subarray(0, bytesRead).toString('utf8').trim();
  } catch {
    return '';
  } finally {
    await file.close();
  }
}
