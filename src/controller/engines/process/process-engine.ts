/**
 * Slices as processes of this host: for tests, and for a host whose labs are to run apart from the controller. Each has a folder
 * below `<data>/slices` with its owner's mark and the process's id; the data folder of the slice is in it. A process whose server
 * is gone is `lost`, not `ended`: its machines are processes of their own, which its guard ends when the lease is over.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, open, readdir, readFile } from 'node:fs/promises';
import { availableParallelism, hostname, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { writeFileAtomic } from '../../../lib/atomic-file.ts';
import { removeTree } from '../../../lib/remove-tree.ts';
import {
  type Engine,
  EngineError,
  type EngineLimits,
  joinVariable,
  type Offer,
  type SliceListener,
  type SliceOrder,
  type SliceReport,
  sliceArguments,
} from '../engine.ts';

const program = resolve(import.meta.dirname, '../../../main.ts');
const markName = 'slice.json';
const lookMs = 500;
const graceMs = 20_000;
const mib = 1 << 20;

interface Mark {
  readonly owner: string;
  readonly pid: number;
  /** Field 22 of /proc/PID/stat. */
  readonly startTime: number;
  readonly isReleased: boolean;
}

export class ProcessEngine implements Engine {
  readonly name = 'process';
  readonly canBeAsked = true;
  readonly #folder: string;

  /** `folder`: of the slices. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async offer(): Promise<readonly Offer[]> {
    const memory = Math.floor(totalmem() / mib);
    return [{ name: hostname(), cpus: availableParallelism(), memory, disk: 0, kvm: false, count: null, wait: 0 }];
  }

  async place(order: SliceOrder): Promise<void> {
    const known = await this.#mark(order.id);
    if (known && isRunning(known)) return;
    const folder = join(this.#folder, order.id);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const log = await open(join(folder, 'slice.log'), 'a', 0o600);
      try {
        await this.#spawn(order, folder, log.fd);
      } finally {
        await log.close();
      }
    } catch (error) {
      throw new EngineError(`The process of the slice could not be started: ${(error as Error).message}`, { cause: error });
    }
  }

  async release(id: string, { keepDisks }: { readonly keepDisks: boolean }): Promise<void> {
    const mark = await this.#mark(id);
    if (!mark) return;
    if (isRunning(mark)) {
      signal(mark, 'SIGTERM');
      const limit = performance.now() + graceMs;
      while (isRunning(mark) && performance.now() < limit) await pause(lookMs / 5);
      signal(mark, 'SIGKILL');
    }
    if (keepDisks) await this.#write(id, { ...mark, isReleased: true });
    else await removeTree(join(this.#folder, id));
  }

  async watch(owner: string, listener: SliceListener, signal: AbortSignal): Promise<void> {
    let known = new Map<string, string>();
    listener.onList(await this.#reports(owner));
    while (!signal.aborted) {
      const reports = await this.#reports(owner);
      const texts = new Map(reports.map((report) => [report.id, JSON.stringify(report)]));
      for (const report of reports) if (known.get(report.id) !== texts.get(report.id)) listener.onChange(report);
      if ([...known.keys()].some((id) => !texts.has(id))) listener.onList(reports);
      known = texts;
      await pause(lookMs, signal);
    }
  }

  async limits(): Promise<EngineLimits> {
    return { slices: null, walltime: null, grace: graceMs / 1000, disks: 'anywhere', remarks: [] };
  }

  async #spawn(order: SliceOrder, folder: string, log: number): Promise<void> {
    const line = [...sliceArguments(order), '--data-dir', join(folder, 'data'), '--host', '127.0.0.1'];
    const child = spawn(process.execPath, [program, ...line], {
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...process.env, [joinVariable]: order.token, PATCHBAY_PLACED_BY: 'process' },
    });
    await new Promise<void>((done, failed) => child.once('spawn', done).once('error', failed));
    child.unref();
    const pid = child.pid ?? 0;
    await this.#write(order.id, { owner: order.owner, pid, startTime: startTimeOf(pid), isReleased: false });
  }

  async #reports(owner: string): Promise<SliceReport[]> {
    const ids = await readdir(this.#folder).catch(() => []);
    const marks = await Promise.all(ids.map(async (id) => ({ id, mark: await this.#mark(id) })));
    return marks.flatMap(({ id, mark }) => {
      if (mark?.owner !== owner) return [];
      const runs = isRunning(mark);
      const state = runs ? 'running' : mark.isReleased ? 'ended' : 'lost';
      return [{ id, state, reason: runs ? null : 'its process has ended', host: hostname(), endsAt: null }];
    });
  }

  async #mark(id: string): Promise<Mark | undefined> {
    try {
      const mark = JSON.parse(await readFile(join(this.#folder, id, markName), 'utf8')) as Mark;
      return Number.isInteger(mark.pid) && mark.pid > 1 ? mark : undefined;
    } catch {
      return undefined;
    }
  }

  #write(id: string, mark: Mark): Promise<void> {
    return writeFileAtomic(join(this.#folder, id, markName), JSON.stringify(mark), 0o600);
  }
}

/** 0: there is no such process, or it is a zombie. @see proc(5) */
function startTimeOf(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? 0 : Number(fields[19]);
  } catch {
    return 0;
  }
}

function isRunning({ pid, startTime }: Mark): boolean {
  return startTime !== 0 && startTimeOf(pid) === startTime;
}

function signal(mark: Mark, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    if (isRunning(mark)) process.kill(mark.pid, name);
  } catch {
    // The process has ended meanwhile.
  }
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      done();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
