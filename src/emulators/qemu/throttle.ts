/**
 * A limit on the processor time of a machine, kept by `cpulimit`, which stops and continues the process in turn. Its pid is written
 * beside the machine's sockets, so that a server that starts again finds it.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { adoptChild, type Child, type ChildRecord, spawnChild } from '../../process/child.ts';
import { commandAs, type RunAs } from '../host/run-as.ts';

interface ThrottlePlace {
  /** Path of `cpulimit`. */
  readonly program: string | undefined;
  readonly pid: number;
  readonly directory: string;
  readonly runtimeDirectory: string;
  readonly runDirectory: string;
  /** Whom `cpulimit` runs as: only root and the machine's own user may stop it. */
  runAs(): Promise<RunAs | undefined>;
}

export class Throttle {
  readonly #place: ThrottlePlace;
  #child: Child | undefined;

  constructor(place: ThrottlePlace) {
    this.#place = place;
  }

  get record(): { pid: number; startTime: number } | undefined {
    return this.#child && { pid: this.#child.pid, startTime: this.#child.startTime };
  }

  /** Finds the one of an earlier server. */
  async adopt(): Promise<void> {
    try {
      const record = JSON.parse(String(await readRegularFile(this.#file))) as ChildRecord;
      this.#child = await adoptChild({ ...record, runDirectory: this.#place.runDirectory });
    } catch {
      this.#child = undefined;
    }
  }

  /** Percent of one processor, 0 for no limit. False when `cpulimit` is missing or did not start. */
  async set(percent: number): Promise<boolean> {
    await this.stop();
    if (percent === 0) return true;
    const { program, pid, directory, runDirectory, runAs } = this.#place;
    if (program === undefined) return false;
    const logFile = join(directory, 'cpulimit.log');
    const args = ['--lazy', `--pid=${pid}`, `--limit=${percent}`];
    const child = await spawnChild({ ...commandAs(await runAs(), program, args), cwd: directory, logFile, runDirectory });
    if (child.pid === 0) return false;
    this.#child = child;
    await writeFileAtomic(this.#file, JSON.stringify({ pid: child.pid, startTime: child.startTime, logFile }));
    return true;
  }

  /** Ends politely: asked so, `cpulimit` lets the process run on. */
  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    await child?.stop({ graceMs: 1000 });
    await rm(this.#file, { force: true });
  }

  release(): void {
    this.#child?.release();
  }

  get #file(): string {
    return join(this.#place.runtimeDirectory, 'cpulimit.json');
  }
}
