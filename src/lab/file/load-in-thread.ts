/** Reads a lab file that a client sent, in a thread with limits of time and memory. */
import { once } from 'node:events';
import { deserialize } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { fault } from '../../api/faults.ts';
import { Limit } from '../../lib/bounded.ts';
import type { Lab } from './lab.ts';

export interface SentLab {
  readonly text: string;
  /** Name for messages. */
  readonly file: string;
  readonly files: Readonly<Record<string, string>>;
  readonly vars: Readonly<Record<string, string | number | boolean>>;
}

/** `lab`: by `serialize` of `node:v8`. */
export type LoadedLab = { readonly lab: Uint8Array } | { readonly problem: string };

/** Of the processor: a busy machine is no mistake of the file. */
const timeLimitMs = 10_000;
/** For a thread that hangs without computing. */
const hangLimitMs = 120_000;
const watchMs = 500;
const memoryLimitMiB = 256;

/** Several requests at once wait for each other. */
export class LabLoader {
  readonly #limit = new Limit(2);

  /** @throws `lab_invalid` */
  load(sent: SentLab): Promise<Lab> {
    return this.#limit.run(async () => {
      const worker = new Worker(new URL('./load-thread.ts', import.meta.url), {
        workerData: sent,
        resourceLimits: { maxOldGenerationSizeMb: memoryLimitMiB },
        // What the server was started with is not the thread's.
        execArgv: [],
      });
      const watch = setInterval(() => void endIfSlow(worker), watchMs);
      const timer = setTimeout(() => void worker.terminate(), hangLimitMs);
      try {
        const [loaded] = (await Promise.race([once(worker, 'message'), ended(worker)])) as [LoadedLab];
        if ('lab' in loaded) return deserialize(loaded.lab) as Lab;
        throw fault('lab_invalid', { reason: loaded.problem });
      } catch (error) {
        throw (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge() : error;
      } finally {
        clearInterval(watch);
        clearTimeout(timer);
        await worker.terminate();
      }
    });
  }
}

async function endIfSlow(worker: Worker): Promise<void> {
  try {
    const { user, system } = await worker.cpuUsage();
    if ((user + system) / 1000 > timeLimitMs) await worker.terminate();
  } catch {
    // The thread does not run yet, or no more.
  }
}

/** It took too long. */
async function ended(worker: Worker): Promise<never> {
  await once(worker, 'exit');
  throw tooLarge();
}

function tooLarge(): Error {
  return fault('lab_invalid', {
    reason: `reading it took more than ${timeLimitMs / 1000} s or ${memoryLimitMiB} MiB. Use a simpler file`,
  });
}
