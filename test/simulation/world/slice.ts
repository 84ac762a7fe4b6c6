/**
 * A simulated slice: a compute that registers itself, with the real keeper of its lease. It keeps its epoch and its deadline on its disk; a guard
 * of its own ends its machines when the deadline passes.
 */

import { bootMs } from '../../../src/lib/boot-clock.ts';
import type { SliceLease } from '../../../src/schema/slice.ts';
import { type Machines as LeasedMachines, LeaseKeeper } from '../../../src/slice/lease-keeper.ts';
import type { Process } from '../engine/kernel.ts';
import type { SimulatedCompute } from './compute.ts';
import type { World } from './world.ts';

interface Stored {
  readonly epoch: number;
  readonly seconds: number;
}

/** Its controller's word is final. */
class Refused extends Error {}

const againMs = 2_000;

export class SimulatedSlice {
  readonly compute: SimulatedCompute;
  readonly #world: World;
  readonly #secret: string;
  #token = '';
  #stored: Stored | undefined;
  /** When its machines have to end, by the clock of its host, and of which boot. */
  #deadline = { boot: 0, at: 0 };

  constructor(world: World, compute: SimulatedCompute) {
    this.#world = world;
    this.compute = compute;
    this.#secret = compute.id.replaceAll('-', '').padEnd(64, '0');
  }

  /** It was given a token: from now on its process may run. */
  invite(token: string): void {
    this.#token = token;
  }

  get isInvited(): boolean {
    return this.#token !== '';
  }

  /** Its process starts. */
  begin(process: Process): void {
    const { compute } = this;
    const isOver = () => bootMs() >= this.#deadlineNow();
    this.#world.kernel.begin(process, () => {
      compute.begin(process, { isOver: isOver() });
      this.#run().catch((error: Error) => this.#world.violated(`the slice ${compute.id} fails: ${error.message} ${error.stack}`));
    });
  }

  #deadlineNow(): number {
    return this.#deadline.boot === this.compute.boot ? this.#deadline.at : 0;
  }

  async #run(): Promise<void> {
    const { lease, sentAt } = this.#stored ? this.#resumed(this.#stored) : await this.#join();
    const machines: LeasedMachines = {
      pause: async () => this.compute.setHeld(true),
      resume: async () => this.compute.setHeld(false),
      end: async () => this.compute.endLease(),
    };
    const keeper = new LeaseKeeper(
      {
        machines,
        log: this.#world.log,
        renew: (epoch, signal) => this.#renew(epoch, signal),
        setDeadline: async (at) => this.#guard(at),
        onRemoved: (reason) => this.#world.violated(`the slice ${this.compute.id} was removed: ${reason}`),
        isRemoval: (error) => error instanceof Refused,
      },
      lease,
      sentAt,
    );
    await keeper.begin();
  }

  #resumed({ epoch, seconds }: Stored): { lease: SliceLease; sentAt: number } {
    const lease = { compute_id: this.compute.id, epoch, seconds, fenced: false };
    return { lease, sentAt: this.#deadlineNow() - 2000 * seconds };
  }

  async #join(): Promise<{ lease: SliceLease; sentAt: number }> {
    for (;;) {
      const sentAt = bootMs();
      try {
        const body = { token: this.#token, secret: this.#secret, address: this.#address, findings: [] };
        const lease = await this.#ask('POST /v2/slices/join', {}, body, AbortSignal.timeout(30_000));
        this.#stored = { epoch: lease.epoch, seconds: lease.seconds };
        return { lease, sentAt };
      } catch (error) {
        if (error instanceof Refused) throw error;
        await new Promise((resolve) => setTimeout(resolve, againMs));
      }
    }
  }

  async #renew(epoch: number, signal: AbortSignal): Promise<SliceLease> {
    const body = { secret: this.#secret, epoch, address: this.#address };
    const lease = await this.#ask('POST /v2/slices/{compute_id}/lease', { compute_id: this.compute.id }, body, signal);
    if (!lease.fenced) this.#stored = { epoch: lease.epoch, seconds: lease.seconds };
    return lease;
  }

  get #address() {
    return { protocol: 'http' as const, host: this.compute.host, port: 80 };
  }

  async #ask(
    key: 'POST /v2/slices/join' | 'POST /v2/slices/{compute_id}/lease',
    path: Record<string, string>,
    body: object,
    signal: AbortSignal,
  ): Promise<SliceLease> {
    const { status, value } = await this.#world.internet.toController(
      this.compute.host,
      () => this.#world.answer(key, path, body),
      signal,
    );
    if (status >= 400 && status < 500) throw new Refused(String(value.message));
    if (status >= 500) throw new Error(String(value.message));
    return value as unknown as SliceLease;
  }

  /** A process of its own, which ends machines when this one cannot. */
  #guard(at: number): void {
    const { boot } = this.compute;
    this.#deadline = { boot, at };
    const end = () => {
      if (this.#deadline.at === at && this.compute.boot === boot) this.compute.endByGuard();
    };
    this.#world.kernel.after(at - bootMs(), end, this.#world.kernel.world);
  }
}
