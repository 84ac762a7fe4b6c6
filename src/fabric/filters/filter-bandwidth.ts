/**
 * Sends frames one after the other, each after the time its bits take. The queue is a moment: that at which all that went before
 * will have been sent. Counted are the bytes of the frames as the nodes see them, without preamble, check sum and gap.
 */
import { type FilterMaker, lost } from './filter.ts';

/** The queue without a limit of its own. */
const standardQueueMs = 100;
const standardQueueBytes = 16_384;

/** Values: kbit/s, and the queue's limit in bytes, 0 for the standard one. */
export const bandwidth: FilterMaker = (values) => {
  let freeMs = 0;
  return {
    get freeAtMs() {
      return freeMs;
    },
    set freeAtMs(atMs) {
      freeMs = atMs;
    },
    hold(atMs, bytes) {
      const bytesPerMs = Number(values[0]) / 8;
      const limitBytes = Number(values[1] ?? 0) || Math.max(standardQueueBytes, bytesPerMs * standardQueueMs);
      // Whole bytes: a moment is not exact, and a queue that holds 400 frames is to hold 400.
      const queuedBytes = Math.round((freeMs - atMs) * bytesPerMs);
      // An idle link takes every frame, however small the limit.
      if (queuedBytes > 0 && queuedBytes + bytes > limitBytes) return lost;
      freeMs = Math.max(freeMs, atMs) + bytes / bytesPerMs;
      return freeMs;
    },
  };
};
