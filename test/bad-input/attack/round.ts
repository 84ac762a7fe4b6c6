/** A round of attacks on four servers at a time: requests and files, with credentials and without. */
import { type Chance, makeChance } from '../../durability/random.ts';
import { harmlessPrograms } from '../fuzz/lab.ts';
import { AttackBench } from './bench.ts';
import { type CaseKind, cases, requestsPerCase, type Tally } from './cases.ts';

export interface Plan {
  readonly requests: number;
  readonly files: number;
  readonly options: number;
  /** Whether an attack that holds the event loop is a problem. */
  readonly countsHolds: boolean;
}
export interface Outcome extends Tally {
  readonly seconds: number;
  readonly longestMs: number;
  /** Each with the case in which it was found. */
  readonly problems: readonly string[];
}

interface Planned {
  readonly kind: CaseKind;
  readonly seed: number;
}

/** The attacks on one server. */
interface Site {
  readonly auth: boolean;
  readonly isRequests: boolean;
  readonly isAlone?: boolean;
  readonly countsHolds: boolean;
  readonly planned: readonly Planned[];
}

const fileKinds: readonly CaseKind[] = ['image', 'image', 'clone', 'archive', 'archive', 'project', 'project'];

/** An attack that held the event loop is repeated so often, until it does not. */
const repeatsOfHold = 3;

/** `onProblem` is called at once, because a round takes minutes. */
export async function playRound(chance: Chance, plan: Plan, onProblem: (problem: string) => void): Promise<Outcome> {
  const started = performance.now();
  const tally: Tally = { requests: 0, files: 0, machines: 0, refused: 0 };
  const { countsHolds } = plan;
  const plans = [true, false].flatMap((auth) => [
    { auth, countsHolds, isRequests: true, planned: planOf(chance, ['requests'], plan.requests / requestsPerCase / 2) },
    {
      auth,
      countsHolds,
      isRequests: false,
      planned: [...planOf(chance, fileKinds, plan.files / 2), ...planOf(chance, ['options'], plan.options / 2)],
    },
  ]);
  const results = await Promise.all(plans.map((each) => playOn(each, tally, onProblem)));
  return {
    ...tally,
    seconds: Math.round((performance.now() - started) / 1_000),
    longestMs: Math.round(Math.max(...results.map(({ longestMs }) => longestMs))),
    problems: results.flatMap(({ problems }) => problems),
  };
}

/** `KIND:SEED:auth` or `KIND:SEED:open`, as a failure says it. */
export async function playOne(name: string): Promise<readonly string[]> {
  const [kind = '', seed, access] = name.split(':');
  if (!(kind in cases)) throw new Error(`no kind of attack: ${kind}`);
  const planned = [{ kind: kind as CaseKind, seed: Number(seed) }];
  const tally: Tally = { requests: 0, files: 0, machines: 0, refused: 0 };
  return (
    await playOn({ auth: access === 'auth', isRequests: kind === 'requests', isAlone: true, countsHolds: true, planned }, tally)
  ).problems;
}

function planOf(chance: Chance, kinds: readonly CaseKind[], count: number): Planned[] {
  return Array.from({ length: Math.ceil(count) }, () => ({
    kind: chance.pick(kinds) ?? 'requests',
    seed: chance.between(1, 2 ** 31 - 1),
  }));
}

async function playOn(
  { auth, isRequests, isAlone = false, countsHolds, planned }: Site,
  tally: Tally,
  onProblem: (problem: string) => void = () => undefined,
): Promise<{ problems: string[]; longestMs: number }> {
  await using bench = await AttackBench.start({ auth, ...(isRequests && { programs: harmlessPrograms }) });
  const problems: string[] = [];
  const note = (where: string, found: readonly string[]) => {
    for (const problem of found.map((each) => `${where}: ${each}`)) {
      problems.push(problem);
      onProblem(problem);
    }
  };
  for (const { kind, seed } of planned) {
    const name = `${kind}:${seed}:${auth ? 'auth' : 'open'}`;
    const play = () =>
      cases[kind]({ bench, chance: makeChance(seed), tally, isAlone }).catch((error: Error) => [`ended: ${error.stack}`]);
    note(name, [...(await play()), ...(await bench.problems())]);
    // Work of ten milliseconds costs sixty now and then on a machine that is shared: a delay that an attack causes comes again with
    // it.
    let held = await bench.wasHeld();
    for (let left = repeatsOfHold; countsHolds && left > 0 && held.length > 0; left--) {
      await play();
      held = await bench.wasHeld();
    }
    if (countsHolds) note(name, held);
    if (!bench.server.running) break;
  }
  note(`all of ${isRequests ? 'requests' : 'files'}, ${auth ? 'auth' : 'open'}`, await bench.leaks());
  return { problems, longestMs: bench.longestMs };
}
