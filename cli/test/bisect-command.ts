/** `patchbay bisect`: finds the first checkpoint of a lab on which a check fails, on forks of its checkpoints. */

import { randomBytes } from 'node:crypto';
import type { History, HistoryEntry } from '../../src/schema/history.ts';
import type { Project } from '../../src/schema/project.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { type CliCall, type CliCommand, CliUsageError, projectOption, serverOptions, textOption, varOption } from '../command.ts';
import { namedProject, projectOf } from '../lab/lab-source.ts';
import { findSnapshot } from '../lab/warm-commands.ts';
import { RequestError } from '../server-client.ts';
import { type BisectCheck, readCheck } from './bisect-checks.ts';
import { type BisectResult, type BisectVerdict, bisect } from './bisect-search.ts';

const exitCodes = { found: 0, mistake: 2, allGood: 3, undecided: 4, interrupted: 130 } as const;
/** Entries in one page of the history. */
const historyPage = 1000;

interface BisectRun {
  readonly snapshot_id: string;
  readonly name: string;
  readonly verdict: BisectVerdict;
  /** Time for the fork and the check. */
  readonly duration_ms: number;
}

export const bisectCommand: CliCommand = {
  name: 'bisect',
  args: '[PROJECT] [-- COMMAND…]',
  takesRest: true,
  mistakeCode: exitCodes.mistake,
  summary:
    'Find the first checkpoint on which a check fails; exit code 0: found, 1: could not run, 2: a mistake in what was typed, 3: it holds on the newest, 4: only a range, as checkpoints between were skipped',
  options: {
    check: { value: 'FILE|NAME', description: 'Run the checks of a lab file, or one check of ./lab.yaml', isFile: true },
    good: { value: 'SNAPSHOT', description: 'Begin with this one (default: the oldest with memory)' },
    bad: { value: 'SNAPSHOT', description: 'End with this one (default: the newest with memory)' },
    uplinks: { description: 'Keep links to NAT and cloud nodes, which are suspended in forks otherwise' },
    ...varOption,
    ...projectOption,
    ...serverOptions,
  },
  examples: [
    { line: 'patchbay bisect ring --check lab.yaml', does: 'On which checkpoint do its checks fail first?' },
    { line: 'patchbay bisect ring -- patchbay lab exec R1 -- ping -c 1 10.0.0.2', does: 'Decide by an exit code; 125 skips' },
  ],
  run: (call) =>
    runBisection(call).catch((error: unknown) => {
      if (!call.signal.aborted) throw error;
      call.out.note('patchbay bisect: interrupted; its forks are deleted');
      return exitCodes.interrupted;
    }),
};

async function runBisection(call: CliCall): Promise<number> {
  const check = await readCheck(call);
  const project = await bisectedProject(call);
  const snapshots = await rangeOf(call, project);
  const runs: BisectRun[] = [];
  const judge = async (snapshot: Snapshot) => {
    const began = performance.now();
    const verdict = await judgeFork(call, check, snapshot);
    const duration_ms = Math.round(performance.now() - began);
    runs.push({ snapshot_id: snapshot.snapshot_id, name: snapshot.name, verdict, duration_ms });
    call.out.note(`${snapshot.name}: ${verdict} (${(duration_ms / 1000).toFixed(1)} s)`);
    return verdict;
  };
  call.out.note(`${snapshots.length} snapshots with memory; the check is ${check.text}`);
  const result = await bisect(snapshots, judge);
  await report(call, project, { result, runs, check });
  if (!result.firstBad) return result.lastGood && result.undecided.length === 0 ? exitCodes.allGood : exitCodes.undecided;
  return result.undecided.length > 0 ? exitCodes.undecided : exitCodes.found;
}

function bisectedProject(call: CliCall): Promise<Project> {
  const [named, ...more] = call.args;
  if (more.length > 0) throw new CliUsageError(`one project, not ${call.args.length}`);
  return named === undefined ? projectOf(call) : namedProject(call, named);
}

/** Lists the snapshots with complete memory, the oldest first. */
async function rangeOf(call: CliCall, { project_id, name }: Project): Promise<Snapshot[]> {
  const path = `/v2/projects/${project_id}/snapshots`;
  const ready = (await call.api.json<Snapshot[]>('GET', path)).filter(({ memory }) => memory?.status === 'ready');
  const [good, bad] = ['good', 'bad'].map((option) => {
    const word = textOption(call, option);
    return word === undefined ? undefined : ready.indexOf(findSnapshot(ready, word));
  });
  const range = ready.slice(good ?? 0, bad === undefined ? undefined : bad + 1);
  if (range.length > 0) return range;
  throw new CliUsageError(
    ready.length > 0
      ? '--good is later than --bad'
      : `${name} has no snapshot with memory. Set checkpoint_minutes, or take some with \`patchbay lab freeze\``,
  );
}

async function judgeFork(call: CliCall, check: BisectCheck, snapshot: Snapshot): Promise<BisectVerdict> {
  try {
    const wanted = { snapshot, uplinks: call.options.uplinks === true };
    return await onFork(call, wanted, (fork) => check.judge(fork, snapshot));
  } catch (error) {
    // The snapshot was deleted meanwhile, as the oldest checkpoints are, or its memory is damaged: the others can still be judged.
    if (!(error instanceof RequestError) || (error.status !== 404 && error.status !== 409)) throw error;
    call.out.note(`${snapshot.name} is skipped: ${error.message}`);
    return 'skip';
  }
}

interface BisectReport {
  readonly result: BisectResult<Snapshot>;
  readonly runs: readonly BisectRun[];
  readonly check: BisectCheck;
}

async function report(call: CliCall, project: Project, { result, runs, check }: BisectReport): Promise<void> {
  const { out } = call;
  const { lastGood, firstBad, undecided } = result;
  const events = firstBad ? await eventsBetween(call, project, { lastGood, firstBad }) : [];
  if (out.isJson) {
    const facts = { last_good: lastGood ?? null, first_bad: firstBad ?? null, undecided, runs, events };
    out.json({ project_id: project.project_id, check: check.text, ...facts });
    return;
  }
  if (!firstBad) {
    out.print(lastGood ? `The check holds on ${textOf(lastGood)}` : 'No checkpoint could be judged');
    return;
  }
  out.print(`Last good:  ${lastGood ? textOf(lastGood) : 'none: the oldest fails already'}`);
  out.print(`First bad:  ${textOf(firstBad)}`);
  for (const snapshot of undecided) out.print(`Undecided:  ${textOf(snapshot)}`);
  out.print(events.length > 0 ? 'Changes of the project between them:' : 'The history of the project has no change between them');
  for (const { at, action, name, id, by } of events) out.print(`  ${at}  ${action}  ${name ?? id}${by ? `  by ${by}` : ''}`);
}

function textOf({ name, created_at }: Snapshot): string {
  return `${name} (${new Date(created_at * 1000).toISOString().slice(0, 19)}Z)`;
}

/**
 * Lists the changes between two snapshots, the oldest first. Snapshots' times are whole seconds: changes within both seconds count.
 */
async function eventsBetween(
  { api, out }: CliCall,
  { project_id }: Project,
  { lastGood, firstBad }: { lastGood: Snapshot | undefined; firstBad: Snapshot },
): Promise<HistoryEntry[]> {
  if (!lastGood) return [];
  const [from, to] = [lastGood.created_at * 1000, (firstBad.created_at + 1) * 1000];
  const found: HistoryEntry[] = [];
  try {
    for (let before = ''; ; ) {
      const { entries } = await api.json<History>('GET', `/v2/projects/${project_id}/history?limit=${historyPage}${before}`);
      found.push(...entries.filter(({ at }) => Date.parse(at) >= from && Date.parse(at) < to));
      const oldest = entries.at(-1);
      if (!oldest || entries.length < historyPage || Date.parse(oldest.at) < from) return found.reverse();
      before = `&before=${oldest.seq}`;
    }
  } catch (error) {
    // The history of a closed project is not available.
    out.note(`The history cannot be read: ${(error as Error).message}`);
    return [];
  }
}

interface ForkWanted {
  readonly snapshot: Snapshot;
  readonly uplinks: boolean;
}

/**
 * Runs `use` on a fork of a snapshot; the fork is deleted in any case, also after Ctrl-C.
 * @throws RequestError when the fork cannot be created; the reason of the signal; errors of `use`
 */
async function onFork<T>(call: CliCall, { snapshot, uplinks }: ForkWanted, use: (fork: Project) => Promise<T>): Promise<T> {
  const { project_id, snapshot_id } = snapshot;
  // An aborted request would leave a fork behind: the request is completed, and the fork deleted.
  const api = call.api.withoutSignal();
  const name = `bisect ${randomBytes(4).toString('hex')}`;
  try {
    call.signal.throwIfAborted();
    const forked = `/v2/projects/${project_id}/snapshots/${snapshot_id}/fork`;
    const [fork] = await api.json<Project[]>('POST', forked, { name, uplinks });
    if (!fork) throw new Error(`${forked} was answered without a project`);
    call.signal.throwIfAborted();
    return await use(fork);
  } finally {
    // The fork is found by its name: it may exist although the answer was an error or was lost.
    await deleteProject(call, name);
  }
}

async function deleteProject({ api, out }: CliCall, name: string): Promise<void> {
  const client = api.withoutSignal();
  try {
    const all = await client.json<Project[]>('GET', '/v2/projects');
    for (const project of all.filter((each) => each.name === name))
      await client.json('DELETE', `/v2/projects/${project.project_id}`);
  } catch (error) {
    out.note(`The fork "${name}" could not be deleted: ${(error as Error).message}. Delete it when the server answers`);
  }
}
