/** Replaces what programs know of time and chance without an import: while a simulation is played, timers, dates and ids are those of its world. */
import { isPlaying, simulation } from './simulation.ts';

/** The date at which every schedule begins. */
const epochMs = Date.UTC(2026, 0, 1);

type Callback = (...args: unknown[]) => unknown;

/** Timers that `setTimeout` and the others return. */
export class VirtualTimer {
  #due: { isCancelled: boolean } | undefined;
  readonly #begin: () => { isCancelled: boolean };

  constructor(begin: (timer: VirtualTimer) => { isCancelled: boolean }) {
    this.#begin = () => begin(this);
    this.#due = this.#begin();
  }

  clear(): void {
    if (this.#due) this.#due.isCancelled = true;
    this.#due = undefined;
  }

  refresh(): this {
    this.clear();
    this.#due = this.#begin();
    return this;
  }

  /** The next one of an interval; nothing after `clear`. */
  again(): void {
    if (this.#due) this.#due = this.#begin();
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

export function setTimeout(callback: Callback, delayMs = 0, ...args: unknown[]): VirtualTimer {
  const { kernel } = simulation();
  const owner = kernel.current;
  return new VirtualTimer(() => kernel.after(delayMs >= 1 ? delayMs : 1, () => callback(...args), owner));
}

export function setInterval(callback: Callback, delayMs = 0, ...args: unknown[]): VirtualTimer {
  const { kernel } = simulation();
  const owner = kernel.current;
  const run = (timer: VirtualTimer) => () => {
    callback(...args);
    timer.again();
  };
  return new VirtualTimer((timer) => kernel.after(delayMs >= 1 ? delayMs : 1, run(timer), owner));
}

export function setImmediate(callback: Callback, ...args: unknown[]): VirtualTimer {
  const { kernel } = simulation();
  return new VirtualTimer(() => kernel.after(0, () => callback(...args)));
}

export function clear(timer: VirtualTimer | undefined): void {
  if (timer instanceof VirtualTimer) timer.clear();
}

/** A version 4 UUID. */
export function randomUUID(): string {
  const hex = Buffer.from(randomBytes(16)).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

export function randomBytes(size: number): Buffer {
  const { chance } = simulation().kernel;
  return Buffer.from(Array.from({ length: size }, () => chance.between(0, 255)));
}

/** Replaces globals for the rest of this process. Time that Node itself keeps is not changed. */
export function replaceGlobals(): void {
  const { now: realNow, parse, UTC } = Date;
  const RealDate = Date;
  const now = () => (isPlaying() ? epochMs + Math.floor(simulation().kernel.now) : realNow());
  class VirtualDate extends RealDate {
    constructor(...args: []) {
      if (args.length === 0) super(now());
      else super(...args);
    }
    static override now = now;
    static override parse = parse;
    static override UTC = UTC;
  }
  const realPerformance = performance.now.bind(performance);
  Object.defineProperty(performance, 'now', { value: () => (isPlaying() ? simulation().kernel.now : realPerformance()) });
  Object.defineProperty(performance, 'timeOrigin', { value: epochMs });
  Object.assign(globalThis, {
    ...{ Date: VirtualDate, setTimeout, setInterval, setImmediate },
    ...{ clearTimeout: clear, clearInterval: clear, clearImmediate: clear },
  });
  Object.defineProperty(crypto, 'randomUUID', { value: randomUUID });
  Math.random = () => simulation().kernel.chance.next();
  AbortSignal.timeout = (delayMs) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), delayMs);
    return controller.signal;
  };
}
