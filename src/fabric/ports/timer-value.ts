/** The expiry of a timer of the kernel: a `struct itimerspec` of a 64-bit system. @see timerfd_settime(2) */
import type { AddressIn } from './io-vectors.ts';

/** Interval, then value; each of them seconds and nanoseconds of 8 bytes. */
const valueBytes = 32;
const secondsAt = 4;
const nanosecondsAt = 6;

export class TimerValue {
  readonly address: number;
  readonly #words: Uint32Array;

  constructor(addressIn: AddressIn) {
    const memory = Buffer.allocUnsafeSlow(valueBytes).fill(0);
    this.#words = new Uint32Array(memory.buffer);
    this.address = addressIn(memory);
  }

  /** Sets a single expiry, at this time; 0 for never. */
  set(atMs: number): void {
    const seconds = Math.floor(atMs / 1000);
    this.#words[secondsAt] = seconds;
    this.#words[nanosecondsAt] = Math.floor((atMs - seconds * 1000) * 1e6);
  }
}
