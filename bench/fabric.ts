/**
 * The fabric against a relay that only copies, in one run and taking turns: frames a second, CPU per frame, round trip; and how
 * exactly a delay is kept. `node bench/fabric.ts [--json FILE]`; takes about half a minute. Linux only (CPU is read from /proc).
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { FabricClient } from '../src/fabric/client.ts';
import type { Filters } from '../src/schema/filter.ts';
import { Ends } from './fabric/ends.ts';
import { median, quantile } from './fabric/figures.ts';
import { flood, type OneWay, paced, roundTrips } from './fabric/loads.ts';

const rounds = 3;
const floodMs = 1000;
const frameSizes = [100, 1500];
const pace = { perSecond: 20_000, ms: 1500 };
const delayMs = 10;

interface Subject {
  readonly ends: Ends;
  readonly pid: number;
}
interface Row {
  readonly what: string;
  readonly unit: string;
  readonly relay: number;
  readonly fabric: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'string' } } });
  const folder = await mkdtemp(`${tmpdir()}/fabric-bench-`);
  const client = await FabricClient.connectOrSpawn({ socketPath: `${folder}/control`, logPath: `${folder}/log` });
  const stops: (() => void)[] = [];
  try {
    const relay = await startRelay(folder, stops);
    const fabric = await startLink(client, { folder, name: 'plain', filters: {} }, stops);
    const delayed = await startLink(client, { folder, name: 'delayed', filters: { latency: [delayMs] } }, stops);
    const rows = [...(await compare(relay, fabric)), ...(await compareDelay(relay, delayed))];
    console.log(table(rows));
    if (values.json) await writeFile(values.json, JSON.stringify({ node: process.version, rows }, null, 2));
  } finally {
    for (const stop of stops) stop();
    await client.quit();
    await rm(folder, { recursive: true });
  }
}

async function startRelay(folder: string, stops: (() => void)[]): Promise<Subject> {
  const ends = new Ends(folder, 'relay');
  const program = fileURLToPath(new URL('./fabric/relay.ts', import.meta.url));
  const child = spawn(process.execPath, [program, ends.a.path, ends.b.path], { stdio: 'inherit', detached: true });
  stops.push(() => ends.close());
  stops.push(() => child.kill('SIGKILL'));
  await ends.connected();
  return { ends, pid: child.pid ?? 0 };
}

async function startLink(
  client: FabricClient,
  link: { folder: string; name: string; filters: Filters },
  stops: (() => void)[],
): Promise<Subject> {
  const ends = new Ends(link.folder, link.name);
  stops.push(() => ends.close());
  const [a, b] = [ends.a, ends.b].map(({ path }) => ({ type: 'stream' as const, path }));
  if (!a || !b) throw new Error('a link has two ends');
  await client.apply([{ id: link.name, a, b, filters: link.filters, suspend: false }]);
  await ends.connected();
  return { ends, pid: client.pid };
}

/** Both take turns, so that what else the machine does falls on both; the median of the rounds counts. */
async function compare(relay: Subject, fabric: Subject): Promise<Row[]> {
  const rows: Row[] = [];
  for (const frameBytes of frameSizes) {
    const of = { relay: [] as number[], fabric: [] as number[] };
    const cpu = { relay: [] as number[], fabric: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, { ends, pid }] of [['relay', relay] as const, ['fabric', fabric] as const]) {
        const { framesPerSecond, cpuMicrosPerFrame } = await flood(ends, pid, { frameBytes, ms: floodMs });
        of[name].push(framesPerSecond);
        cpu[name].push(cpuMicrosPerFrame);
      }
    }
    rows.push({ what: `frames of ${frameBytes} bytes`, unit: '1/s', relay: median(of.relay), fabric: median(of.fabric) });
    rows.push({ what: `CPU per frame of ${frameBytes} bytes`, unit: 'µs', relay: median(cpu.relay), fabric: median(cpu.fabric) });
  }
  const trip = { relay: [] as number[], fabric: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    trip.relay.push(await roundTrips(relay.ends, { frameBytes: 100, count: 2000 }));
    trip.fabric.push(await roundTrips(fabric.ends, { frameBytes: 100, count: 2000 }));
  }
  rows.push({ what: 'round trip, median', unit: 'µs', relay: median(trip.relay), fabric: median(trip.fabric) });
  return rows;
}

/** The relay holds nothing: its figures tell what of the error is the machine's and the measurement's. */
async function compareDelay(relay: Subject, delayed: Subject): Promise<Row[]> {
  const bare: OneWay[] = [];
  const held: OneWay[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await paced(relay.ends, relay.pid, { ...pace, delayMs: 0 }));
    held.push(await paced(delayed.ends, delayed.pid, { ...pace, delayMs }));
  }
  const row = (what: string, unit: string, figure: (ways: OneWay[]) => number): Row => ({
    what: `${pace.perSecond.toLocaleString('en')} frames/s through ${delayMs} ms: ${what}`,
    unit,
    relay: figure(bare),
    fabric: figure(held),
  });
  const error = (part: number) => (ways: OneWay[]) => median(ways.map(({ errorsMs }) => quantile(errorsMs, part)));
  const sum = (figure: (way: OneWay) => number) => (ways: OneWay[]) => ways.reduce((total, way) => total + figure(way), 0);
  return [
    row('error, median', 'ms', error(0.5)),
    row('error, p90', 'ms', error(0.9)),
    row('error, p99', 'ms', error(0.99)),
    row('CPU per frame', 'µs', (ways) => median(ways.map(({ cpuMicrosPerFrame }) => cpuMicrosPerFrame))),
    row(
      'sent',
      '',
      sum(({ sent }) => sent),
    ),
    row(
      'lost',
      '',
      sum(({ lost }) => lost),
    ),
  ];
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(({ what, unit, relay, fabric }) => {
    const ratio = relay > 0 ? (fabric / relay).toFixed(2) : '';
    return `| ${what} | ${unit} | ${figure(relay)} | ${figure(fabric)} | ${ratio} |`;
  });
  return ['| what | unit | minimal relay | fabric | ratio |', '|---|---|---:|---:|---:|', ...lines].join('\n');
}

function figure(value: number): string {
  if (Number.isInteger(value) || value >= 1000) return Math.round(value).toLocaleString('en');
  return value.toFixed(value < 10 ? 3 : 1);
}

await main();
