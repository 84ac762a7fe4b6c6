/**
 * Two commits in turn: `npm run bench -- ab A B [PART …] [--rounds 6]` measures each part (default: `api` and the fabric's `relay`) in a
 * checkout of each commit, and says of every figure whether the difference may be chance.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { median } from './measure.ts';
import { rankTest } from './rank-test.ts';

const root = resolve(import.meta.dirname, '..');
/** Parts of the fabric's bench, by their names there. */
const ofFabric = ['relay', 'delay', 'many'];
const help = `Usage: npm run bench -- ab A B [PART …] [--rounds 6]

Measures two commits in turn, each in a checkout of its own. PART: one of \`npm run bench -- --help\` without programs, or of the
fabric: ${ofFabric.join(', ')}. Default: api relay. Fewer than four rounds cannot tell a difference from chance.
`;

interface Figures {
  readonly [part: string]: readonly Readonly<Record<string, unknown>>[] | string;
}

async function run(program: string, args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}`);
}

/** Checks a commit out. A commit with other dependencies gets them from the registry. */
async function checkout(commit: string, folder: string): Promise<void> {
  await run('git', ['worktree', 'add', '--detach', '--force', folder, commit], root);
  const lock = (of: string) => readFile(join(of, 'package-lock.json'), 'utf8');
  if ((await lock(folder)) === (await lock(root))) await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  else await run('npm', ['ci', '--no-audit', '--no-fund'], folder);
}

/** Measures the parts once. @returns figures by part and quantity */
async function measure(folder: string, parts: readonly string[]): Promise<Map<string, number>> {
  const figures = new Map<string, number>();
  const ofProgram = (program: string, names: readonly string[]) => ({ program, names });
  const fabric = parts.filter((part) => ofFabric.includes(part));
  const others = parts.filter((part) => !ofFabric.includes(part));
  for (const { program, names } of [ofProgram('main.ts', others), ofProgram('fabric.ts', fabric)]) {
    if (names.length === 0) continue;
    const file = join(folder, 'figures.json');
    await run(process.execPath, [join('bench', program), ...names, '--json', file], folder);
    for (const [part, rows] of Object.entries(JSON.parse(await readFile(file, 'utf8')) as Figures)) {
      if (typeof rows === 'string') continue;
      for (const { what, unit, ours, fabric } of rows) {
        const value = ours ?? fabric;
        if (typeof value === 'number') figures.set(`${part}: ${what}${unit === undefined ? '' : `, ${unit}`}`, value);
      }
    }
  }
  return figures;
}

/** @throws Error for commits and parts that are none */
export async function compareCommits(args: string[]): Promise<void> {
  const options = { rounds: { type: 'string', default: '6' }, help: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
  const [first, second, ...named] = positionals;
  const rounds = Number(values.rounds);
  if (values.help || first === undefined || second === undefined || !(rounds >= 1)) return void process.stdout.write(help);
  const parts = named.length > 0 ? named : ['api', 'relay'];
  await using made = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'bench-ab-'));
  made.defer(async () => {
    await rm(folder, { recursive: true, force: true });
    await run('git', ['worktree', 'prune'], root);
  });
  const sides = [first, second].map((commit, place) => ({
    commit,
    folder: join(folder, String(place)),
    figures: new Map<string, number[]>(),
  }));
  for (const side of sides) await checkout(side.commit, side.folder);
  for (let round = 0; round < rounds; round++) {
    // Each goes first in half of the rounds.
    for (const side of round % 2 === 0 ? sides : sides.toReversed())
      for (const [what, value] of await measure(side.folder, parts))
        side.figures.set(what, [...(side.figures.get(what) ?? []), value]);
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  process.stdout.write(`\n${tableOf(sides)}\n`);
}

interface Side {
  readonly commit: string;
  readonly figures: ReadonlyMap<string, readonly number[]>;
}

function tableOf([before, after]: readonly Side[]): string {
  if (!before || !after) return '';
  const rows = [...before.figures].flatMap(([what, values]) => {
    const others = after.figures.get(what);
    if (!others) return [];
    const [one, other] = [median(values), median(others)];
    const chance = rankTest(values, others);
    return `| ${what} | ${one.toPrecision(4)} | ${other.toPrecision(4)} | ${(other / one).toFixed(3)} | ${chance.toPrecision(2)} |`;
  });
  const head = `| median of ${before.commit} and ${after.commit} | A | B | B / A | by chance |`;
  return [head, '|---|---|---|---|---|', ...rows].join('\n');
}
