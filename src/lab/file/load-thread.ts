/** The thread that reads lab files of requests: a text of a megabyte can take seconds. */
import { parentPort, workerData } from 'node:worker_threads';
import { LabError } from './lab-error.ts';
import { filesOf } from './lab-files.ts';
import type { LoadedLab, SentLab } from './load-in-thread.ts';
import { loadLab } from './load-lab.ts';

const { text, file, files, vars } = workerData as SentLab;

async function load(): Promise<LoadedLab> {
  try {
    return { lab: await loadLab({ text, file, files: filesOf(files), vars }) };
  } catch (error) {
    if (error instanceof LabError) return { problem: error.message };
    throw error;
  }
}

parentPort?.postMessage(await load());
