/**
 * A lab over several slices: `node bench/slices.ts [--nodes 200] [--slices 8] [--pcs 7]`. Slices are processes of this host, placed by the
 * engine `process`; of eight nodes so many are VPCS, the others switches, in a chain over all slices. Ready: every PC has an answer to a ping of
 * its neighbour.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { forEachBounded } from '../src/lib/bounded.ts';
import { openTelnet } from '../test/support/telnet.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { quantile } from './measure.ts';
import { startPatchbay } from './server.ts';
import { chainOver, groupSize, mostPcs } from './slices/chain.ts';
import { controllerFigures, requestsAt } from './slices/metrics.ts';
import { usageBelow } from './slices/usage.ts';

/** Consoles that are used at once. */
const pingsAtOnce = 64;
const limitMs = 300_000;
/** The processor time of a lab in which nothing happens is measured for so long. */
const idleMs = 10_000;
const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '200' },
    slices: { type: 'string', default: '8' },
    pcs: { type: 'string', default: String(mostPcs) },
  },
});
const [groups, sliceCount] = [Math.max(1, Math.floor(Number(values.nodes) / groupSize)), Math.max(1, Number(values.slices))];

interface Node {
  readonly node_id: string;
  readonly console: number;
}

interface PlacedSlice {
  readonly compute_id: string;
  readonly url: string;
}

const server = await startPatchbay(
  '[Cluster]\nengine = process\n[Server]\nudp_start_port_range = 30000\nudp_end_port_range = 39999\n',
);
const note = (text: string) => process.stderr.write(`slices: ${text}\n`);
const polls = { over: false, times: [] as number[] };
try {
  const slices = await seconds(placeSlices);
  note(`${sliceCount} joined`);
  const before = await controllerFigures(server.url);
  const requestsBefore = await requestsAt(server.folder, slices.result);
  const polling = poll();
  // A failure is reported below, after the slices have been removed.
  polling.catch(() => undefined);
  const chain = chainOver(
    slices.result.map(({ compute_id }) => compute_id),
    groups,
    Math.min(mostPcs, Math.max(2, Number(values.pcs))),
  );
  const made = await seconds(() => makeLab(chain.body));
  const { path, nodes } = made.result;
  note(`${nodes.length} nodes made`);
  const requestsMade = await requestsAt(server.folder, slices.result);
  const started = await seconds(() => ask('POST', `${path}/nodes/start`, {}));
  note('started');
  const requestsStarted = await requestsAt(server.folder, slices.result);
  // A start may give a console another port.
  const consoles = new Map((await ask<Node[]>('GET', `${path}/nodes`)).map((node) => [node.node_id, node.console]));
  const running = nodes.map(({ node_id, console }) => ({ node_id, console: consoles.get(node_id) ?? console }));
  const ready = await seconds(() => pingNeighbours(running, chain.neighbours));
  note('ready');
  polls.over = true;
  await polling;
  const after = await controllerFigures(server.url);
  const usage = await usageBelow(server.pid);
  await new Promise((resolve) => setTimeout(resolve, idleMs));
  const idle = await usageBelow(server.pid);
  const perNode = (value: number) => value / nodes.length;
  const share = (part: keyof typeof usage) => (100_000 * (idle[part].cpuSeconds - usage[part].cpuSeconds)) / idleMs;
  const rows = {
    [`${sliceCount} slices joined, s`]: slices.taken,
    [`${nodes.length} nodes and their links made by one bulk, s`]: made.taken,
    'all started, s': started.taken,
    'every PC reaches its neighbour, s after that': ready.taken,
    'ready, s after the order': made.taken + started.taken + ready.taken,
    'requests of the controller to slices per node: made': perNode(requestsMade - requestsBefore),
    'requests of the controller to slices per node: started': perNode(requestsStarted - requestsMade),
    'processor time of the controller, s': after.cpuSeconds - before.cpuSeconds,
    'controller, longest hold of the event loop, ms': after.holdMs,
    'controller, at most resident, MiB': await peakMiB(server.pid),
    'version meanwhile, ms (median)': quantile(polls.times, 0.5),
    'version meanwhile, ms (99th percentile)': quantile(polls.times, 0.99),
    'processor time of slices and fabrics, s': usage.slices.cpuSeconds,
    'processor time of nodes, s': usage.nodes.cpuSeconds,
    'memory of slices and fabrics, MiB': usage.slices.memoryMiB,
    'memory of nodes, MiB': usage.nodes.memoryMiB,
    'processes of nodes': usage.nodes.processes,
    'threads of nodes': usage.nodes.threads,
    'open files of nodes': usage.nodes.files,
    'open files of slices and fabrics': usage.slices.files,
    'idle afterwards, % of a processor: controller': share('controller'),
    'idle afterwards, % of a processor: slices and fabrics': share('slices'),
    'idle afterwards, % of a processor: nodes': share('nodes'),
  };
  console.log('| measured | |\n|---|---:|');
  for (const [what, value] of Object.entries(rows)) console.log(`| ${what} | ${value.toFixed(1)} |`);
} finally {
  polls.over = true;
  await removeSlices().catch((error: Error) => console.error(error.message));
  await server.stop();
}

async function placeSlices(): Promise<PlacedSlice[]> {
  const orders = Array.from({ length: sliceCount }, () => ask<{ compute_id: string }>('POST', '/slices', {}));
  const ids = (await Promise.all(orders)).map(({ compute_id }) => compute_id);
  interface Compute {
    readonly compute_id: string;
    readonly connected: boolean;
    readonly host: string;
    readonly port: number;
  }
  const joined = async () => {
    const computes = await ask<Compute[]>('GET', '/computes');
    const found = computes.filter(({ compute_id, connected }) => connected && ids.includes(compute_id));
    return found.length === sliceCount ? found : undefined;
  };
  const found = await waitFor(joined, { what: 'the slices', everyMs: 100, limitMs });
  return found.map(({ compute_id, host, port }) => ({ compute_id, url: `http://${host}:${port}` }));
}

async function makeLab(body: object): Promise<{ path: string; nodes: Node[] }> {
  const { project_id } = await ask<{ project_id: string }>('POST', '/projects', { name: 'spread', auto_close: false });
  const path = `/projects/${project_id}`;
  return { path, nodes: (await ask<{ nodes: Node[] }>('POST', `${path}/bulk`, body)).nodes };
}

async function pingNeighbours(nodes: readonly Node[], neighbours: readonly (string | undefined)[]): Promise<void> {
  const [error] = await forEachBounded(nodes.entries(), pingsAtOnce, async ([index, node]) => {
    const address = neighbours[index];
    if (address !== undefined) await ping(node, address);
  });
  if (error !== undefined) throw error;
}

/** An answer that came too late is asked for again. */
async function ping(pc: Node, address: string): Promise<void> {
  const telnet = await openTelnet(pc.console);
  const type = () => telnet.send(`ping ${address} -c 1\r`);
  const timer = setInterval(type, 5_000);
  type();
  try {
    await telnet.expect(/seq=\d+ ttl=/, limitMs);
  } finally {
    clearInterval(timer);
    telnet.close();
  }
}

async function removeSlices(): Promise<void> {
  for (const { compute_id } of await ask<{ compute_id: string }[]>('GET', '/slices'))
    await ask('DELETE', `/slices/${compute_id}?force=true`);
  await waitFor(async () => (await ask<object[]>('GET', '/slices')).length === 0, {
    what: 'the end of the slices',
    everyMs: 200,
    limitMs,
  });
}

async function poll(): Promise<void> {
  while (!polls.over) {
    const began = performance.now();
    await ask('GET', '/version');
    polls.times.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function peakMiB(pid: number): Promise<number> {
  return Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

async function seconds<T>(work: () => Promise<T>): Promise<{ result: T; taken: number }> {
  const began = performance.now();
  const result = await work();
  return { result, taken: (performance.now() - began) / 1000 };
}

async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const reply = await fetch(`${server.url}/v2${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text.slice(0, 300)}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}
