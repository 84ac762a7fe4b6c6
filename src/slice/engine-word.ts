/**
 * Asks the engine of a slice whether the slice still has its place, while its controller is away. Where the answer is yes, nothing of the slice
 * was placed elsewhere, and nothing will be before the controller had the engine end it (`controller/slices/silent-slices.ts`).
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jobVariable } from '../lib/job-variable.ts';
import { runTool } from '../process/tool.ts';

/** Resolves to false when the engine says no, or cannot be asked. Never rejects. */
export type EngineWord = () => Promise<boolean>;

const timeoutMs = 5_000;
/** States of a job that runs, and that was not asked to end. */
const running: ReadonlySet<string | undefined> = new Set(['RUNNING', 'SUSPENDED']);

/** Undefined: no engine has placed it, or one that a slice cannot ask. */
export function engineWordOf(env: NodeJS.ProcessEnv, dataDirectory: string): EngineWord | undefined {
  if (env.PATCHBAY_PLACED_BY === 'process') return () => isMarked(join(dataDirectory, '../slice.json'));
  const { [jobVariable]: job, SLURMD_NODENAME: node } = env;
  return job === undefined || node === undefined ? undefined : () => isOwnJob(job, node);
}

/** The mark that the engine wrote as it started the slice (`controller/engines/process`). */
async function isMarked(path: string): Promise<boolean> {
  try {
    const { pid, isReleased } = JSON.parse(await readFile(path, 'utf8')) as { pid?: unknown; isReleased?: unknown };
    return pid === process.pid && isReleased === false;
  } catch {
    return false;
  }
}

/** A job that was put back into the queue, or runs on another node by now, is another one. */
async function isOwnJob(job: string, node: string): Promise<boolean> {
  const { code, stdout } = await runTool('scontrol', ['--oneliner', 'show', 'job', job], { timeoutMs });
  return code === 0 && isRunningHere(stdout, node);
}

/** `shown`: a line of `scontrol --oneliner show job`. */
export function isRunningHere(shown: string, node: string): boolean {
  const words = new Map(shown.split(/\s+/).map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]));
  return running.has(words.get('JobState')) && words.get('Restarts') === '0' && words.get('BatchHost') === node;
}
