/**
 * A slice: a simulated compute that runs machines only while its lease is renewed. The lease is kept by the product's own `LeaseKeeper`; the
 * guard, which ends machines when the process of the slice cannot, is a timer of the world.
 */
import type { Log } from '../../../src/lib/log.ts';
import type { SliceLease } from '../../../src/schema/slice.ts';
import { LeaseKeeper } from '../../../src/slice/lease-keeper.ts';
import type { Kernel, Process } from '../engine/kernel.ts';
import type { SimulatedCompute } from './compute.ts';
import type { ControllerAnswer } from './network.ts';

export interface SliceWorld {
  readonly kernel: Kernel;
  readonly log: Log;
  /** Sends a request from a host to the controller. @throws when it has no answer */
  toController(host: string, path: 'join' | 'lease', body: object, signal: AbortSignal): Promise<ControllerAnswer>;
}

/** The controller answered that it does not serve the request. */
class RefusedError extends Error {}

const joinLimitMs = 30_000;
const retryMs = 2_000;

export class SimulatedSlice {
  readonly compute: SimulatedCompute;
  readonly #world: SliceWorld;
  readonly #secret = '5'.repeat(64);
  /** The lease as the slice has stored it. Undefined: it has not joined. */
  #lease: SliceLease | undefined;
  #token = '';
  #keeper: LeaseKeeper | undefined;
  /** Time of the world's clock at which the machines end, and the boot for which that holds. */
  #deadline = { at: 0, boot: 0 };

  constructor(compute: SimulatedCompute, world: SliceWorld) {
    this.compute = compute;
    this.#world = world;
  }

  /** Starts its process. `token`: of the first start; its next ones have it in their environment, too. */
  begin(process: Process, token = this.#token): void {
    this.#token = token;
    this.#keeper = undefined;
    // A slice without a lease starts nothing.
    if (!this.#lease) this.compute.hold();
    this.#world.kernel.begin(process, () => void this.#run(token));
  }

  async #run(token: string): Promise<void> {
    const { compute } = this;
    const { seconds = 20 } = this.#lease ?? {};
    const bootedAt = this.#world.kernel.current.boot.at;
    const toBootMs = (at: number) => at - bootedAt;
    const validUntil = this.#deadline.boot === compute.boot ? toBootMs(this.#deadline.at) : 0;
    const joined = this.#lease ? undefined : await this.#join(token, toBootMs);
    if (joined !== undefined) compute.held.release();
    const keeper = new LeaseKeeper(
      {
        machines: {
          pause: async () => compute.hold(),
          resume: async () => compute.held.release(),
          end: () => compute.endAll(),
          setEpoch: (epoch) => {
            compute.held.epoch = epoch;
          },
        },
        log: this.#world.log,
        renew: (epoch, signal) => this.#renew(epoch, signal),
        setDeadline: async (deadline) => this.#guard(deadline + bootedAt),
        onRemoved: () => undefined,
        isRemoval: (error) => error instanceof RefusedError,
        askEngine: undefined,
      },
      this.#lease as unknown as SliceLease,
      joined ?? validUntil - 2_000 * seconds,
    );
    this.#keeper = keeper;
    await keeper.begin();
  }

  /** SIGTERM: the slice says so, waits while its machines are moved, ends them, and says that it has ended. */
  stop(ended: () => void): void {
    const { process } = this.compute;
    const keeper = this.#keeper;
    if (!process || !keeper) return;
    this.#keeper = undefined;
    const stopped = () => this.#world.kernel.after(1, () => process.isAlive && ended(), this.#world.kernel.world);
    this.#world.kernel.begin(process, () => void this.#stop(keeper).then(stopped));
  }

  /** Never rejects. */
  async #stop(keeper: LeaseKeeper): Promise<void> {
    const say = (what: object) =>
      this.#ask(
        'lease',
        { secret: this.#secret, epoch: keeper.epoch, address: this.#address, ...what },
        AbortSignal.timeout(3_000),
      );
    for (let isMoving = true; isMoving; ) {
      isMoving = await say({ ending: true }).then(
        ({ moving }) => moving === true,
        () => false,
      );
      if (isMoving) await new Promise((resolve) => setTimeout(resolve, 500));
    }
    await keeper.close();
    await this.compute.endAll();
    await say({ leaving: true }).catch(() => undefined);
  }

  /** @returns the time at which the lease was asked for, since the boot */
  async #join(token: string, toBootMs: (at: number) => number): Promise<number> {
    const { kernel } = this.#world;
    for (;;) {
      const sentAt = toBootMs(kernel.now);
      const body = { token, secret: this.#secret, address: this.#address };
      try {
        this.#lease = await this.#ask('join', body, AbortSignal.timeout(joinLimitMs));
        return sentAt;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }

  async #renew(epoch: number, signal: AbortSignal): Promise<SliceLease> {
    const lease = await this.#ask('lease', { secret: this.#secret, epoch, address: this.#address }, signal);
    if (!lease.fenced) this.#lease = lease;
    return lease;
  }

  async #ask(path: 'join' | 'lease', body: object, signal: AbortSignal): Promise<SliceLease> {
    const { status, value } = await this.#world.toController(this.compute.host, path, body, signal);
    if (status === 403 || status === 404) throw new RefusedError(String(value.message));
    if (status >= 300) throw new Error(String(value.message));
    return value as unknown as SliceLease;
  }

  get #address() {
    return { protocol: 'http', host: this.compute.host, port: 80 };
  }

  #guard(at: number): void {
    const { kernel } = this.#world;
    const { compute } = this;
    const { boot } = compute;
    this.#deadline = { at, boot };
    compute.held.deadline = at;
    kernel.after(
      at - kernel.now,
      () => {
        if (this.#deadline.at === at && this.#deadline.boot === boot && compute.boot === boot) compute.endMachines();
      },
      kernel.world,
    );
  }
}
