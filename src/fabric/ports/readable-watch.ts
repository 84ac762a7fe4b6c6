/** Readiness of a descriptor, by the event loop itself. */

/** koffi's `poll`, which is libuv's `uv_poll`: reads only. */
type PollDescriptor = (descriptor: number, onPoll: () => void) => { start(onPoll: () => void): void; stop(): void; close(): void };

/** A descriptor is readable: called once a turn of the event loop, until it has been emptied. */
export interface ReadableWatch {
  pause(): void;
  resume(): void;
  /** Ends the watch. To be called before the descriptor is closed. */
  close(): void;
}

/** The callback runs outside of Node's own scopes, in which promises and ticks have their turn: the work is done right after it. */
export function watch(poll: PollDescriptor, descriptor: number, onReadable: () => void): ReadableWatch {
  let isWaiting = false;
  let isOpen = true;
  const onTurn = () => {
    isWaiting = false;
    if (isOpen) onReadable();
  };
  const onPoll = () => {
    if (isWaiting) return;
    isWaiting = true;
    setImmediate(onTurn);
  };
  const handle = poll(descriptor, onPoll);
  return {
    pause: () => handle.stop(),
    resume: () => handle.start(onPoll),
    close() {
      isOpen = false;
      handle.close();
    },
  };
}
