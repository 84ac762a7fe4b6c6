/**
 * The machines of a compute that may run only while its lease is renewed (`src/slice`): paused without links, resumed, or ended. Those that
 * are ended are interrupted: that they ran stays on disk, and their controller has them started again, here or elsewhere.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { fault } from '../../api/faults.ts';
import type { Emulator } from '../../emulators/driver.ts';
import { bootMs } from '../../lib/boot-clock.ts';
import type { Context, MachineLease } from '../context.ts';
import type { ComputeNode } from './node.ts';

/** Time in which a signal to all processes of a job reaches the last of them, ms. */
const signalMs = 100;
/** Longest time between a slice's admission and its first lease, on a host that has much to do. Ms. */
const admissionMs = 10_000;

/** Whether a machine that has just ended may have been ended with its compute: by the guard, or by a signal to all processes of a job. */
export async function endsMachines(lease: MachineLease): Promise<boolean> {
  if (!lease.isSlice) return false;
  const isEnding = () => lease.isOver || lease.isEnding || bootMs() >= lease.deadline;
  // The end of a machine may be noticed before the signal.
  if (!isEnding()) await delay(signalMs);
  return isEnding();
}

/**
 * Whether machines may be started. A slice that has just been admitted waits for its first lease to be stored: its controller uses it a moment
 * before. False: the lease is over, or the slice has not joined and has none.
 */
export async function isHeld(lease: MachineLease): Promise<boolean> {
  const isValid = () => !lease.isOver && !hasEnded(lease);
  if (isValid() || lease.isOver) return isValid();
  await Promise.race([lease.begun.promise, delay(admissionMs, undefined, { ref: false })]);
  return isValid();
}

/** Whether the guard has ended what ran. */
const hasEnded = ({ isSlice, deadline }: MachineLease) => isSlice && bootMs() >= deadline;

/**
 * Returns a check for a start that begins now, to be made just before a machine runs: preparing one may take longer than the lease, and the
 * node may run elsewhere by then. While machines are paused it passes: the new one pauses, too. It throws `lease_expired` when they have ended.
 */
export function checkOfLease(lease: MachineLease, name: string): () => void {
  const { epoch } = lease;
  return () => {
    if (hasEnded(lease) || lease.epoch !== epoch) throw fault('lease_expired', { name });
  };
}

export class LeasedMachines {
  readonly #context: Context;
  readonly #nodes: () => readonly ComputeNode[];
  /** Emulators that were paused here; what a client suspended is not among them. */
  readonly #paused = new Set<Emulator>();

  constructor(context: Context, nodes: () => readonly ComputeNode[]) {
    this.#context = context;
    this.#nodes = nodes;
  }

  async pause(): Promise<void> {
    this.#context.lease.isOver = true;
    await this.#context.wiring.hold().catch((error: unknown) => this.#context.log('error', `the links are not down: ${error}`));
    await Promise.allSettled(this.#nodes().map((node) => this.#pauseNode(node)));
    // Nodes that are being started are paused later, without waiting for them: a start may hang.
    const pause = (node: ComputeNode) => node.exclusively(() => (this.#context.lease.isOver ? this.#pauseNode(node) : undefined));
    for (const node of this.#nodes()) pause(node).catch(() => undefined);
  }

  async resume(): Promise<void> {
    this.#context.lease.isOver = false;
    const paused = [...this.#paused];
    this.#paused.clear();
    await this.#context.wiring.sync().catch((error: unknown) => this.#context.log('error', `the links are not up: ${error}`));
    const running = new Set(this.#nodes().map(({ emulator }) => emulator));
    await Promise.allSettled(paused.filter((emulator) => running.has(emulator)).map((emulator) => emulator.resume()));
  }

  async end(): Promise<void> {
    this.#context.lease.isOver = true;
    this.#paused.clear();
    await this.#context.wiring.hold().catch(() => undefined);
    const machines = this.#nodes().filter(({ driver }) => !driver.kind.alwaysRunning);
    await Promise.allSettled(machines.map((node) => node.interrupt({ now: true })));
  }

  /** `deadline`: `bootMs()` after which the guard of the slice ends them. */
  setDeadline(deadline: number): void {
    this.#context.lease.deadline = deadline;
    this.#context.lease.begun.resolve();
  }

  /** Epoch of the lease; 0 before it is known. It grows when the machines have ended, as the controller declared the slice lost. */
  get epoch(): number {
    return this.#context.lease.epoch;
  }

  setEpoch(epoch: number): void {
    this.#context.lease.epoch = epoch;
  }

  /** The server was asked to end. */
  ending(): void {
    this.#context.lease.isEnding = true;
  }

  /** Pauses a machine without the node's lock: a verb that hangs must not keep it running. */
  async #pauseNode({ status, emulator, driver }: ComputeNode): Promise<void> {
    if (!emulator || status !== 'started' || !driver.kind.can.suspend || this.#paused.has(emulator)) return;
    this.#paused.add(emulator);
    await emulator.suspend();
  }
}
