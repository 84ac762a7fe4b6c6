/** `npm run bench`: measures the named parts, or all, each beside a baseline of the same run. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { compareCommits } from './ab.ts';
import { benchAccounts } from './accounts.ts';
import { benchApi } from './api.ts';
import { benchController } from './controller.ts';
import { benchDuplicate } from './duplicate.ts';
import { benchFirst } from './first.ts';
import { type Row, table } from './measure.ts';
import { benchOperations } from './operations.ts';
import { benchScale } from './scale.ts';
import { benchV3 } from './v3.ts';
import { benchWarm } from './warm.ts';
import { benchWeb } from './web.ts';

const trials: Record<string, (say: (text: string) => void) => Promise<Row[]>> = {
  accounts: benchAccounts,
  api: benchApi,
  controller: benchController,
  duplicate: benchDuplicate,
  first: benchFirst,
  operations: benchOperations,
  scale: benchScale,
  v3: benchV3,
  warm: benchWarm,
  web: benchWeb,
};

/** Separate programs with more options; they print their own tables. */
const programs = ['fabric', 'containers', 'machines', 'pcs', 'ospf', 'capture', 'stats', 'slices'];

const help = `Usage: npm run bench -- [${Object.keys(trials).join('|')}|${programs.join('|')} …] [--json FILE]

       npm run bench -- ab A B [PART …] [--rounds 6]

Measures the named trials (default: all), each against a baseline in the same run, and prints tables in Markdown.
\`fabric\`, \`containers\`, \`machines\`, \`pcs\`, \`ospf\`, \`capture\`, \`stats\` and \`slices\` are programs of their own:
node bench/fabric.ts --help. \`ab\` measures two commits in turn: npm run bench -- ab --help.`;

if (process.argv[2] === 'ab') {
  await compareCommits(process.argv.slice(3));
  process.exit();
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { help: { type: 'boolean' }, json: { type: 'string' } },
});
const wanted = positionals.length > 0 ? positionals : [...Object.keys(trials), ...programs];
const unknown = wanted.filter((name) => !(name in trials) && !programs.includes(name));
if (values.help || unknown.length > 0) {
  process.stdout.write(`${help}\n`);
  process.exit(unknown.length > 0 ? 2 : 0);
}

process.stdout.write(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}\n`);
const results: Record<string, Row[]> = {};
for (const name of wanted) {
  const trial = trials[name];
  if (!trial) continue;
  const rows = await trial((text) => process.stderr.write(`${name}: ${text}\n`));
  results[name] = rows;
  process.stdout.write(`\n## ${name}\n\n${table(rows)}\n`);
}
if (values.json) await writeFile(values.json, JSON.stringify(results, null, 2));
for (const name of wanted.filter((other) => programs.includes(other))) {
  process.stdout.write(`\n## ${name}\n\n`);
  await once(spawn(process.execPath, [`${import.meta.dirname}/${name}.ts`], { stdio: 'inherit' }), 'exit');
}
