/** Detects that a connection has gone silent. Time in which this process itself could not read does not count. */

/** Number of steps in which the limit is counted. */
const steps = 20;

export interface Silence {
  restart(): void;
  end(): void;
}

/**
 * Calls `onSilent` once, when `restart` was not called for `limitMs`. A process that stood still itself (stopped, asleep, busy)
 * reads what arrived meanwhile before the next step: that time counts as one step, however long it was.
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
    restart: () => {
      quiet = 0;
    },
    end: () => clearInterval(timer),
  };
}
