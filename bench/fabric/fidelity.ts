/** How exactly frames are delayed, at several rates and delays, beside a delay line in C, and with other impaired links present. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { run } from '../../demo/guest/debian.ts';
import type { FabricClient } from '../../src/fabric/client.ts';
import { Ends } from './ends.ts';
import { quantile } from './figures.ts';
import { type OneWay, paced } from './loads.ts';

const delaysMs = [1, 10, 100];
const ratesPerSecond = [1_000, 20_000, 100_000];
const roundMs = 1_000;
const otherLinks = 1_000;

export interface FidelityRow {
  readonly delayMs: number;
  readonly perSecond: number;
  /** Errors in µs: median, p99, p99.9. */
  readonly line: readonly number[] | undefined;
  readonly fabric: readonly number[];
  /** The same with a thousand other impaired links in the fabric. */
  readonly crowded: readonly number[];
}

/** `line` is undefined where there is no C compiler; the reason is reported. */
export async function fidelity(client: FabricClient, folder: string, report: (line: string) => void): Promise<FidelityRow[]> {
  const program = await compiled(folder).catch((error: Error) => report(`no delay line in C: ${error.message}`));
  const cases = delaysMs.flatMap((delayMs) => ratesPerSecond.map((perSecond) => ({ delayMs, perSecond })));
  const lines: ((readonly number[]) | undefined)[] = [];
  const fabric: (readonly number[])[] = [];
  for (const one of cases) {
    lines.push(typeof program === 'string' ? await throughLine(program, folder, one) : undefined);
    fabric.push(await throughFabric(client, folder, one));
  }
  await client.apply(Array.from({ length: otherLinks }, (_, index) => otherLink(index)));
  const crowded: (readonly number[])[] = [];
  for (const one of cases) crowded.push(await throughFabric(client, folder, one));
  await client.remove(Array.from({ length: otherLinks }, (_, index) => otherLink(index).id));
  return cases.map((one, index) => ({ ...one, line: lines[index], fabric: fabric[index] ?? [], crowded: crowded[index] ?? [] }));
}

interface Case {
  readonly delayMs: number;
  readonly perSecond: number;
}

async function compiled(folder: string): Promise<string> {
  const source = fileURLToPath(new URL('./delay-line.c', import.meta.url));
  await run('gcc', ['-O2', '-o', `${folder}/delay-line`, source]);
  return `${folder}/delay-line`;
}

async function throughLine(program: string, folder: string, one: Case): Promise<readonly number[]> {
  const ends = new Ends(folder, `line-${one.delayMs}-${one.perSecond}`);
  const child = spawn(program, [ends.a.path, ends.b.path, String(one.delayMs)], { stdio: 'inherit' });
  try {
    await ends.connected();
    return figuresOf(await paced(ends, child.pid ?? 0, { ...one, ms: roundMs }));
  } finally {
    child.kill('SIGKILL');
    ends.close();
  }
}

async function throughFabric(client: FabricClient, folder: string, one: Case): Promise<readonly number[]> {
  const ends = new Ends(folder, `fidelity-${one.delayMs}-${one.perSecond}`);
  const port = (path: string) => ({ type: 'stream' as const, path });
  try {
    const filters = { delay: [one.delayMs] };
    await client.apply([{ id: 'fidelity', a: port(ends.a.path), b: port(ends.b.path), filters, suspend: false }]);
    await ends.connected();
    return figuresOf(await paced(ends, client.pid, { ...one, ms: roundMs }));
  } finally {
    await client.remove(['fidelity']);
    ends.close();
  }
}

/** Between two switches of its own: it needs no other process. */
function otherLink(index: number) {
  const settings = { medium: 'hub' } as const;
  const port = (name: string) => ({ type: 'switch' as const, switch: `${name}-${index}`, port: 0, settings });
  return { id: `other-${index}`, a: port('one'), b: port('two'), filters: { delay: [20, 5], packet_loss: [1] }, suspend: false };
}

function figuresOf({ errorsMs }: OneWay): readonly number[] {
  return [0.5, 0.99, 0.999].map((part) => Math.round(quantile(errorsMs, part) * 1000));
}

export function fidelityTable(rows: readonly FidelityRow[]): string {
  const figures = (list: readonly number[] | undefined) => list?.join(' / ') ?? '–';
  return [
    '| delay, ms | frames/s | delay line in C | fabric | fabric, 1,000 other impaired links |',
    '|---:|---:|---:|---:|---:|',
    ...rows.map(
      ({ delayMs, perSecond, line, fabric, crowded }) =>
        `| ${delayMs} | ${perSecond.toLocaleString('en')} | ${[line, fabric, crowded].map(figures).join(' | ')} |`,
    ),
    '',
    'Errors in µs: median / p99 / p99.9.',
  ].join('\n');
}
