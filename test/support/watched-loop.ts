/** The longest round of a server's event loop, in processor time. */
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningServer } from './server.ts';
import { waitFor } from './wait-for.ts';

/** A signal takes its time on a busy machine. */
const limitMs = 120_000;

export interface WatchedLoop {
  /** Environment for `startServer`. */
  readonly env: Readonly<Record<string, string>>;
  /** Forgets what was before. */
  restart(server: RunningServer): Promise<void>;
  longestMs(): Promise<number>;
}

export function watchedLoop(): WatchedLoop {
  const file = join(tmpdir(), `pb-loop-${process.pid}-${Math.random().toString(36).slice(2)}`);
  /** The file is empty for the instant in which it is written. */
  const read = () =>
    waitFor(
      async () => {
        const [beginning, longestMs] = (await readFile(file, 'utf8').catch(() => '')).split(' ').map(Number);
        return beginning !== undefined && longestMs !== undefined && { beginning, longestMs };
      },
      { what: 'the watch of the event loop', limitMs },
    );
  return {
    env: { NODE_OPTIONS: `--import=${join(import.meta.dirname, 'loop-watch.ts')}`, PATCHBAY_TEST_LOOP_FILE: file },
    async restart(server) {
      // Stalls that began before are not counted.
      const { beginning } = await read();
      process.kill(server.pid, 'SIGUSR2');
      const hasBegun = async () => (await read()).beginning !== beginning;
      await waitFor(hasBegun, { what: 'the watch of the event loop to begin anew', limitMs });
    },
    longestMs: async () => (await read()).longestMs,
  };
}
