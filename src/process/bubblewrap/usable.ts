/** Tries whether bubblewrap can confine programs on this machine: it may be missing, or the kernel or a container may permit no namespaces. */
import { runTool } from '../tool.ts';
import { bubblewrapWords } from './bubblewrap.ts';
import { systemCallFilter } from './system-call-filter.ts';

const trialLimitMs = 30_000;
/** A failure is remembered so long: programs are installed, and limits lifted, while a server runs. */
const failureMs = 30_000;

let verdict: { readonly obstacle: Promise<string | undefined>; readonly until: number } | undefined;

/** @returns why programs cannot be confined by bubblewrap here; undefined when they can */
export async function bubblewrapObstacle(): Promise<string | undefined> {
  if (verdict === undefined || performance.now() > verdict.until) {
    const obstacle = tryIt();
    verdict = { obstacle, until: Number.POSITIVE_INFINITY };
    if ((await obstacle) !== undefined) verdict = { obstacle, until: performance.now() + failureMs };
  }
  return verdict.obstacle;
}

async function tryIt(): Promise<string | undefined> {
  const filter = systemCallFilter();
  if (process.platform !== 'linux' || filter === undefined) return `it is not used on ${process.platform}, ${process.arch}`;
  const root = { reads: [], writes: [] };
  const [program = '', ...args] = bubblewrapWords({ root, workingFolder: '/', ends: 'parent', hasOwnNetwork: true });
  const { code, reason } = await runTool(program, [...args, 'true'], { timeoutMs: trialLimitMs, filter });
  if (code === 0) return undefined;
  return /ENOENT/.test(reason) ? 'the program bwrap is missing (package bubblewrap)' : reason;
}
