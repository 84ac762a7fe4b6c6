/**
 * A small seeded generator (sfc32 by Chris Doty-Humphrey, of the PractRand suite), so that a run with a given seed can be had again.
 * Not for secrets.
 */
export class Random {
  #a = 0;
  #b = 0;
  #c = 0;
  #counter = 1;

  constructor(seed: number) {
    this.reseed(seed);
  }

  reseed(seed: number): void {
    this.#a = 0;
    this.#b = seed | 0;
    this.#c = Math.floor(seed / 0x100000000) | 0;
    this.#counter = 1;
    for (let round = 0; round < 12; round += 1) this.next();
  }

  /** 32 random bits, unsigned. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    this.#c |= 0;
    return sum >>> 0;
  }

  /** Uniform in [0, 1). */
  fraction(): number {
    return this.next() / 0x100000000;
  }

  /** True with a chance of `percent` in a hundred: never for 0, always for 100. */
  chance(percent: number): boolean {
    return this.fraction() * 100 < percent;
  }
}
