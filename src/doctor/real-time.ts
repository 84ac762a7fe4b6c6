/** Whether the fabric may move frames in real time here (`fabric/control/priority.ts`). */
import { availableParallelism } from 'node:os';
import { runTool } from '../process/tool.ts';
import type { Finding } from '../schema/finding.ts';

const limitMs = 5000;

/** Tries what the fabric does, as the same user. @see chrt(1), sched(7): CAP_SYS_NICE, or RLIMIT_RTPRIO of 1 */
export async function lookAtRealTime(): Promise<Finding> {
  const what = 'real time';
  const without = (reason: string): Finding => ({
    state: 'note',
    what,
    found: `not used, frames may be some milliseconds late on a busy host: ${reason}`,
  });
  if (availableParallelism() < 2) return without('this host has one CPU, and emulators need it too');
  const { code, reason } = await runTool('chrt', ['--rr', '1', 'true'], { timeoutMs: limitMs });
  if (code === 0) return { state: 'good', what, found: 'the fabric takes a CPU as soon as frames arrive' };
  return without(`permit it by LimitRTPRIO=1 in a unit of systemd, or "ulimit -r 1" (${reason.split('\n')[0]})`);
}
