/**
 * What vpcs is as processes: the one we start serves the console, and a helper in a session of its own, forked by it, is the PC.
 * The helper ends with the first one when that is asked to end, and survives it when it is killed.
 */
import type { Child, Outcome } from '../../process/child.ts';
import { endMarked, type Marked } from '../../process/orphans.ts';
import { childrenOf } from '../../process/proc.ts';
import type { Ending } from '../driver.ts';

/** The helper follows its parent within a few milliseconds when that ends politely. */
const helperGraceMs = 500;

/** Running children of a process. */
export async function helpersOf(pid: number): Promise<Marked[]> {
  return (await childrenOf(pid)).map((facts) => ({ pid: facts.pid, sid: facts.session, startTime: facts.startTime }));
}

/** Settles when neither the child nor one of its helpers runs. */
export async function wholeEnd(child: Child, helpers: readonly Marked[]): Promise<Ending> {
  const outcome = await child.outcome;
  await endMarked(helpers, outcome.how === 'killed' ? 0 : helperGraceMs);
  return endingOf(outcome);
}

export function endingOf({ how, code, signal, tail }: Outcome): Ending {
  const said = tail === '' ? '' : `: ${tail}`;
  if (how === 'stopped' || how === 'killed') return { how: 'stopped', reason: 'it was stopped' };
  if (how === 'failed-to-start') return { how: 'failed', reason: `vpcs could not be started${said}` };
  if (how === 'lost') return { how: 'failed', reason: `vpcs ended by itself${said}` };
  const cause = signal === undefined ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`;
  return { how: code === 0 ? 'exited' : 'failed', reason: `vpcs ended with ${cause}${said}` };
}
