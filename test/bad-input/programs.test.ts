/**
 * Programs of API calls by three clients, with kills of the server, a full disk and a compute that is cut off: those of `corpus/`, which
 * failed once, and a few that are drawn from seeds. `npm run fuzz -- 100 state` plays others.
 */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeChance } from '../durability/random.ts';
import { Theatre } from './programs/hunt.ts';
import { makeProgram, type Program } from './programs/program.ts';

const drawn = 2;
const corpus = join(import.meta.dirname, 'corpus');
const theatre = new Theatre();
after(() => theatre[Symbol.asyncDispose]());

async function passes(program: Program): Promise<void> {
  const { violation, lines } = await theatre.play(program);
  const hint = `npm run fuzz -- 1 state --seed ${program.seed} shortens it, if it was drawn`;
  assert.equal(violation, undefined, [...lines, violation, hint].join('\n'));
}

for (const name of (await readdir(corpus)).filter((each) => each.endsWith('.json')).sort()) {
  const { says, ...program } = JSON.parse(await readFile(join(corpus, name), 'utf8')) as Program & { says: string };
  test(`${name}: ${says}`, () => passes(program));
}
const { seed } = makeChance();
for (let number = 0; number < drawn; number++)
  test(`program ${seed + number}: nothing acknowledged is lost, and nothing is left`, () => passes(makeProgram(seed + number)));
