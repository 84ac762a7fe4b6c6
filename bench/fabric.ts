/**
 * The fabric against a relay that only copies, alternating in one run: frames per second, CPU per frame, round trip; the accuracy of
 * delay and of the other filters; the cost of a thousand links; two machines over a link against two on a bare socket.
 *
 * `node bench/fabric.ts [relay|delay|fidelity|exact|many|peers|guests …] [--json FILE]`; all parts take about three minutes. Linux only (CPU is
 * read from /proc); `guests` needs qemu-system-x86_64 and iperf3.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { FabricClient } from '../src/fabric/client.ts';
import type { Filters } from '../src/schema/filter.ts';
import { connectedFabric } from '../test/support/with-fabric.ts';
import { Ends } from './fabric/ends.ts';
import { type Exactness, exactness } from './fabric/exactness.ts';
import { fidelity, fidelityTable } from './fabric/fidelity.ts';
import { median, quantile } from './fabric/figures.ts';
import { guestToGuest } from './fabric/guests.ts';
import { flood, type OneWay, paced, roundTrips, type Throughput } from './fabric/loads.ts';
import { type ManyLinks, manyLinks } from './fabric/many-links.ts';
import { crossings } from './fabric/peers.ts';

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

/** Named on the command line; each adds rows to the tables. */
const trials = ['relay', 'delay', 'fidelity', 'exact', 'many', 'peers', 'guests'] as const;

const help = `Usage: node bench/fabric.ts [${trials.join('|')} …] [--json FILE]

The fabric against a relay that only copies, in one run and taking turns. All of it takes about three minutes.`;

async function main(): Promise<void> {
  const options = { json: { type: 'string' }, help: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  if (values.help) return console.log(help);
  const unknown = positionals.find((name) => !trials.some((trial) => trial === name));
  if (unknown !== undefined) throw new Error(`unknown trial ${unknown}: ${trials.join(', ')}`);
  const isWanted = (name: (typeof trials)[number]) => positionals.length === 0 || positionals.includes(name);
  const folder = await mkdtemp(`${tmpdir()}/fabric-bench-`);
  const client = await connectedFabric({ socketPath: `${folder}/control`, logPath: `${folder}/log` });
  const stops: (() => void)[] = [];
  const results: Record<string, unknown> = { node: process.version };
  const show = (name: string, rows: readonly unknown[], text: string) => {
    results[name] = rows;
    console.log(`${text}\n`);
  };
  try {
    const relay = await startRelay(folder, stops);
    const link = (name: string, filters: Filters) => startLink(client, { folder, name, filters }, stops);
    if (isWanted('relay')) {
      const plain = { '': await link('plain', {}), ', through a switch': await startSwitch(client, folder, stops) };
      const impaired = { ', with delay and loss': await link('impaired', { delay: [5], packet_loss: [1] }) };
      const rows = [...(await compare(relay, { ...plain, ...impaired })), ...(await compareTrips(relay, plain))];
      show('relay', rows, table(rows));
    }
    if (isWanted('delay')) {
      const rows = await compareDelay(relay, await link('delayed', { delay: [delayMs] }), client);
      show('delay', rows, table(rows));
    }
    if (isWanted('fidelity')) {
      const rows = await fidelity(client, folder, (line) => console.error(line));
      if (rows) show('fidelity', rows, fidelityTable(rows));
    }
    if (isWanted('exact')) {
      const rows = await exactness(client, folder);
      show('exact', rows, exactTable(rows));
    }
    if (isWanted('many')) {
      const rows = await compareMany(client, folder);
      show('many', rows, table(rows));
    }
    if (isWanted('peers')) {
      const rows = crossingRows(await crossings(client, folder));
      show('peers', rows, table(rows, ['datagrams', 'a stream']));
    }
    if (isWanted('guests')) {
      const { bare, fabric, framesPerRead } = await guestToGuest(client, folder);
      const what = 'guest to guest, iperf3 (the other is a bare socket)';
      const rows = [
        { what, unit: 'Mbit/s', relay: bare.mbits, fabric: fabric.mbits },
        {
          what: 'CPU of both guests and the fabric per 1,448 bytes',
          unit: 'µs',
          relay: bare.microsPerSegment,
          fabric: fabric.microsPerSegment,
        },
      ];
      console.log(`Guest to guest: a read of the fabric brings ${framesPerRead.toFixed(1)} frames.`);
      show('guests', rows, table(rows));
    }
    if (values.json) await writeFile(values.json, JSON.stringify(results, null, 2));
  } finally {
    for (const stop of stops) stop();
    await client.quit();
    await rm(folder, { recursive: true });
  }
}

async function startRelay(folder: string, stops: (() => void)[]): Promise<Subject> {
  const ends = new Ends(folder, 'relay');
  stops.push(() => ends.close());
  const child = spawnRelay([ends]);
  stops.push(() => child.kill('SIGKILL'));
  await ends.connected();
  return { ends, pid: child.pid ?? 0 };
}

function spawnRelay(all: readonly Ends[]): ChildProcess {
  const program = fileURLToPath(new URL('./fabric/relay.ts', import.meta.url));
  const paths = all.flatMap(({ a, b }) => [a.path, b.path]);
  return spawn(process.execPath, [program, ...paths], { stdio: 'inherit', detached: true });
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

/** Two links to a switch, which floods until it has learned the other station's address. */
async function startSwitch(client: FabricClient, folder: string, stops: (() => void)[]): Promise<Subject> {
  const ends = new Ends(folder, 'switch');
  stops.push(() => ends.close());
  const settings = { medium: 'ethernet', mode: 'access', vlan: 1, tagType: 0 } as const;
  const links = [ends.a, ends.b].map(({ path }, port) => ({
    id: `switch-${port}`,
    a: { type: 'stream' as const, path },
    b: { type: 'switch' as const, switch: 'switch', port, settings },
    filters: {},
    suspend: false,
  }));
  await client.apply(links);
  await ends.connected();
  return { ends, pid: client.pid };
}

/**
 * Runs the subjects alternately, so that other load affects all alike; the median of the rounds counts. `subjects`:
 * keyed by their names.
 */
async function compare(relay: Subject, subjects: Readonly<Record<string, Subject>>): Promise<Row[]> {
  const rows: Row[] = [];
  const all = [relay, ...Object.values(subjects)];
  for (const frameBytes of frameSizes) {
    const runs = all.map((): Throughput[] => []);
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, { ends, pid }] of all.entries()) runs[index]?.push(await flood(ends, [pid], { frameBytes, ms: floodMs }));
    }
    const figure = (index: number, key: keyof Throughput) => median((runs[index] ?? []).map((run) => run[key]));
    for (const [index, name] of Object.keys(subjects).entries()) {
      const row = (what: string, unit: string, key: keyof Throughput): Row => ({
        what: what + name,
        unit,
        relay: figure(0, key),
        fabric: figure(index + 1, key),
      });
      rows.push(row(`frames of ${frameBytes} bytes`, '1/s', 'framesPerSecond'));
      rows.push(row(`CPU per frame of ${frameBytes} bytes`, 'µs', 'cpuMicrosPerFrame'));
    }
  }
  return rows;
}

async function compareTrips(relay: Subject, subjects: Readonly<Record<string, Subject>>): Promise<Row[]> {
  const all = [relay, ...Object.values(subjects)];
  const trips = all.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, { ends }] of all.entries()) {
      trips[index]?.push(median(await roundTrips(ends, { frameBytes: 100, count: 2000 })));
    }
  }
  const figure = (index: number) => median(trips[index] ?? []);
  return Object.keys(subjects).map((name, index) => ({
    what: `round trip, median${name}`,
    unit: 'µs',
    relay: figure(0),
    fabric: figure(index + 1),
  }));
}

/** The relay delays nothing: its error is that of the machine and the measurement. */
async function compareDelay(relay: Subject, delayed: Subject, client: FabricClient): Promise<Row[]> {
  const bare: OneWay[] = [];
  const held: OneWay[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await paced(relay.ends, relay.pid, { ...pace, delayMs: 0 }));
    held.push(await paced(delayed.ends, delayed.pid, { ...pace, delayMs }));
  }
  const applied = (await client.stats(['delayed']))[0]?.ab.delay;
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
    {
      what: 'the same, delay as the fabric itself counts it: median',
      unit: 'ms',
      relay: 0,
      fabric: applied?.median_ms ?? Number.NaN,
    },
    { what: 'the same, delay as the fabric itself counts it: p99', unit: 'ms', relay: 0, fabric: applied?.p99_ms ?? Number.NaN },
  ];
}

async function compareMany(client: FabricClient, folder: string): Promise<Row[]> {
  let child: ChildProcess | undefined;
  const relay = await manyLinks(folder, async (links) => {
    child = spawnRelay(links);
    return child.pid ?? 0;
  });
  child?.kill('SIGKILL');
  const ids: string[] = [];
  const fabric = await manyLinks(folder, async (links) => {
    const port = (path: string) => ({ type: 'stream' as const, path });
    const specs = links.map(({ a, b }) => ({ id: a.path, a: port(a.path), b: port(b.path), filters: {}, suspend: false }));
    ids.push(...specs.map(({ id }) => id));
    await client.apply(specs);
    return client.pid;
  });
  await client.remove(ids);
  const row = (what: string, unit: string, key: keyof ManyLinks): Row => ({ what, unit, relay: relay[key], fabric: fabric[key] });
  return [
    row('1,000 idle links: CPU', '%', 'idleCpu'),
    row('1,000 links with 100 frames/s each: CPU', '%', 'busyCpu'),
    row('1,000 links with 100 frames/s each: frames sent', '1/s', 'sentPerSecond'),
    row('1,000 links with 100 frames/s each: lost', '', 'lost'),
  ];
}

function crossingRows({ datagrams, stream }: Awaited<ReturnType<typeof crossings>>): Row[] {
  const bySize = stream.bySize.flatMap((over, index) => {
    const [relay, of] = [datagrams.bySize[index], `${over.frameBytes.toLocaleString('en')} bytes to another compute`];
    return [
      { what: `frames of ${of}`, unit: '1/s', relay: relay?.framesPerSecond ?? 0, fabric: over.framesPerSecond },
      { what: `CPU per frame of ${of}`, unit: 'µs', relay: relay?.cpuMicrosPerFrame ?? 0, fabric: over.cpuMicrosPerFrame },
    ];
  });
  const what = 'round trip to another compute, median';
  return [...bySize, { what, unit: 'µs', relay: datagrams.roundTripMicros, fabric: stream.roundTripMicros }];
}

function exactTable(rows: readonly Exactness[]): string {
  const lines = rows.map(({ what, unit, expected, got, bound }) => {
    const verdict = Math.abs(got - expected) <= bound ? 'yes' : 'NO';
    return `| ${what} | ${unit} | ${figure(expected)} | ${figure(got)} | ±${figure(bound)} | ${verdict} |`;
  });
  return ['| filter | unit | expected | measured | bound | within |', '|---|---|---:|---:|---:|---|', ...lines].join('\n');
}

function table(rows: readonly Row[], [one, other] = ['minimal relay', 'fabric']): string {
  const lines = rows.map(({ what, unit, relay, fabric }) => {
    const ratio = relay > 0 ? (fabric / relay).toFixed(2) : '';
    return `| ${what} | ${unit} | ${relay > 0 ? figure(relay) : ''} | ${figure(fabric)} | ${ratio} |`;
  });
  return [`| what | unit | ${one} | ${other} | ratio |`, '|---|---|---:|---:|---:|', ...lines].join('\n');
}

function figure(value: number): string {
  if (Number.isInteger(value) || value >= 1000) return Math.round(value).toLocaleString('en');
  return value.toFixed(value < 10 ? 3 : 1);
}

await main();
