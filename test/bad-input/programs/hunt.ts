/** Plays programs one after the other until one fails, which is shortened and shown. */
import { shorten } from '../../simulation/engine/shorten.ts';
import { type Baseline, baselineOf, checkNothingLeft, endAll } from './after.ts';
import { type Played, Player } from './play.ts';
import type { Program, Step } from './program.ts';
import { Stage } from './stage.ts';

const mostTries = 60;
/** Number of plays without a failure after which a program that failed once counts as passing. */
const attempts = 2;
const mostHeldMs = Number(process.env.PATCHBAY_TEST_RUN === undefined ? 100 : 300);

/** A stage that was used once: what is loaded and opened at first use is no leak. */
export class Theatre implements AsyncDisposable {
  #stage: Stage | undefined;
  #baseline: Baseline | undefined;
  longestMs = 0;
  played = 0;

  async play(program: Program): Promise<Played> {
    this.#stage ??= await Stage.open();
    const stage = this.#stage;
    this.#baseline ??= await this.#warmUp(stage);
    const player = new Player(stage, program);
    const { lines } = player;
    try {
      await player.play();
      await endAll(stage, player.fresh);
      await checkNothingLeft(stage, this.#baseline);
      this.played += 1;
      const held = await stage.loop.longestMs();
      this.longestMs = Math.max(this.longestMs, held);
      await stage.loop.restart(stage.server);
      return { violation: held > mostHeldMs ? `the event loop was held for ${Math.round(held)} ms` : undefined, lines };
    } catch (error) {
      const { message, cause } = error as Error;
      const violation = `${message}\n${cause instanceof Error ? `${cause.message}\n` : ''}${(error as Error).stack?.split('\n').slice(1, 4).join('\n')}`;
      // Leftovers of a failed program would disturb the next one.
      await this[Symbol.asyncDispose]();
      return { violation, lines };
    }
  }

  async #warmUp(stage: Stage): Promise<Baseline> {
    const player = new Player(stage, warm);
    await player.play();
    await endAll(stage, new Set());
    const baseline = await baselineOf(stage);
    await stage.loop.restart(stage.server);
    return baseline;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stage?.[Symbol.asyncDispose]();
    this.#stage = undefined;
    this.#baseline = undefined;
  }
}

/** Everything that a server does once: a machine, a node on the remote compute, memory, an archive, a restart. */
const beginning = ['make_project', 'add_node', 'add_node', 'link', 'start_all', 'capture', 'snapshot', 'freeze'] as const;
const rest = ['fork', 'rewind', 'import', 'duplicate', 'migrate', 'undo', 'redo', 'impair', 'schedule', 'crash'] as const;
const warm: Program = {
  seed: 0,
  steps: [
    ...beginning.flatMap((what) => [
      { client: 0, what, of: 0 },
      // A machine, and a PC of the remote compute.
      ...(what === 'make_project' ? [23, 1].map((of) => ({ client: 0, what: 'add_node' as const, of })) : []),
    ]),
    ...rest.map((what, of) => ({ client: 0, what, of: of * 7 })),
  ],
};

export async function explain(theatre: Theatre, program: Program, first: Played): Promise<string> {
  const what = kindOf(first.violation ?? '');
  let last = first;
  const fails = async (steps: readonly Step[]) => {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const played = await theatre.play({ ...program, steps });
      if (kindOf(played.violation ?? '') !== what) continue;
      last = played;
      return true;
    }
    return false;
  };
  const smaller = (step: Step) => (step.client > 0 ? { ...step, client: 0 } : undefined);
  const steps = await shorten({ steps: program.steps, fails, smaller, mostTries });
  return [
    `Seed ${program.seed}: ${first.violation}`,
    `Shortened to ${steps.length} of ${program.steps.length} steps: ${last.violation}`,
    ...last.lines,
    `As an entry of the corpus: ${JSON.stringify({ ...program, steps })}`,
  ].join('\n');
}

/** Text of a violation without names, numbers and times. */
function kindOf(violation: string): string {
  return violation.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+/g, '').slice(0, 70);
}
