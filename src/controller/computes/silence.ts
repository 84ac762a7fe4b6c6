/** Notices that nothing is heard any more, in time that this process was able to listen. */

/** The limit is counted in so many steps. */
const steps = 20;

export interface Silence {
  heard(): void;
  end(): void;
}

/**
 * Calls `onSilent` once, when `heard` was not called for `limitMs`. A process that stood still itself (stopped, asleep, busy) reads what
 * arrived meanwhile before the next step: that time counts as one step, however long it was.
 */
export function watchSilence(limitMs: number, onSilent: () => void): Silence {
  let quiet = 0;
  const timer = setInterval(() => {
    quiet += 1;
    if (quiet < steps) return;
    clearInterval(timer);
    onSilent();
  }, limitMs / steps).unref();
  return {
    heard: () => {
      quiet = 0;
    },
    end: () => clearInterval(timer),
  };
}
