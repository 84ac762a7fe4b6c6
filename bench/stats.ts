/**
 * The effect of polling the counters of a thousand links on the frames of one: round trips without polling, with a poll
 * per second, and with continuous polling. `node bench/stats.ts`; takes about a quarter of a minute. Linux only.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Worker } from 'node:worker_threads';
import { connectedFabric } from '../test/support/with-fabric.ts';
import { cpuMicros } from './fabric/cpu.ts';
import { Ends } from './fabric/ends.ts';
import { median, quantile } from './fabric/figures.ts';
import { roundTrips } from './fabric/loads.ts';

const links = 1000;
const rounds = 3;
/** About a second and a half of them. */
const trips = { frameBytes: 100, count: 15_000 };
const ways = [
  { what: 'no client', everyMs: undefined },
  { what: 'once a second', everyMs: 1000 },
  { what: 'without a pause', everyMs: 0 },
];

interface Round {
  tripsMicros: number[];
  answersMs: number[];
  cpuShare: number;
}

const folder = await mkdtemp(`${tmpdir()}/stats-bench-`);
const place = { socketPath: `${folder}/control`, logPath: `${folder}/log` };
const client = await connectedFabric(place);
const [busy, idle] = [new Ends(folder, 'busy'), new Ends(folder, 'idle')];
try {
  const specOf = (id: string, { a, b }: Ends) => {
    const port = ({ path }: { path: string }) => ({ type: 'stream' as const, path });
    return { id, a: port(a), b: port(b), filters: {}, suspend: false };
  };
  await client.apply([specOf('busy', busy), ...Array.from({ length: links - 1 }, (_, index) => specOf(`idle ${index}`, idle))]);
  await busy.connected();
  const results = new Map(ways.map((way) => [way, [] as Round[]]));
  for (let round = 0; round < rounds; round += 1) for (const way of ways) results.get(way)?.push(await measure(way.everyMs));
  const bytes = JSON.stringify(await client.stats()).length;
  console.log(`${links.toLocaleString('en')} links, ${Math.round(bytes / 1024)} KiB per response\n`);
  console.log('| polling | round trip, median | p99 | longest | response, median | CPU of the fabric |');
  console.log('|---|---:|---:|---:|---:|---:|');
  for (const [{ what }, done] of results) console.log(rowOf(what, done));
} finally {
  busy.close();
  idle.close();
  await client.quit();
  await rm(folder, { recursive: true });
}

async function measure(everyMs: number | undefined): Promise<Round> {
  const asker =
    everyMs === undefined
      ? undefined
      : new Worker(new URL('./fabric/poll-stats.ts', import.meta.url), { workerData: { place, everyMs } });
  if (asker) await once(asker, 'online');
  const began = { cpu: await cpuMicros(client.pid), at: performance.now() };
  const tripsMicros = await roundTrips(busy, trips);
  const cpuShare = ((await cpuMicros(client.pid)) - began.cpu) / 1000 / (performance.now() - began.at);
  asker?.postMessage('enough');
  const answersMs = asker ? ((await once(asker, 'message'))[0] as number[]) : [];
  await asker?.terminate();
  return { tripsMicros, answersMs, cpuShare };
}

function rowOf(what: string, done: readonly Round[]): string {
  const of = (figure: (round: Round) => number) => median(done.map(figure));
  const trip = (part: number) => `${Math.round(of(({ tripsMicros }) => quantile(tripsMicros, part)))} µs`;
  const answer = of(({ answersMs }) => median(answersMs));
  const cells = [what, trip(0.5), trip(0.99), trip(1), Number.isNaN(answer) ? '' : `${answer.toFixed(1)} ms`];
  return `| ${[...cells, `${Math.round(100 * of(({ cpuShare }) => cpuShare))} %`].join(' | ')} |`;
}
