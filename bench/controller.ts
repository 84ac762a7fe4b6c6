/**
 * The controller alone, at the scale of a whole school: computes are simulated, projects, log, HTTP and listeners are real. Figures are
 * processor time of the server's main thread, so that they hold on a shared machine.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Row } from './measure.ts';
import { multiplyProject } from './multiply-project.ts';
import { Simulation } from './simulation/run.ts';
import type { Figures } from './simulation/server.ts';

const large = 10_000;
const factor = 10;
const projectCount = 10_000;
const opened = { projects: 100, nodes: 50 };
const listeners = 500;
const changes = 100;
/** The server's promise, ms. */
const longestHoldMs = 100;
/** Nodes and links of one request: its body may have 1 MiB. */
const chunk = 2000;

type Say = (text: string) => void;
interface Made {
  readonly node_id: string;
}

export async function benchController(say: Say): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'pb-simulation-'));
  try {
    return [...(await largeProject(join(folder, 'large'), say)), ...(await manyProjects(join(folder, 'many'), say))];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Whether an operation on ten times the nodes costs more than ten times as much. */
async function largeProject(folder: string, say: Say): Promise<Row[]> {
  await mkdir(folder);
  const simulation = await Simulation.start(folder);
  try {
    // Compiled code is compared with compiled code.
    await operations(simulation, large / factor, say);
    const small = await operations(simulation, large / factor, say);
    const big = await operations(simulation, large, say);
    const holds = Object.entries(big).map(([what, { holdCpuMs }]) => ({ what, holdCpuMs }));
    const longest = holds.reduce((one, other) => (one.holdCpuMs > other.holdCpuMs ? one : other));
    return [
      ...Object.entries(big).map(([what, { cpuMs }]) => ({
        what: `${what}, ${large} nodes, ms of processor`,
        ours: cpuMs,
        baseline: factor * (small[what]?.cpuMs ?? Number.NaN),
        against: `${factor} times that with ${large / factor} nodes`,
      })),
      limitRow(`longest hold of the event loop with ${large} nodes (${longest.what}), ms`, longest.holdCpuMs),
    ];
  } finally {
    await simulation.stop();
  }
}

async function operations(simulation: Simulation, count: number, say: Say): Promise<Record<string, Figures>> {
  const costs: Record<string, Figures> = {};
  const measure = async <T>(what: string, work: () => Promise<T>): Promise<void> => {
    const figures = await simulation.cost(work);
    costs[what] = figures;
    say(`${count} nodes, ${what}: ${figures.cpuMs.toFixed(0)} ms, at most ${figures.holdCpuMs.toFixed(0)} ms at once`);
  };
  const { project_id } = await simulation.ask<{ project_id: string }>('POST', '/projects', { name: crypto.randomUUID() });
  const path = `/projects/${project_id}`;
  const inProject = <T = unknown>(method: string, end: string, body?: object) => simulation.ask<T>(method, path + end, body);
  const inChunks = async (work: (from: number, size: number) => Promise<unknown>) => {
    for (let from = 0; from < count; from += chunk) await work(from, Math.min(chunk, count - from));
  };
  const nodes: string[] = [];
  const create = async (_from: number, size: number) => {
    const made = await inProject<{ nodes: Made[] }>('POST', '/bulk', ringOf(size));
    nodes.push(...made.nodes.map(({ node_id }) => node_id));
  };
  await measure('create by bulks', () => inChunks(create));
  await measure('list nodes and links', async () => {
    await inProject('GET', '/nodes');
    await inProject('GET', '/links');
  });
  const move = (from: number, size: number) =>
    inProject('PUT', '/bulk', { nodes: nodes.slice(from, from + size).map((node_id) => ({ node_id, x: 7 })) });
  await measure('move by bulks', () => inChunks(move));
  await measure('undo of the moves', () => inChunks(() => inProject('POST', '/undo', {})));
  await measure('start', () => inProject('POST', '/nodes/start', {}));
  await measure('stop', () => inProject('POST', '/nodes/stop', {}));
  await measure('close', () => inProject('POST', '/close', {}));
  await measure('open', () => inProject('POST', '/open', {}));
  await measure('duplicate', () => inProject('POST', '/duplicate', { name: crypto.randomUUID() }));
  await measure('snapshot', () => inProject('POST', '/snapshots', { name: 'one' }));
  await measure('export', () => readExport(`${simulation.url}/v2${path}/export`));
  // Batches of nodes in turn: the history keeps a limited number of changes.
  const removeAndUndo = async (from: number, size: number) => {
    await inProject('POST', '/bulk/delete', { nodes: nodes.slice(from, from + size) });
    await inProject('POST', '/undo', {});
  };
  await measure('delete by bulks and undo', () => inChunks(removeAndUndo));
  await measure('delete the project', () => inProject('DELETE', ''));
  return costs;
}

/** An archive is no JSON. */
async function readExport(url: string): Promise<void> {
  const reply = await fetch(url);
  if (!reply.ok) throw new Error(`export: ${reply.status}`);
  await reply.arrayBuffer();
}

function ringOf(count: number): object {
  const end = (index: number, adapter_number: number) => ({ ref: String(index % count), adapter_number, port_number: 0 });
  const indexes = Array.from({ length: count }, (_, index) => index);
  const node = { name: 'N', node_type: 'qemu', compute_id: 'local', properties: { adapters: 2 } };
  return {
    nodes: indexes.map((index) => ({ ...node, ref: String(index) })),
    links: indexes.map((index) => ({ nodes: [end(index, 0), end(index + 1, 1)] })),
  };
}

async function manyProjects(folder: string, say: Say): Promise<Row[]> {
  await mkdir(folder);
  const empty = await Simulation.start(folder);
  await empty.ask('POST', '/projects', { name: 'template of all others' });
  await empty.stop();
  say(`${projectCount} projects`);
  await multiplyProject(join(folder, 'projects'), projectCount);
  const simulation = await Simulation.start(folder);
  try {
    const started: Row = {
      what: `start with ${projectCount} projects, ms of processor`,
      ours: simulation.openedMs,
      baseline: empty.openedMs,
      against: 'start without projects',
    };
    const listed = await simulation.cost(() => simulation.ask('GET', '/projects'));
    return [
      started,
      limitRow(`longest hold: first list of ${projectCount} projects, ms`, listed.holdCpuMs),
      ...(await openMany(simulation, say)),
    ];
  } finally {
    await simulation.stop();
  }
}

async function openMany(simulation: Simulation, say: Say): Promise<Row[]> {
  const total = opened.projects * opened.nodes;
  const before = await simulation.figures('collect');
  const paths: string[] = [];
  for (let count = 0; count < opened.projects; count++) {
    const { project_id } = await simulation.ask<{ project_id: string }>('POST', '/projects', {
      name: `open ${count}`,
      auto_close: false,
    });
    paths.push(`/projects/${project_id}`);
    await simulation.ask('POST', `/projects/${project_id}/bulk`, ringOf(opened.nodes));
    await simulation.ask('POST', `/projects/${project_id}/nodes/start`, {});
  }
  const after = await simulation.figures('collect');
  say(`${total} nodes of ${opened.projects} projects run: ${(after.residentBytes / 2 ** 20).toFixed(0)} MiB resident`);
  const [path = ''] = paths;
  const text =
    JSON.stringify(await simulation.ask('GET', `${path}/nodes`)) + JSON.stringify(await simulation.ask('GET', `${path}/links`));
  const memory: Row = {
    what: `memory of a running node and its link, of ${total}, KiB`,
    ours: (after.heapBytes - before.heapBytes) / total / 1024,
    baseline: text.length / opened.nodes / 1024,
    against: 'the two as JSON',
  };
  const [node] = await simulation.ask<Made[]>('GET', `${path}/nodes`);
  const change = async () => {
    for (let x = 0; x < changes; x++) await simulation.ask('PUT', `${path}/nodes/${node?.node_id}`, { x });
  };
  const alone = await simulation.cost(change);
  const sockets = await listen(`${simulation.url.replace('http', 'ws')}/v2${path}/notifications/ws`);
  const notified = await simulation.cost(change);
  const bulk = await simulation.cost(() => simulation.ask('POST', `${path}/bulk`, ringOf(chunk)));
  for (const socket of sockets) socket.close();
  return [
    memory,
    {
      what: `a change with ${listeners} listeners, ms of processor`,
      ours: notified.cpuMs / changes,
      baseline: alone.cpuMs / changes,
      against: 'the same without listeners',
    },
    limitRow(`longest hold: bulk of ${chunk} nodes with ${listeners} listeners, ms`, bulk.holdCpuMs),
  ];
}

function listen(url: string): Promise<WebSocket[]> {
  return Promise.all(
    Array.from({ length: listeners }, async () => {
      const socket = new WebSocket(url);
      await new Promise((resolve, reject) => {
        socket.onopen = resolve;
        socket.onerror = () => reject(new Error('a listener was refused'));
      });
      return socket;
    }),
  );
}

function limitRow(what: string, ours: number): Row {
  return { what, ours, baseline: longestHoldMs, against: 'the limit' };
}
