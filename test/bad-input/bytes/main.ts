/** Changes inputs of all parsers by seeds: `npm run fuzz -- ROUNDS bytes`. */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { makeChance } from '../../durability/random.ts';
import { hunt } from './hunt.ts';
import { targets } from './targets.ts';

const usage = `Usage: npm run fuzz -- ROUNDS bytes [--seed SEED] [--target NAME]
A round feeds 500 changed inputs to each parser. Targets: ${targets.map(({ name }) => `"${name}"`).join(', ')}.`;
const inputs = 500;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { help: { type: 'boolean', default: false }, seed: { type: 'string' }, target: { type: 'string' } },
});

process.exitCode = await main();

async function main(): Promise<number> {
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const first = Number(values.seed ?? randomInt(1, 2 ** 31));
  let failed = 0;
  for (let seed = first; seed < first + Number(positionals[0] ?? '1') && failed === 0; seed++) {
    for (const target of targets.filter(({ name }) => name === (values.target ?? name))) {
      const { failure, kept, parts, longestMs } = await hunt(target, inputs, makeChance(seed));
      console.log(
        `seed ${seed}: ${target.name}: ${inputs} inputs, ${kept} kept, ${parts} parts, longest ${Math.round(longestMs)} ms`,
      );
      if (!failure) continue;
      failed += 1;
      const entry = { target: target.name, says: '', base64: Buffer.from(failure.input).toString('base64') };
      console.log(`${failure.reason}\nAs an entry of test/bad-input/corpus/bytes/: ${JSON.stringify(entry)}`);
    }
  }
  return failed === 0 ? 0 : 1;
}
