/** The thread that reads lab files of requests: a text of a megabyte can take seconds. */
import { serialize } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { LabError } from './lab-error.ts';
import { filesOf } from './lab-files.ts';
import type { LoadedLab, SentLab } from './load-in-thread.ts';
import { loadLab } from './load-lab.ts';

/** Of the resolved lab: its nodes multiply what the file says once, and the server's thread has to read the result. */
const maxBytes = 16_777_216;

const { text, file, files, vars } = workerData as SentLab;

async function load(): Promise<LoadedLab> {
  try {
    const loaded = await loadLab({ text, file, files: filesOf(files), vars });
    // Checks hold functions, which threads cannot pass on. They are read for their errors: only `patchbay test` runs them.
    const lab = serialize({ ...loaded, checks: [] });
    if (lab.length <= maxBytes) return { lab };
    return { problem: `the lab has ${lab.length} bytes when it is resolved, and may have ${maxBytes}. Divide it` };
  } catch (error) {
    if (error instanceof LabError) return { problem: error.message };
    throw error;
  }
}

parentPort?.postMessage(await load());
