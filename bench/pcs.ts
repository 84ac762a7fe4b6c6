/**
 * PCs at scale: `node bench/pcs.ts [--nodes 1000] [--copies 30]`. Of four nodes three are PCs and one is the switch between them. Ready: every
 * PC has an answer to a ping of its neighbour. The baseline is as many network namespaces, veth pairs and bridges by ip(8) and as many pings by
 * ping(8), in the same run; it needs root.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { Connection } from '../src/fabric/connection/connection.ts';
import { forEachBounded } from '../src/lib/bounded.ts';
import { processUsage } from '../src/process/proc.ts';
import { readSettings } from '../src/settings.ts';
import { quantile } from './measure.ts';
import { startPatchbay } from './server.ts';
import { controllerFigures } from './slices/metrics.ts';

const run = promisify(execFile);
const groupSize = 4;
const limitMs = 300_000;
const idleMs = 10_000;
/** Nodes of one request: it has 1 MiB at most. */
const bulkNodes = 1000;
const pingsAtOnce = 64;
const singleStarts = 20;
const classLab = { pcs: 8, switches: 2 };
const { values } = parseArgs({
  options: { nodes: { type: 'string', default: '1000' }, copies: { type: 'string', default: '30' } },
});
const groups = Math.max(1, Math.floor(Number(values.nodes) / groupSize));
const copies = Number(values.copies);

interface Node {
  readonly node_id: string;
  readonly node_type: string;
}

/** A link has two UDP ports, and each node one of a console; the lab and its fork run at the same time. */
const lastPort = Math.min(65_535, 30_000 + 4 * groups * groupSize);
const ranges = { udp_start_port_range: 10_000, udp_end_port_range: lastPort, console_end_port_range: lastPort };
const configuration = `[Server]\n${Object.entries(ranges)
  .map(([key, port]) => `${key} = ${port}\n`)
  .join('')}`;

const rows: [what: string, value: number][] = [];
const note = (text: string) => process.stderr.write(`pcs: ${text}\n`);
const server = await startPatchbay(configuration);
try {
  const { runtimeDirectory } = await readSettings({ dataDirectory: server.folder });
  const fabric = () => Connection.open(join(runtimeDirectory, 'fabric.sock'));
  await measureSingle();
  const project = await makeProject('scale');
  const before = await fabricFigures();
  const polling = pollVersion();
  await controllerFigures(server.url);
  const made = await seconds(() => makeGroups(project));
  note(`made in ${made.taken.toFixed(1)} s`);
  const started = await seconds(() => ask('POST', `${project}/nodes/start`, {}));
  note(`started in ${started.taken.toFixed(1)} s`);
  const nodes = await ask<Node[]>('GET', `${project}/nodes`);
  const pcs = nodes.filter(({ node_type }) => node_type === 'vpcs');
  const pinged = await seconds(async () => {
    const connection = (await fabric()) ?? fail('no fabric');
    const [error] = await forEachBounded(pcs.entries(), pingsAtOnce, async ([index, { node_id }]) => {
      const probe = { type: 'ping', to: addressOf(neighbourOf(index)), count: 1, intervalMs: 1000, timeoutMs: 5000 } as const;
      for (;;) {
        const answer = await connection.request({ op: 'probe_pc', pc: node_id, probe }, limitMs);
        if (answer?.type !== 'ping') fail('no answer to a ping');
        if (answer.replies[0]?.ms !== undefined) break;
        // The PC's script still checks whether another host has the address.
        if (answer.failure !== 'no_address') fail(`PC ${index}: ${JSON.stringify(answer)}`);
        await pass(20);
      }
    });
    connection.close();
    if (error !== undefined) throw error;
  });
  note(`pinged in ${pinged.taken.toFixed(1)} s`);
  const times = await polling.end();
  const { holdMs } = await controllerFigures(server.url);
  const after = await fabricFigures();
  await pass(idleMs);
  const [idleBefore, fabricBefore] = [await cpu(server.pid), (await fabricFigures()).cpuSeconds];
  await pass(idleMs);
  const idle = (await cpu(server.pid)) - idleBefore;
  const fabricIdle = (await fabricFigures()).cpuSeconds - fabricBefore;
  rows.push(
    [`${nodes.length} nodes (${pcs.length} PCs) made by bulks, s`, made.taken],
    ['all started, s', started.taken],
    ['every PC has pinged its neighbour, s', pinged.taken],
    ['ready, s after the order', made.taken + started.taken + pinged.taken],
    ['longest hold of the server, ms', holdMs],
    ['longest hold of the fabric, ms', after.holdMs],
    ['version meanwhile, ms (99th percentile)', quantile(times, 0.99)],
    ['memory of the fabric for a PC, its link and a third of a switch, KiB', (after.bytes - before.bytes) / 1024 / pcs.length],
    ['idle afterwards, % of a processor: server', (100_000 * idle) / idleMs],
    ['idle afterwards, % of a processor: fabric', (100_000 * fabricIdle) / idleMs],
  );
  await measureFork(project, pcs.length);
  await ask('DELETE', project);
  await measureClass();
  rows.push(...(await namespaces()));
  console.log('| measured | |\n|---|---:|');
  for (const [what, value] of rows) console.log(`| ${what} | ${value.toFixed(1)} |`);
} finally {
  await server.stop();
}

/** Measures the time from the request to its answer, one PC after the other. */
async function measureSingle(): Promise<void> {
  const project = await makeProject('single');
  const nodes = Array.from({ length: singleStarts }, (_, index) => ({ ...pc(index), compute_id: 'local' }));
  const made = await ask<{ nodes: Node[] }>('POST', `${project}/bulk`, { nodes });
  const times: number[] = [];
  for (const { node_id } of made.nodes) {
    const { taken } = await seconds(() => ask('POST', `${project}/nodes/${node_id}/start`, {}));
    times.push(taken * 1000);
  }
  rows.push(['start of one PC, ms (median)', quantile(times, 0.5)], ['start of one PC, ms (worst of 20)', Math.max(...times)]);
  await ask('DELETE', project);
}

/** A running lab, frozen and forked: until the fork runs. */
async function measureFork(project: string, count: number): Promise<void> {
  const forked = await seconds(() => ask<{ project_id: string }[]>('POST', `${project}/fork`, { count: 1 }));
  const copy = `/projects/${forked.result[0]?.project_id}`;
  const running = (await ask<{ node_type: string; status: string }[]>('GET', `${copy}/nodes`)).filter(
    ({ node_type, status }) => node_type === 'vpcs' && status === 'started',
  );
  if (running.length !== count) fail(`${running.length} of ${count} PCs of the fork run`);
  rows.push(['fork with the memory of all, s', forked.taken]);
  note(`forked in ${forked.taken.toFixed(1)} s`);
  await ask('DELETE', copy);
}

/** Copies of a small lab, all started at once. */
async function measureClass(): Promise<void> {
  const body = {
    nodes: [
      ...Array.from({ length: classLab.pcs }, (_, index) => pc(index)),
      ...Array.from({ length: classLab.switches }, (_, index) => ({
        ref: `S${index}`,
        name: `S${index}`,
        node_type: 'ethernet_switch',
      })),
    ].map((node) => ({ ...node, compute_id: 'local' })),
    links: Array.from({ length: classLab.pcs }, (_, index) => ({
      nodes: [end(`${index}`, 0), end(`S${index % classLab.switches}`, Math.floor(index / classLab.switches))],
    })),
  };
  const projects: string[] = [];
  for (let copy = 0; copy < copies; copy++) {
    const project = await makeProject(`class ${copy}`);
    await ask('POST', `${project}/bulk`, body);
    projects.push(project);
  }
  const { taken } = await seconds(() => Promise.all(projects.map((project) => ask('POST', `${project}/nodes/start`, {}))));
  rows.push([`${copies} copies of a lab of ${classLab.pcs} PCs and ${classLab.switches} switches started, s`, taken]);
  for (const project of projects) await ask('DELETE', project);
}

async function makeGroups(project: string): Promise<void> {
  const perRequest = Math.floor(bulkNodes / groupSize);
  for (let first = 0; first < groups; first += perRequest) {
    const some = Array.from({ length: Math.min(perRequest, groups - first) }, (_, index) => first + index);
    const nodes = some.flatMap((group) => [
      { ref: `S${group}`, name: `S${group}`, node_type: 'ethernet_switch', compute_id: 'local' },
      ...ofGroup(group).map((index) => ({ ...pc(index), compute_id: 'local' })),
    ]);
    const links = some.flatMap((group) =>
      ofGroup(group).map((index, port) => ({ nodes: [end(`${index}`, 0), end(`S${group}`, port)] })),
    );
    await ask('POST', `${project}/bulk`, { nodes, links });
  }
}

/** Measures namespaces and bridges of the kernel in place of PCs and switches: empty without root, ip(8) or ping(8). */
async function namespaces(): Promise<[string, number][]> {
  const isThere = (path: string) =>
    access(path).then(
      () => true,
      () => false,
    );
  if (process.getuid?.() !== 0 || !((await isThere('/usr/bin/ping')) || (await isThere('/bin/ping')))) return [];
  const mark = `pb${randomBytes(2).toString('hex')}`;
  const indexes = Array.from({ length: groups * 3 }, (_, index) => index);
  const all = indexes.map((index) => `${mark}${index}`);
  const ip = (lines: readonly string[]) => {
    const child = run('ip', ['-batch', '-'], { maxBuffer: 1 << 26 });
    child.child.stdin?.end(`${lines.join('\n')}\n`);
    return child;
  };
  try {
    const { taken } = await seconds(async () => {
      const bridges = Array.from({ length: groups }, (_, group) => [
        `link add ${mark}b${group} type bridge`,
        `link set ${mark}b${group} up`,
      ]);
      await ip([...all.map((name) => `netns add ${name}`), ...bridges.flat()]);
      await ip(
        indexes.flatMap((index) => [
          `link add ${mark}v${index} type veth peer name eth0 netns ${mark}${index}`,
          `link set ${mark}v${index} master ${mark}b${Math.floor(index / 3)} up`,
        ]),
      );
      const [error] = await forEachBounded(indexes, pingsAtOnce, async (index) => {
        const inside = ['netns', 'exec', `${mark}${index}`];
        await run('ip', [...inside, 'ip', 'addr', 'add', `${addressOf(index)}/8`, 'dev', 'eth0']);
        await run('ip', [...inside, 'ip', 'link', 'set', 'eth0', 'up']);
      });
      if (error !== undefined) throw error;
      const [failed] = await forEachBounded(indexes, pingsAtOnce, async (index) => {
        await run('ip', ['netns', 'exec', `${mark}${index}`, 'ping', '-c', '1', '-W', '5', addressOf(neighbourOf(index))]);
      });
      if (failed !== undefined) throw failed;
    });
    return [[`baseline: ${all.length} namespaces and ${groups} bridges, every one has pinged its neighbour, s`, taken]];
  } finally {
    await ip([
      ...all.map((name) => `netns del ${name}`),
      ...Array.from({ length: groups }, (_, group) => `link del ${mark}b${group}`),
    ]).catch((error: Error) => console.error(error.message));
  }
}

function pc(index: number) {
  const properties = { startup_script: `ip ${addressOf(index)}/8\n` };
  return { ref: `${index}`, name: `PC${index}`, node_type: 'vpcs', properties };
}

function ofGroup(group: number): number[] {
  return [0, 1, 2].map((of) => group * 3 + of);
}

function neighbourOf(index: number): number {
  return index - (index % 3) + ((index + 1) % 3);
}

function addressOf(index: number): string {
  return `10.${Math.floor(index / 62_500)}.${Math.floor(index / 250) % 250}.${(index % 250) + 1}`;
}

function end(ref: string, port_number: number) {
  return { ref, adapter_number: 0, port_number };
}

async function makeProject(name: string): Promise<string> {
  const { project_id } = await ask<{ project_id: string }>('POST', '/projects', { name, auto_close: false });
  return `/projects/${project_id}`;
}

async function fabricFigures(): Promise<{ bytes: number; holdMs: number; cpuSeconds: number }> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  return {
    bytes: value('patchbay_fabric_memory_bytes'),
    holdMs: value('patchbay_fabric_event_loop_delay_seconds\\{quantile="1"\\}') * 1000,
    cpuSeconds: value('patchbay_fabric_cpu_seconds_total'),
  };
}

/** Asks for the version all the time, until `end` answers how long each answer took, ms. */
function pollVersion(): { end(): Promise<number[]> } {
  let isOver = false;
  const polling = (async () => {
    const times: number[] = [];
    while (!isOver) {
      times.push((await seconds(() => ask('GET', '/version'))).taken * 1000);
      await pass(20);
    }
    return times;
  })();
  polling.catch(() => undefined);
  return {
    end: () => {
      isOver = true;
      return polling;
    },
  };
}

async function cpu(pid: number): Promise<number> {
  return (await processUsage(pid))?.cpuSeconds ?? Number.NaN;
}

async function seconds<T>(work: () => Promise<T>): Promise<{ result: T; taken: number }> {
  const since = performance.now();
  const result = await work();
  return { result, taken: (performance.now() - since) / 1000 };
}

function pass(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function fail(message: string): never {
  throw new Error(message);
}

async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const reply = await fetch(`${server.url}/v2${path}`, {
    method,
    signal: AbortSignal.timeout(limitMs),
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text.slice(0, 300)}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}
