/**
 * Measures how exactly frames are delayed, at several rates and delays, beside a delay line in C, and with other impaired links
 * present. Sender, receiver and the delay line are programs in C with the fabric's priority, so that their own waits are not
 * measured as its errors.
 */
import { spawn } from 'node:child_process';
import type { FabricClient } from '../../src/fabric/client.ts';
import { median, quantile } from './figures.ts';
import { compile, pacedTimes } from './paced-ends.ts';

const delaysMs = [1, 10, 100];
const ratesPerSecond = [1_000, 20_000, 100_000];
const roundMs = 1_000;
/** The subjects take turns; the medians of the rounds count. */
const rounds = 3;
const otherLinks = 1_000;
const parts = [0.5, 0.99, 0.999];

export interface FidelityRow {
  readonly delayMs: number;
  readonly perSecond: number;
  /** Errors in µs: median, p99, p99.9. */
  readonly line: readonly number[];
  readonly fabric: readonly number[];
  /** Errors with a thousand other impaired links in the fabric. */
  readonly crowded: readonly number[];
}

interface Case {
  readonly delayMs: number;
  readonly perSecond: number;
}

/** Carries frames from one path to another. */
type Join = (from: string, to: string, delayMs: number) => Promise<() => Promise<void>>;

/** Undefined where there is no C compiler; the reason is reported. */
export async function fidelity(
  client: FabricClient,
  folder: string,
  report: (line: string) => void,
): Promise<FidelityRow[] | undefined> {
  const trial = await Trial.prepare(folder).catch((error: Error) => report(`no fidelity: ${error.message}`));
  if (!trial) return undefined;
  const cases = delaysMs.flatMap((delayMs) => ratesPerSecond.map((perSecond) => ({ delayMs, perSecond })));
  const [line, fabric] = [trial.line, overFabric(client)];
  const quiet: { line: readonly number[]; fabric: readonly number[] }[] = [];
  for (const one of cases) {
    const [ofLine, ofFabric] = await trial.measure(one, [line, fabric]);
    quiet.push({ line: ofLine ?? [], fabric: ofFabric ?? [] });
  }
  const others = Array.from({ length: otherLinks }, (_, index) => otherLink(index));
  await client.apply(others);
  const rows: FidelityRow[] = [];
  for (const [index, one] of cases.entries()) {
    const [crowded = []] = await trial.measure(one, [fabric]);
    rows.push({ ...one, ...(quiet[index] ?? { line: [], fabric: [] }), crowded });
  }
  await client.remove(others.map(({ id }) => id));
  if (!trial.isRealTime) report('Sender and receiver had no real-time priority: the figures hold their waits for a processor.');
  return rows;
}

class Trial {
  isRealTime = true;
  readonly line: Join;
  readonly #folder: string;
  readonly #ends: string;

  private constructor(folder: string, programs: { readonly line: string; readonly ends: string }) {
    this.#folder = folder;
    this.#ends = programs.ends;
    this.line = throughLine(programs.line);
  }

  static async prepare(folder: string): Promise<Trial> {
    return new Trial(folder, { line: await compile('delay-line', folder), ends: await compile('paced-ends', folder) });
  }

  /** Errors in µs for each of `joins`. */
  async measure({ delayMs, perSecond }: Case, joins: readonly Join[]): Promise<number[][]> {
    const found = joins.map((): number[][] => []);
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, join] of joins.entries()) found[index]?.push(await this.#one(join, { delayMs, perSecond }));
    }
    return found.map((runs) => parts.map((_, at) => Math.round(median(runs.map((figures) => figures[at] ?? Number.NaN)))));
  }

  async #one(join: Join, { delayMs, perSecond }: Case): Promise<number[]> {
    const [from, to] = [`${this.#folder}/paced-from`, `${this.#folder}/paced-to`];
    let part = async () => {};
    const path = {
      folder: this.#folder,
      from,
      to,
      async join() {
        part = await join(from, to, delayMs);
      },
    };
    try {
      const { micros, lost, isRealTime } = await pacedTimes(this.#ends, path, { perSecond, ms: roundMs });
      if (lost > 0) throw new Error(`${lost} frames were lost on the way`);
      this.isRealTime &&= isRealTime;
      return parts.map((one) => quantile(Array.from(micros), one) - delayMs * 1000);
    } finally {
      await part();
    }
  }
}

function throughLine(program: string): Join {
  return async (from, to, delayMs) => {
    const child = spawn(program, [from, to, String(delayMs)], { stdio: 'inherit' });
    return async () => void child.kill('SIGKILL');
  };
}

function overFabric(client: FabricClient): Join {
  const port = (path: string) => ({ type: 'stream' as const, path });
  return async (from, to, delayMs) => {
    const filters = { delay: [delayMs] };
    await client.apply([{ id: 'fidelity', a: port(from), b: port(to), filters, suspend: false }]);
    return () => client.remove(['fidelity']);
  };
}

/** A link between two switches of its own: it needs no other process. */
function otherLink(index: number) {
  const settings = { medium: 'hub' } as const;
  const port = (name: string) => ({ type: 'switch' as const, switch: `${name}-${index}`, port: 0, settings });
  return { id: `other-${index}`, a: port('one'), b: port('two'), filters: { delay: [20, 5], packet_loss: [1] }, suspend: false };
}

export function fidelityTable(rows: readonly FidelityRow[]): string {
  const figures = (list: readonly number[]) => list.join(' / ');
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
