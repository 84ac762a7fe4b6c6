/**
 * A small seeded generator (sfc32 by Chris Doty-Humphrey, of the PractRand suite), so that a run with a given seed can be had again.
 * Not for secrets.
 */
export class Random {
  #a = 0;
  #b = 0;
  #c = 0;
  #counter = 1;

  /** `stream` separates generators that have the same seed. */
  constructor(seed: number, stream = '') {
    this.#a = hashOf(stream);
    this.#b = seed | 0;
    this.#c = Math.floor(seed / 0x100000000) | 0;
    for (let round = 0; round < 12; round += 1) this.next();
  }

  /** Four numbers of 32 bits. */
  get state(): number[] {
    return [this.#a, this.#b, this.#c, this.#counter];
  }

  /** Continues where another one was. */
  continueAt([a = 0, b = 0, c = 0, counter = 1]: readonly number[]): void {
    [this.#a, this.#b, this.#c, this.#counter] = [a | 0, b | 0, c | 0, counter | 0];
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

/** FNV-1a of 32 bits, by Fowler, Noll and Vo. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}
