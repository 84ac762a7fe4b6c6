/**
 * The machines of a compute that may run only while its lease is renewed (`src/slice`): paused without links, resumed, or ended. Those that
 * were ended start again when the same lease is renewed after all: its controller has not had them started elsewhere.
 */
import type { Emulator } from '../../emulators/driver.ts';
import { forEachBounded } from '../../lib/bounded.ts';
import type { Context } from '../context.ts';
import type { ComputeNode } from './node.ts';

/** Started at a time. */
const rate = 4;

export class LeasedMachines {
  readonly #context: Context;
  readonly #nodes: () => readonly ComputeNode[];
  /** Emulators that were paused here; what a client suspended is not among them. */
  readonly #paused = new Set<Emulator>();
  /** Nodes that ran when they were ended here. */
  readonly #ended = new Set<ComputeNode>();

  constructor(context: Context, nodes: () => readonly ComputeNode[]) {
    this.#context = context;
    this.#nodes = nodes;
  }

  async pause(): Promise<void> {
    this.#context.lease.isOver = true;
    await this.#context.wiring.hold().catch((error: unknown) => this.#context.log('error', `the links are not down: ${error}`));
    await Promise.allSettled(this.#nodes().map((node) => this.#pauseNode(node)));
  }

  async resume(): Promise<void> {
    this.#context.lease.isOver = false;
    const paused = [...this.#paused];
    this.#paused.clear();
    await this.#context.wiring.sync().catch((error: unknown) => this.#context.log('error', `the links are not up: ${error}`));
    const running = new Set(this.#nodes().map(({ emulator }) => emulator));
    await Promise.allSettled(paused.filter((emulator) => running.has(emulator)).map((emulator) => emulator.resume()));
    // The lease is renewed meanwhile: many machines take longer to start than it lasts.
    void this.#startEnded();
  }

  /** Those that the next end of the lease comes before stay in the list. Never rejects. */
  async #startEnded(): Promise<void> {
    const known = new Set(this.#nodes());
    const errors = await forEachBounded([...this.#ended], rate, async (node) => {
      if (this.#context.lease.isOver || !this.#ended.has(node)) return;
      try {
        // Its user may have stopped it meanwhile.
        if (known.has(node) && !this.#context.lease.stopped?.has(node.id)) await node.start();
      } finally {
        if (!this.#context.lease.isOver) this.#ended.delete(node);
      }
    });
    for (const error of errors) this.#context.log('error', `a node could not be started again: ${(error as Error).message}`);
  }

  async end(): Promise<void> {
    this.#context.lease.isOver = true;
    this.#paused.clear();
    await this.#context.wiring.hold().catch(() => undefined);
    const machines = this.#nodes().filter(({ driver }) => !driver.kind.alwaysRunning);
    this.#context.lease.stopped ??= new Set();
    for (const node of machines) {
      if (node.status === 'stopped') continue;
      this.#ended.add(node);
      this.#context.lease.stopped.delete(node.id);
    }
    await Promise.allSettled(machines.map((node) => node.stop({ now: true })));
  }

  /**
   * What ran has ended together with the server before this one, all of it, as its host lost power: nothing starts until `resume`, which
   * starts it again. False: something runs, or nothing did.
   */
  takeLost(): boolean {
    const { lease } = this.#context;
    const machines = this.#nodes().filter(({ driver }) => !driver.kind.alwaysRunning);
    const lost = machines.filter(({ id }) => lease.lost?.has(id));
    if (lost.length === 0 || machines.some(({ status }) => status !== 'stopped')) return false;
    lease.isOver = true;
    lease.stopped ??= new Set();
    for (const node of lost) this.#ended.add(node);
    return true;
  }

  /** `noted`: never rejects. */
  reportEndsAfter(noted: Promise<unknown>): void {
    this.#context.lease.noted = noted;
  }

  /** The lease was lost: those that were ended are started by the controller, here or elsewhere. */
  forget(): void {
    this.#ended.clear();
  }

  /** Not under the node's lock: a verb that hangs must not keep a machine running. */
  async #pauseNode({ status, emulator, driver }: ComputeNode): Promise<void> {
    if (!emulator || status !== 'started' || !driver.kind.can.suspend) return;
    this.#paused.add(emulator);
    await emulator.suspend();
  }
}
