/**
 * Ports that each have a process of their own: it is started before a NIO is bound to the port, started again when it ends by
 * itself, and ended when the NIO has gone. Like any emulator it outlives the server.
 *
 * What a port needs beside its process is its *facts*: plain JSON that stays the same when the process is started again, so that the
 * fabric need not be notified.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PortSpec } from '../../fabric/protocol.ts';
import { Retry } from '../../lib/retry.ts';
import { adoptChild, type Child, type Outcome, spawnChild } from '../../process/child.ts';

export interface PortService<Facts> {
  /** Takes what the port needs. `before`: what it was until its process ended while no server ran. @throws with nothing taken */
  open(port: number, before?: Facts): Promise<Facts>;
  /** Reserves it again after a restart of the server. */
  retake(facts: Facts): void;
  close(facts: Facts): void | Promise<void>;
  /** Undefined: this port needs no process. */
  command(facts: Facts): Promise<PortCommand | undefined>;
  /** Settles when the process serves; answers how it ended when it does not. */
  ready(facts: Facts, child: Child): Promise<Outcome | undefined>;
  /** The fault that says what to do about a process that ended instead of serving. */
  failure(facts: Facts, outcome: Outcome): Error;
  spec(facts: Facts): PortSpec;
}

export interface PortCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly logFile: string;
  /** Filter of system calls, where bubblewrap is the program. */
  readonly filter?: Buffer | undefined;
}

/** Record of a port from which a restarted server adopts its process. Without a process `pid` and `startTime` are 0. */
export interface KeptPort<Facts> {
  readonly pid: number;
  readonly startTime: number;
  readonly logFile: string;
  readonly facts: Facts;
}

interface Served<Facts> {
  readonly facts: Facts;
  child: Child | undefined;
  logFile: string;
  /** Ends the waiting for another start. */
  readonly ending: AbortController;
}

interface PortHost {
  readonly cwd: string;
  /** The server's runtime folder. */
  readonly runDirectory: string;
  warn(message: string): void;
}

/** Time between SIGTERM and SIGKILL. */
const stopGraceMs = 1000;
const restartTimes = { firstMs: 250, longestMs: 30_000 };

export class PortProcesses<Facts> {
  readonly #service: PortService<Facts>;
  readonly #host: PortHost;
  readonly #ports = new Map<number, Served<Facts>>();
  /** Facts of ports that could not be adopted, as their process had ended. */
  readonly #lost = new Map<number, Facts>();
  #changed: () => void = () => {};

  constructor(service: PortService<Facts>, host: PortHost) {
    this.#service = service;
    this.#host = host;
  }

  /** @throws what the service says about a process that does not serve; nothing is left of it then */
  async attach(port: number): Promise<void> {
    if (this.#ports.has(port)) return;
    const facts = await this.#service.open(port, this.#lost.get(port));
    this.#lost.delete(port);
    const served: Served<Facts> = { facts, child: undefined, logFile: '', ending: new AbortController() };
    try {
      await this.#launch(served);
    } catch (error) {
      await this.#service.close(facts);
      throw error;
    }
    this.#ports.set(port, served);
    this.#watch(port, served);
  }

  async detach(port: number): Promise<void> {
    const served = this.#ports.get(port);
    if (!served) return;
    this.#ports.delete(port);
    served.ending.abort();
    await served.child?.stop({ graceMs: stopGraceMs });
    await this.#service.close(served.facts);
  }

  async detachAll(): Promise<void> {
    await Promise.all([...this.#ports.keys()].map((port) => this.detach(port)));
  }

  /** Takes over the ports of a server that ended. Those whose process has ended meanwhile are not there afterwards. */
  async adopt(kept: Readonly<Record<string, KeptPort<Facts>>>): Promise<void> {
    for (const [port, { pid, startTime, logFile, facts }] of Object.entries(kept)) {
      const child = pid > 0 ? await adoptChild({ pid, startTime, logFile, runDirectory: this.#host.runDirectory }) : undefined;
      if (pid > 0 && !child) {
        this.#lost.set(Number(port), facts);
        continue;
      }
      this.#service.retake(facts);
      const served: Served<Facts> = { facts, child, logFile, ending: new AbortController() };
      this.#ports.set(Number(port), served);
      this.#watch(Number(port), served);
    }
  }

  spec(port: number): PortSpec | undefined {
    const served = this.#ports.get(port);
    return served && this.#service.spec(served.facts);
  }

  find(port: number): Facts | undefined {
    return this.#ports.get(port)?.facts;
  }

  kept(): Record<string, KeptPort<Facts>> {
    const entries = [...this.#ports].map(([port, { child, logFile, facts }]) => {
      return [port, { pid: child?.pid ?? 0, startTime: child?.startTime ?? 0, logFile, facts }] as const;
    });
    return Object.fromEntries(entries);
  }

  /** Calls back when a process was started again: `kept` has changed. */
  onChange(listener: () => void): void {
    this.#changed = listener;
  }

  /** Lets go: the processes keep running. */
  release(): void {
    for (const { child, ending } of this.#ports.values()) {
      ending.abort();
      child?.release();
    }
  }

  async #launch(served: Served<Facts>): Promise<void> {
    const { facts } = served;
    const command = await this.#service.command(facts);
    if (!command) return;
    const { cwd, runDirectory } = this.#host;
    const child = await spawnChild({ ...command, cwd, runDirectory });
    try {
      const outcome = await this.#service.ready(facts, child);
      if (outcome) throw this.#service.failure(facts, outcome);
    } catch (error) {
      await child.stop({ graceMs: 0 });
      throw error;
    }
    served.child = child;
    served.logFile = command.logFile;
  }

  #watch(port: number, served: Served<Facts>): void {
    void served.child?.outcome.then((outcome) => {
      if (!served.ending.signal.aborted) return this.#startAgain(port, served, outcome);
    });
  }

  async #startAgain(port: number, served: Served<Facts>, outcome: Outcome): Promise<void> {
    const { signal } = served.ending;
    this.#host.warn(`The process of port ${port} ended and is started again: ${outcome.tail || outcome.signal || outcome.how}`);
    const retry = new Retry(restartTimes);
    for (;;) {
      await retry.pause(signal);
      if (signal.aborted) return;
      const error = await this.#launch(served).catch((cause: Error) => cause);
      if (signal.aborted) await served.child?.stop({ graceMs: 0 });
      if (signal.aborted) return;
      if (error === undefined) break;
    }
    this.#watch(port, served);
    this.#changed();
  }
}

/** Interval and time limit of the checks of a process that gives no sign of being ready. */
const lookMs = 10;
const readyLimitMs = 10_000;

/** Waits until `holds`; the outcome when the child ends first, or is late. */
export async function whenReady(child: Child, holds: () => Promise<boolean>): Promise<Outcome | undefined> {
  let outcome: Outcome | undefined;
  void child.outcome.then((ended) => {
    outcome = ended;
  });
  const limit = performance.now() + readyLimitMs;
  while (performance.now() < limit) {
    if (outcome) return outcome;
    if (await holds()) return undefined;
    await sleep(lookMs);
  }
  return outcome ?? { how: 'exited', tail: `it was not ready after ${readyLimitMs / 1000} s. ${await child.tail()}` };
}
