/** Measures, and prints the results. */
import { Client } from 'undici';

export interface Row {
  /** The measured quantity, with its unit. */
  readonly what: string;
  readonly ours: number;
  readonly baseline: number;
  /** Description of the baseline. */
  readonly against: string;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Requests per second: `connections` clients, each with one pending request, for `seconds`. */
export async function throughput(origin: string, call: Call, { seconds = 2, connections = 4 } = {}): Promise<number> {
  const clients = Array.from({ length: connections }, () => new Client(origin));
  const end = performance.now() + seconds * 1000;
  const started = performance.now();
  const counts = await Promise.all(
    clients.map(async (client) => {
      let count = 0;
      while (performance.now() < end) {
        await request(client, call);
        count++;
      }
      return count;
    }),
  );
  const elapsed = (performance.now() - started) / 1000;
  await Promise.all(clients.map((client) => client.close()));
  return counts.reduce((sum, count) => sum + count, 0) / elapsed;
}

/** Milliseconds of each of `times` sequential calls on one connection; `between` runs unmeasured after each. */
export async function latencies(
  client: Client,
  call: (turn: number) => Call,
  times: number,
  between?: (answer: unknown) => Promise<void>,
): Promise<number[]> {
  const taken: number[] = [];
  for (let turn = 0; turn < times; turn++) {
    const started = performance.now();
    const answer = await request(client, call(turn));
    taken.push(performance.now() - started);
    await between?.(answer);
  }
  return taken;
}

/** @throws Error when the response is not a success */
export async function request(client: Client, { method, path, body, headers = {} }: Call): Promise<unknown> {
  const { statusCode, body: answer } = await client.request({
    method,
    path,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const bytes = await answer.arrayBuffer();
  if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${Buffer.from(bytes).toString().slice(0, 300)}`);
  if (method === 'GET' || bytes.byteLength === 0) return undefined;
  return JSON.parse(Buffer.from(bytes).toString());
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

export function table(rows: readonly Row[]): string {
  const line = ({ what, ours, baseline, against }: Row) =>
    `| ${what} | ${figure(ours)} | ${figure(baseline)} | ${(ours / baseline).toFixed(2)} | ${against} |`;
  return ['| measured | Patchbay | baseline | ratio | baseline is |', '|---|---|---|---|---|', ...rows.map(line)].join('\n');
}

function figure(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-GB') : value.toPrecision(3);
}
