/**
 * The conversation with a running QEMU: commands with QEMU's words in their failures, and a connection that is made again when it
 * breaks while QEMU runs. What QEMU says about its state arrives here.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { fault } from '../../api/faults.ts';
import { ask, Status } from './answers.ts';
import { Qmp, type QmpEvent } from './qmp.ts';

/** States of QEMU (`query-status`, RunState) in which the guest runs or is about to. */
const runningStates = new Set(['running', 'prelaunch', 'inmigrate', 'restore-vm', 'save-vm', 'finish-migrate', 'colo']);
/** Events after which the state is asked for. */
const stateEvents = new Set(['STOP', 'RESUME', 'SUSPEND', 'WAKEUP', 'GUEST_PANICKED']);

/** Pause after an attempt to connect, which becomes longer: QEMU greets some 26 ms after its start (bench/README.md), on a busy host later. */
const retryMs = { first: 2, longest: 15 };
const reconnectLimitMs = 10_000;

export interface MonitorListener {
  /** `query-status` after something changed it. */
  status(status: string): void;
  /** The guest, or a user of the monitor, ended the machine. */
  shutdown(): void;
}

export class Monitor {
  readonly #path: string;
  readonly #listener: MonitorListener;
  #qmp: Qmp | undefined;
  #isClosed = false;
  /** An event has said that the state is another one. */
  #isStale = false;
  #isReporting = false;

  private constructor(path: string, listener: MonitorListener) {
    this.#path = path;
    this.#listener = listener;
  }

  /**
   * Tries until QEMU answers; rejects after the limit, or once `ended` has settled. From then on nothing connects: at the same path the
   * node's next QEMU listens, which serves one client only.
   */
  static async connect(
    path: string,
    listener: MonitorListener,
    wait: { limitMs: number; ended: Promise<unknown> },
  ): Promise<Monitor> {
    const monitor = new Monitor(path, listener);
    const abandon = wait.ended.then(() => {
      monitor.close();
      throw new Error('QEMU has ended');
    });
    await Promise.race([monitor.#connect(wait.limitMs), abandon]).catch((error: unknown) => {
      monitor.close();
      throw error;
    });
    return monitor;
  }

  /** @throws qemu_failed with QEMU's words */
  async execute(command: string, args?: Readonly<Record<string, unknown>>, limitMs?: number): Promise<unknown> {
    if (this.#qmp === undefined)
      throw fault('qemu_failed', { reason: `QEMU cannot be asked to ${command}: its monitor does not answer` });
    try {
      return await this.#qmp.execute(command, args, limitMs);
    } catch (cause) {
      throw fault('qemu_failed', { reason: `QEMU refused ${command}: ${(cause as Error).message}` }, { cause });
    }
  }

  /** A line of the human monitor. @throws qemu_failed with what it printed, which is nothing on success */
  async human(line: string, limitMs?: number): Promise<void> {
    const printed = await this.execute('human-monitor-command', { 'command-line': line }, limitMs);
    const words = typeof printed === 'string' ? printed.trim() : '';
    if (words !== '') throw fault('qemu_failed', { reason: `QEMU refused ${line}: ${words}` });
  }

  async status(): Promise<string> {
    return (await ask(this, 'query-status', Status)).status;
  }

  close(): void {
    this.#isClosed = true;
    this.#qmp?.close();
  }

  async #connect(limitMs: number): Promise<void> {
    const limit = performance.now() + limitMs;
    for (let pauseMs = retryMs.first; ; pauseMs = Math.min(pauseMs + 1, retryMs.longest)) {
      try {
        const left = Math.max(1, limit - performance.now());
        const qmp = await Qmp.connect(this.#path, (event) => this.#hear(event), left);
        if (this.#isClosed) return qmp.close();
        this.#qmp = qmp;
        void qmp.closed.then(() => this.#lost());
        return;
      } catch (error) {
        if (this.#isClosed || performance.now() >= limit) throw error;
        await delay(pauseMs);
      }
    }
  }

  /** QEMU usually ended; if not, it is asked again. */
  #lost(): void {
    this.#qmp = undefined;
    if (!this.#isClosed) void this.#connect(reconnectLimitMs).catch(() => {});
  }

  #hear({ event, data }: QmpEvent): void {
    if (event === 'SHUTDOWN') this.#listener.shutdown();
    if (stateEvents.has(event) || (event === 'BLOCK_IO_ERROR' && data.action === 'stop')) {
      void this.#reportStatus();
    }
  }

  /** Asks for the state, once at a time: after events that come meanwhile it is asked for once more. Never rejects. */
  async #reportStatus(): Promise<void> {
    this.#isStale = true;
    if (this.#isReporting) return;
    this.#isReporting = true;
    while (this.#isStale) {
      this.#isStale = false;
      const status = await this.status().catch(() => undefined);
      // A state that an event has overtaken was that of before: of a pause that has ended, for one.
      if (status !== undefined && !this.#isStale) this.#listener.status(status);
    }
    this.#isReporting = false;
  }
}

export function isRunningState(status: string): boolean {
  return runningStates.has(status);
}
