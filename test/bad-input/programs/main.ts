/** Draws programs and plays them: `node test/bad-input/programs/main.ts --help` says how. */
import { parseArgs } from 'node:util';
import { NextSeed } from '../../support/next-seed.ts';
import { explain, Theatre } from './hunt.ts';
import { makeProgram } from './program.ts';
import { Tally } from './tally.ts';

const usage = `Usage: npm run fuzz -- PROGRAMS state [--seed FIRST] [--minutes MINUTES] [--as-is]
Without --seed it continues where the last hunt ended. --minutes: it begins no program after them. --as-is: a program that fails is not
shortened.`;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean', default: false },
    seed: { type: 'string' },
    minutes: { type: 'string' },
    'as-is': { type: 'boolean', default: false },
  },
});
const progress = new NextSeed('state');

process.exitCode = await hunt();

async function hunt(): Promise<number> {
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const first = Number(values.seed ?? progress.read());
  const count = Number(positionals[0] ?? '1');
  const until = performance.now() + 60_000 * Number(values.minutes ?? Number.POSITIVE_INFINITY);
  const tally = new Tally();
  await using theatre = new Theatre();
  for (let seed = first; seed < first + count && performance.now() < until; seed++) {
    const program = makeProgram(seed);
    const began = performance.now();
    const played = await theatre.play(program);
    console.log(
      `seed ${seed}: ${program.steps.length} steps, ${((performance.now() - began) / 1000).toFixed(1)} s, longest ${Math.round(theatre.longestMs)} ms${played.violation ? ' FAILED' : ''}`,
    );
    if (values.seed === undefined) progress.keep(seed + 1);
    tally.add(played.lines);
    if (!played.violation) continue;
    console.log(`${played.lines.join('\n')}\n${played.violation}`);
    if (!values['as-is']) console.log(await explain(theatre, program, played));
    return 1;
  }
  console.log(`${tally}; the longest turn of the event loop took ${Math.round(theatre.longestMs)} ms`);
  return 0;
}
