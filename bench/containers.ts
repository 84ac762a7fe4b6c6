/**
 * Links between containers, against a plain veth pair, a bare pair of tc rules, and socat, in rounds of the same run: TCP throughput,
 * round trip, and processor time of both ends and all helpers. Network namespaces stand for the containers, and a QEMU without a machine
 * that joins its socket to a TAP interface for a machine. `node bench/containers.ts`; takes about two minutes. Root only; needs iperf3.
 * `node bench/containers.ts idle` measures what links without frames cost instead.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findProgram } from '../src/emulators/host/find-program.ts';
import type { LinkSpec, PortSpec } from '../src/fabric/protocol.ts';
import { redirect, takeRules } from '../src/fabric/redirection.ts';
import { ContainerEnd, noContainerEnds } from '../test/support/container-end.ts';
import { freeUdpPort } from '../test/support/frame-ends.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { connectedFabric } from '../test/support/with-fabric.ts';
import { cpuMicros } from './fabric/cpu.ts';
import { median, quantile } from './fabric/figures.ts';

const rounds = 3;
const seconds = 2;
const pings = 400;
const segmentBytes = 1448;
const run = promisify(execFile);

/** A pair of ends and the path of frames between them. */
interface Subject {
  readonly what: string;
  readonly ends: readonly [ContainerEnd, ContainerEnd];
  readonly address: string;
  /** Processes whose time counts, beside those of the ends. */
  readonly helpers: readonly number[];
}

interface Figures {
  readonly mbits: number;
  readonly tripMicros: readonly number[];
  readonly microsPerSegment: number;
}

/** Links that join 100 containers in a chain. */
const idleLinks = 99;
const idleSeconds = 20;
const isIdle = process.argv[2] === 'idle';
const missing = (await noContainerEnds()) ?? (isIdle || (await findProgram('iperf3')) ? undefined : 'missing: iperf3');
if (missing !== undefined) {
  console.error(`Links of containers cannot be measured: ${missing}.`);
  process.exit(2);
}
const folder = await mkdtemp(`${tmpdir()}/containers-bench-`);
const fabric = await connectedFabric({ socketPath: `${folder}/control`, logPath: `${folder}/log` });
const children: ChildProcess[] = [];
const ends: ContainerEnd[] = [];
try {
  await fabric.sync([]);
  if (isIdle) await measureIdle();
  else await measureAll();
} finally {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(ends.map((end) => end.remove()));
  await fabric.quit();
  await rm(folder, { recursive: true });
}

async function measureAll(): Promise<void> {
  const subjects = [
    await plainVeth(),
    await bareRules(),
    ...(await ours()),
    await toInterface(),
    ...(await toQemu()),
    await bySocat(),
  ];
  const results = new Map(subjects.map((subject) => [subject, [] as Figures[]]));
  for (const subject of subjects) await startServer(subject);
  for (let round = 0; round < rounds; round += 1) {
    for (const subject of subjects) results.get(subject)?.push(await measure(subject));
  }
  print([...results]);
}

/** Processor time of the fabric, and of all its helpers, while no frame passes. */
async function measureIdle(): Promise<void> {
  const cpuPercent = async (what: string) => {
    const before = await cpuMicros(fabric.pid);
    await sleep(idleSeconds * 1000);
    const percent = ((await cpuMicros(fabric.pid)) - before) / (idleSeconds * 1e4);
    console.log(`| ${what} | ${percent.toFixed(2)} |`);
  };
  console.log('| processor time of the fabric, no frames | % of a processor |\n|---|---:|');
  await cpuPercent('no links');
  const specs: LinkSpec[] = [];
  for (let link = 0; link < idleLinks; link += 1) {
    const { ends: both } = await pair(100 + link);
    specs.push({ id: `idle-${link}`, a: both[0].port, b: both[1].port, filters: {}, suspend: false });
  }
  const [failure] = await fabric.apply(specs);
  if (failure) throw new Error(failure.error);
  const isTaken = async () => (await fabric.stats()).every(({ carrier }) => carrier === 'kernel');
  await waitFor(isTaken, { what: 'the kernel path of all links' });
  await cpuPercent(`${idleLinks} links that the kernel carries, in their first ${idleSeconds} s`);
  await fabric.apply(specs.map((spec) => ({ ...spec, filters: { delay: [10] } })));
  await cpuPercent(`${idleLinks} links with a delay`);
}

async function pair(network: number): Promise<Pick<Subject, 'ends' | 'address'>> {
  const made: ContainerEnd[] = [];
  for (const host of [1, 2]) {
    const end = await ContainerEnd.make(folder, `10.72.${network}.${host}/24`);
    ends.push(end);
    made.push(end);
  }
  return { ends: made as [ContainerEnd, ContainerEnd], address: `10.72.${network}.2` };
}

async function plainVeth(): Promise<Subject> {
  const { ends: both, address } = await pair(1);
  const [a, b] = both;
  for (const end of both) await end.run('ip', 'link', 'delete', 'eth0');
  await run('ip', ['link', 'add', 'eth0', 'netns', String(a.pid), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(b.pid)]);
  for (const [index, end] of both.entries()) {
    await end.run('ip', 'addr', 'add', `10.72.1.${index + 1}/24`, 'dev', 'eth0');
    await end.run('ip', 'link', 'set', 'eth0', 'up');
  }
  return { what: 'plain veth pair', ends: both, address, helpers: [] };
}

async function bareRules(): Promise<Subject> {
  const { ends: both, address } = await pair(2);
  const [a, b] = both.map(({ names }) => names.hostEnd) as [string, string];
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    await run('tc', ['qdisc', 'delete', 'dev', from, 'clsact']);
    for (const line of [takeRules(from), redirect(from, to)]) await run('tc', line.split(' '));
  }
  return { what: 'two veth pairs, joined by bare rules of tc', ends: both, address, helpers: [] };
}

async function ours(): Promise<Subject[]> {
  const slow = ({ names }: ContainerEnd): PortSpec => ({ type: 'tap', name: names.tap, merges: true });
  const plugged = (port: number): PortSpec => ({
    type: 'switch',
    switch: 'bench',
    port,
    settings: { medium: 'ethernet', mode: 'access', vlan: 1, tagType: 0x8100 },
  });
  const join = async (what: string, network: number, links: (a: ContainerEnd, b: ContainerEnd) => Partial<LinkSpec>[]) => {
    const { ends: both, address } = await pair(network);
    const specs = links(...both).map(
      (link, index) => ({ id: `${network}-${index}`, filters: {}, suspend: false, ...link }) as LinkSpec,
    );
    const failures = await fabric.apply(specs);
    if (failures[0]) throw new Error(failures[0].error);
    return { what, ends: both, address, helpers: [fabric.pid] };
  };
  const subjects = [
    await join('link without filters (kernel)', 3, (a, b) => [{ a: a.port, b: b.port }]),
    await join('link, by the fabric', 4, (a, b) => [{ a: slow(a), b: slow(b) }]),
    await join('link, 1 ms', 10, (a, b) => [{ a: a.port, b: b.port, filters: { delay: [1] } }]),
    await join('link, 10 ms and 1 % loss', 5, (a, b) => [{ a: a.port, b: b.port, filters: { delay: [10], packet_loss: [1] } }]),
    await join('two links and a switch', 6, (a, b) => [
      { a: a.port, b: plugged(0) },
      { a: b.port, b: plugged(1) },
    ]),
  ];
  await waitFor(async () => (await fabric.stats(['3-0']))[0]?.carrier === 'kernel', { what: 'the kernel path' });
  return subjects;
}

/**
 * Connects as a cloud does: the fabric takes the other end of the veth pair in the second namespace for an interface of the host.
 */
async function toInterface(): Promise<Subject> {
  const { ends: both, address } = await pair(8);
  const [a, b] = both;
  await run('tc', ['qdisc', 'delete', 'dev', b.names.hostEnd, 'clsact']);
  await connect('interface', a.port, { type: 'packet', interface: b.names.hostEnd });
  return { what: 'link to an interface of the host', ends: both, address, helpers: [fabric.pid] };
}

/** Connects through QEMU, whose processor time counts as well; empty without QEMU. */
async function toQemu(): Promise<Subject[]> {
  const program = 'qemu-system-x86_64';
  if (!(await findProgram(program))) return [];
  const { ends: both, address } = await pair(9);
  const [a, b] = both;
  const path = `${folder}/qemu`;
  const netdevs = [
    `stream,id=s,server=on,addr.type=unix,addr.path=${path}`,
    'hubport,id=one,hubid=0,netdev=s',
    `tap,id=t,ifname=${b.names.tap},script=no,downscript=no`,
    'hubport,id=other,hubid=0,netdev=t',
  ];
  const options = ['-M', 'none', '-nodefaults', '-display', 'none', ...netdevs.flatMap((netdev) => ['-netdev', netdev])];
  const child = spawn(program, options, { stdio: 'inherit' });
  children.push(child);
  await connect('qemu', a.port, { type: 'stream', path });
  await waitFor(async () => (await fabric.stats(['qemu']))[0]?.connected.b, { what: 'the socket of QEMU' });
  return [{ what: 'link to a socket of QEMU', ends: both, address, helpers: [fabric.pid, child.pid as number] }];
}

async function connect(id: string, a: PortSpec, b: PortSpec): Promise<void> {
  const [failure] = await fabric.apply([{ id, a, b, filters: {}, suspend: false }]);
  if (failure) throw new Error(failure.error);
}

/** Connects as version 0.2 did: a socat for each TAP interface, without priority, and datagrams. */
async function bySocat(): Promise<Subject> {
  const { ends: both, address } = await pair(7);
  const helpers = [fabric.pid];
  const ports: PortSpec[] = [];
  for (const { names } of both) {
    const [local, ofFabric] = [await freeUdpPort(), await freeUdpPort()];
    const tap = `TUN,tun-type=tap,tun-name=${names.tap},iff-no-pi,iff-up`;
    const child = spawn('socat', ['-b', '65507', tap, `UDP4-DATAGRAM:127.0.0.1:${ofFabric},bind=127.0.0.1:${local}`], {
      stdio: 'ignore',
    });
    children.push(child);
    helpers.push(child.pid as number);
    ports.push({ type: 'udp', lport: ofFabric, rhost: '127.0.0.1', rport: local, bind: '127.0.0.1', strict: true });
  }
  const [a, b] = ports as [PortSpec, PortSpec];
  await fabric.apply([{ id: 'socat', a, b, filters: {}, suspend: false }]);
  return { what: 'link, by two socats (0.2)', ends: both, address, helpers };
}

async function startServer({ ends: [, b] }: Subject): Promise<void> {
  const server = b.spawn('iperf3', '-s', '--forceflush');
  children.push(server);
  await once(server.stdout as NonNullable<typeof server.stdout>, 'readable');
  server.stdout?.resume();
}

interface IperfReport {
  readonly end: {
    readonly sum_received: { readonly bytes: number; readonly seconds: number };
    readonly cpu_utilization_percent: { readonly host_total: number; readonly remote_total: number };
  };
}

async function measure({ ends: [a], address, helpers }: Subject): Promise<Figures> {
  const replies = await a.run('busybox', 'ping', '-c', String(pings), '-i', '0.002', '-W', '2', address);
  const tripMicros = [...replies.matchAll(/time=([\d.]+) ms/g)].map(([, ms]) => Number(ms) * 1000);
  const used = async () => (await Promise.all(helpers.map(cpuMicros))).reduce((sum, each) => sum + each, 0);
  const before = await used();
  const report: IperfReport = JSON.parse(await a.run('iperf3', '-c', address, '-t', String(seconds), '-J'));
  const helperMicros = (await used()) - before;
  const { sum_received: got, cpu_utilization_percent: percent } = report.end;
  const endMicros = ((percent.host_total + percent.remote_total) / 100) * got.seconds * 1e6;
  const mbits = (8 * got.bytes) / got.seconds / 1e6;
  return { mbits, tripMicros, microsPerSegment: (endMicros + helperMicros) / (got.bytes / segmentBytes) };
}

function print(results: readonly (readonly [Subject, readonly Figures[]])[]): void {
  console.log(
    '| frames between two containers | TCP, Mbit/s | of veth | CPU per 1,448 bytes, µs | of veth | round trip, median, µs | p99 |',
  );
  console.log('|---|---:|---:|---:|---:|---:|---:|');
  const of = (figures: readonly Figures[]) => {
    const trips = figures.flatMap(({ tripMicros }) => tripMicros);
    const [mbits, micros] = [median(figures.map((each) => each.mbits)), median(figures.map((each) => each.microsPerSegment))];
    return { mbits, micros, trip: median(trips), late: quantile(trips, 0.99) };
  };
  const base = of(results[0]?.[1] ?? []);
  for (const [{ what }, figures] of results) {
    const { mbits, micros, trip, late } = of(figures);
    const cells = [what, Math.round(mbits).toLocaleString('en'), (mbits / base.mbits).toFixed(2), micros.toFixed(2)];
    console.log(`| ${[...cells, (micros / base.micros).toFixed(1), Math.round(trip), Math.round(late)].join(' | ')} |`);
  }
}
