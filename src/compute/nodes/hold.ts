/** Holding a node still: its verbs wait, and its machine can be paused, until it is released. No notice is emitted: the status stays. */
import type { Emulator } from '../../emulators/driver.ts';
import type { ComputeNode } from './node.ts';

export interface Hold {
  /** Pauses a running machine where its kind can do that. @returns whether it did */
  pause(): Promise<boolean>;
  /** Resumes a paused machine, and the verbs that waited. With `stop` the machine is ended at once instead. */
  release(options?: { stop?: boolean }): Promise<void>;
}

/** Resolves when the verbs under way have ended. @throws node_not_found when the node was deleted meanwhile */
export function holdNode(node: ComputeNode): Promise<Hold> {
  const held = Promise.withResolvers<Hold>();
  const released = Promise.withResolvers<boolean>();
  let paused: Emulator | undefined;
  const hold: Hold = {
    async pause() {
      if (node.status !== 'started' || !node.driver.kind.can.suspend) return false;
      const { emulator } = node;
      await emulator?.suspend();
      paused = emulator;
      return emulator !== undefined;
    },
    release({ stop = false } = {}) {
      released.resolve(stop);
      return done;
    },
  };
  const done = node.exclusively(async () => {
    held.resolve(hold);
    if (await released.promise) await node.stopHeld();
    else await paused?.resume();
  });
  done.catch(held.reject);
  return held.promise;
}
