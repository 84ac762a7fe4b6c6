/**
 * A lab over several slices: `node bench/slices.ts [--nodes 200] [--slices 8]`. Slices are processes of this host, placed by the engine
 * `process`; nodes are switches with seven VPCS each, in a chain over all slices. Ready: every PC has answered a ping of its neighbour.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { forEachBounded } from '../src/lib/bounded.ts';
import { openTelnet } from '../test/support/telnet.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { quantile } from './measure.ts';
import { startPatchbay } from './server.ts';

const groupSize = 8;
/** Consoles that are used at once. */
const pingsAtOnce = 16;
const limitMs = 600_000;
const { values } = parseArgs({ options: { nodes: { type: 'string', default: '200' }, slices: { type: 'string', default: '8' } } });
const [groups, sliceCount] = [Math.max(1, Math.floor(Number(values.nodes) / groupSize)), Math.max(1, Number(values.slices))];

interface Node {
  readonly node_id: string;
  readonly console: number;
}

const server = await startPatchbay(
  '[Cluster]\nengine = process\n[Server]\nudp_start_port_range = 30000\nudp_end_port_range = 39999\n',
);
const note = (text: string) => process.stderr.write(`slices: ${text}\n`);
const polls = { over: false, times: [] as number[] };
try {
  const slices = await seconds(placeSlices);
  note(`${sliceCount} joined`);
  const before = await processorSeconds();
  const polling = poll();
  // It is reported below, after the slices have been removed.
  polling.catch(() => undefined);
  const made = await seconds(() => makeLab(slices.result));
  const { path, nodes } = made.result;
  note(`${nodes.length} nodes made`);
  const started = await seconds(() => ask('POST', `${path}/nodes/start`, {}));
  note('started');
  const pcs = nodes.filter((_, index) => index % groupSize !== 0);
  const ready = await seconds(() =>
    forEachBounded(pcs.entries(), pingsAtOnce, ([index, pc]) => pingNeighbour(pc, index, pcs.length)),
  );
  polls.over = true;
  await polling;
  const used = (await processorSeconds()) - before;
  const peak = /VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${server.pid}/status`, 'utf8'))?.[1];
  const rows = {
    [`${sliceCount} slices joined, s`]: slices.taken,
    [`${nodes.length} nodes and their links made by one bulk, s`]: made.taken,
    'all started, s': started.taken,
    'every PC reaches its neighbour, s after that': ready.taken,
    'processor time of the controller, s': used,
    'controller, at most resident, MiB': Number(peak) / 1024,
    'version meanwhile, ms (median)': quantile(polls.times, 0.5),
    'version meanwhile, ms (99th percentile)': quantile(polls.times, 0.99),
  };
  console.log('| measured | |\n|---|---:|');
  for (const [what, value] of Object.entries(rows)) console.log(`| ${what} | ${value.toFixed(1)} |`);
} finally {
  polls.over = true;
  await removeSlices().catch((error: Error) => console.error(error.message));
  await server.stop();
}

async function placeSlices(): Promise<string[]> {
  const orders = Array.from({ length: sliceCount }, () => ask<{ compute_id: string }>('POST', '/slices', {}));
  const ids = (await Promise.all(orders)).map(({ compute_id }) => compute_id);
  const joined = async () =>
    (await ask<{ connected: boolean }[]>('GET', '/computes')).filter(({ connected }) => connected).length > sliceCount;
  await waitFor(joined, { what: 'the slices', everyMs: 100, limitMs });
  return ids;
}

async function makeLab(slices: readonly string[]): Promise<{ path: string; nodes: Node[] }> {
  const { project_id } = await ask<{ project_id: string }>('POST', '/projects', { name: 'spread', auto_close: false });
  const end = (index: number, port_number: number) => ({ ref: String(index), adapter_number: 0, port_number });
  const ports_mapping = Array.from({ length: groupSize + 1 }, (_, port_number) => ({
    name: `Ethernet${port_number}`,
    port_number,
    type: 'access',
    vlan: 1,
  }));
  const nodes = Array.from({ length: groups * groupSize }, (_, index) => {
    const group = Math.floor(index / groupSize);
    const compute_id = slices[Math.floor((group * slices.length) / groups)];
    const common = { ref: String(index), compute_id };
    if (index % groupSize === 0)
      return { ...common, name: `S${group}`, node_type: 'ethernet_switch', properties: { ports_mapping } };
    const startup_script = `ip ${addressOf(index - group - 1)}/16\n`;
    return { ...common, name: `PC${index}`, node_type: 'vpcs', properties: { startup_script } };
  });
  const links = nodes.flatMap((_, index) => {
    const switchIndex = index - (index % groupSize);
    if (index !== switchIndex) return [{ nodes: [end(index, 0), end(switchIndex, index - switchIndex)] }];
    return index === 0 ? [] : [{ nodes: [end(index - groupSize, groupSize), end(index, 0)] }];
  });
  const path = `/projects/${project_id}`;
  return { path, nodes: (await ask<{ nodes: Node[] }>('POST', `${path}/bulk`, { nodes, links })).nodes };
}

function addressOf(pc: number): string {
  return `10.0.${Math.floor(pc / 250)}.${(pc % 250) + 1}`;
}

/** A PC that starts loses keys, so it is asked again. */
async function pingNeighbour(pc: Node, index: number, count: number): Promise<void> {
  const telnet = await openTelnet(pc.console);
  const type = () => telnet.send(`ping ${addressOf((index + 1) % count)} -c 1\r`);
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
  for (const { compute_id } of await ask<{ compute_id: string }[]>('GET', '/slices')) await ask('DELETE', `/slices/${compute_id}`);
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

/** Of all threads of the server. Source: proc(5) */
async function processorSeconds(): Promise<number> {
  const fields = (await readFile(`/proc/${server.pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
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
