/**
 * Estimates the lead of a clock over the moment at which the event loop must be awake: the median of recent wake-up times. It moves by
 * constant steps, so extreme times have no more weight than others.
 */

/** A process that is woken later than this waits for a processor: waking it earlier does not help. */
const mostMs = 0.05;
const stepMs = 0.0005;

export class WakeLead {
  ms = 0;

  /** The event loop was awake so long after the time to which the clock was set. */
  note(tookMs: number): void {
    // Less than 0: of a time that was replaced meanwhile.
    if (tookMs <= 0) return;
    const isLonger = tookMs > this.ms && tookMs < mostMs;
    this.ms = Math.max(0, this.ms + (isLonger ? stepMs : -stepMs));
  }
}
