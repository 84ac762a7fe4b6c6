/**
 * Bounds what a loop of switches may cost. A flooded frame whose sender was last seen behind another port has returned: rare in a network
 * without loops, common in a loop. Frames that ports flood at which frames return pass without limit until a turn of the event loop takes
 * longer than 20 ms. Then a smaller share of them passes, until turns are short again; the rest is dropped as `storm`.
 */

/** Longest turn of the event loop without a bound. Milliseconds. */
const longestTurnMs = 20;
/** Frames that pass in each turn whatever it takes: a lab that teaches loops shows one. */
const free = 64;
const smallestShare = 1 / 64;
/** Growth of the share with each short turn. */
const growth = 1.25;

export class StormBound {
  /** Share of the frames that pass. */
  #share = 1;
  /** Part of a frame that the share has left over. */
  #rest = 0;
  /** Frames since the last turn. */
  #frames = 0;

  /** Returns how many of these frames, which a port of a loop is to flood, pass. */
  admit(frames: number): number {
    const before = this.#frames;
    this.#frames += frames;
    if (this.#share === 1) return frames;
    const ofFree = Math.min(frames, Math.max(0, free - before));
    const due = this.#rest + (frames - ofFree) * this.#share;
    const passing = Math.floor(due);
    this.#rest = due - passing;
    return ofFree + passing;
  }

  /** A turn of the event loop took so long. */
  onTurn(tookMs: number): void {
    const isLong = tookMs > longestTurnMs && this.#frames > 0;
    this.#frames = 0;
    this.#share = isLong ? Math.max(smallestShare, this.#share / 2) : Math.min(1, this.#share * growth);
  }
}
