/**
 * Plays schedules of what may happen to a lab and the program that runs it, on a virtual clock, disk and network.
 * `node test/simulation/main.ts --help` says how.
 */
import './hooks.ts';
import { parseArgs } from 'node:util';
import { NextSeed } from '../support/next-seed.ts';
import { faults } from './faults.ts';
import type { Found } from './hunt.ts';

// Modules that are loaded after the hooks.
const { hunt, play } = await import('./hunt.ts');
const { kept } = await import('./kept.ts');
const { troubles } = await import('./schedule.ts');
const { decisionRows } = await import('./world/rows.ts');

const usage = `Usage: npm run fuzz -- PLAYS simulate [--seed FIRST] [--seconds PROCESSOR-TIME] [--fault NAME|list] [--table]
Without --seed it continues where the last hunt ended or was ended: 1000000 plays can be made in several sittings.`;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean', default: false },
    seed: { type: 'string' },
    seconds: { type: 'string', default: '0' },
    fault: { type: 'string' },
    table: { type: 'boolean', default: false },
  },
});
/** Where the next hunt begins. */
const progress = new NextSeed('simulation');
const shownEvery = 50_000;
const [plays = '1'] = positionals;

if (values.help) console.log(usage);
else if (values.fault === 'list') for (const { name, says } of faults) console.log(`${name.padEnd(20)} ${says}`);
else process.exitCode = await run();

async function run(): Promise<number> {
  const first = Number(values.seed ?? (values.fault ? 1 : progress.read()));
  if (![first, Number(plays), Number(values.seconds)].every((given) => Number.isFinite(given) && given >= 0)) {
    console.error(usage);
    return 2;
  }
  if (!values.fault) {
    for (const { schedule, says } of kept) {
      const { violation } = await play(schedule);
      if (!violation) continue;
      console.error(`The schedule that is kept as "${says}" fails again: ${violation}`);
      return 1;
    }
  }
  const isResumed = values.seed === undefined && !values.fault;
  // The next hunt continues from here, also when this one is ended.
  const onProgress = (next: number, done: number, cpuSeconds: number) => {
    if (isResumed) progress.keep(next);
    if (done % shownEvery === 0) console.log(`${done} plays, ${cpuSeconds.toFixed(0)} s of processor time`);
  };
  const found = await hunt({ first, plays: Number(plays), seconds: Number(values.seconds), onProgress });
  const last = first + found.plays;
  const rate = found.cpuSeconds > 0 ? Math.round(found.plays / found.cpuSeconds) : 0;
  if (values.table) console.log(tableOf(found));
  if (found.failure !== undefined) {
    console.error(
      `${found.failure}\nTo repeat: npm run fuzz -- 1 simulate --seed ${last}${values.fault ? ` --fault ${values.fault}` : ''}`,
    );
    return 1;
  }
  console.log(
    `${found.plays} plays, seeds ${first} to ${last - 1}, ${found.cpuSeconds.toFixed(1)} s of processor time, ${rate} a second`,
  );
  if (isResumed) progress.keep(last);
  return 0;
}

/** Table of how often each row of `decide` was the answer within a minute after each kind of trouble. */
function tableOf({ decisions }: Found): string {
  const rows = decisionRows;
  const width = Math.max(...rows.map((row) => row.length));
  const cell = (text: string | number, column: string) => String(text).padStart(Math.max(column.length, 7) + 2);
  const head = ' '.repeat(width) + troubles.map((trouble) => cell(trouble, trouble)).join('');
  const lines = rows.map(
    (row) => row.padEnd(width) + troubles.map((trouble) => cell(decisions.get(`${row}\t${trouble}`) ?? 0, trouble)).join(''),
  );
  const empty = rows.flatMap((row) =>
    troubles.filter((trouble) => !decisions.has(`${row}\t${trouble}`)).map((trouble) => `${row} after ${trouble}`),
  );
  const note = empty.length === 0 ? 'No cell is empty.' : `Empty cells: ${empty.join(', ')}.`;
  return [head, ...lines, note].join('\n');
}
