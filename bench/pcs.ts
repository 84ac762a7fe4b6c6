/**
 * PCs at scale: `node bench/pcs.ts [--nodes 1000] [--copies 30] [--fork 1000] [--baseline 1000]`. Of four nodes three are PCs and one is the
 * switch between them. Ready: every PC has an answer to a ping of its neighbour. A lab of `--fork` nodes is forked while it runs. The baseline,
 * in the same run, is as many network namespaces with bridges by ip(8) and pings by ping(8), for a lab of `--baseline` nodes; it needs root.
 */
import { parseArgs } from 'node:util';
import { Client } from 'undici';
import { processUsage } from '../src/process/proc.ts';
import { latencies, quantile } from './measure.ts';
import { measureBaselines } from './pcs/baselines.ts';
import { groupSize, PcLab, pass, pcOf, portOf, seconds, startLabServer } from './pcs/lab.ts';
import { controllerFigures } from './slices/metrics.ts';

const idleMs = 10_000;
/** Rates of links are measured for a minute after their last frame. */
const settleMs = 70_000;
const singleStarts = 20;
const clientWarmUps = 200;
/** Groups that are made last, and undone. */
const undoneGroups = 250;
const classLab = { pcs: 8, switches: 2 };
const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1000' },
    copies: { type: 'string', default: '30' },
    fork: { type: 'string', default: '1000' },
    baseline: { type: 'string', default: '1000' },
  },
});
const groupsOf = (nodes: string) => Math.max(1, Math.floor(Number(nodes) / groupSize));
const groups = groupsOf(values.nodes);
const copies = Number(values.copies);

const rows: [what: string, value: number][] = [];
const note = (what: string, value: number) => {
  rows.push([what, value]);
  process.stderr.write(`pcs: ${what}: ${value.toFixed(1)}\n`);
};

await withLab(groups, 2, measureLab);
if (values.fork !== '0') await withLab(groupsOf(values.fork), 2, measureFork);
if (copies > 0) await withLab(groupsOf('1000'), 2, measureClass);
if (values.baseline !== '0') for (const [what, taken] of await measureBaselines(groupsOf(values.baseline))) note(what, taken);
console.log('| measured | |\n|---|---:|');
for (const [what, value] of rows) console.log(`| ${what} | ${value.toFixed(1)} |`);

async function withLab(size: number, labs: number, measure: (lab: PcLab) => Promise<void>): Promise<void> {
  const server = await startLabServer(size, labs);
  try {
    await measure(new PcLab(server, size));
  } finally {
    await server.stop();
  }
}

/** Idle first: a server whose figures are read by monitoring measures its event loop from then on. */
async function measureLab(lab: PcLab): Promise<void> {
  const single = await lab.makeProject('single');
  await measureSingle(lab, single, 'of a server that has just started');
  const fabric = await lab.fabricPid();
  const bytes = async () => (await usageOf(fabric)).residentBytes;
  const project = await lab.makeProject('scale');
  const before = await bytes();
  const times = { made: 0, started: 0, pinged: 0 };
  const meanwhile = await watched(lab, async () => {
    times.made = (await seconds(() => lab.makeGroups(project))).taken;
    times.started = (await seconds(() => lab.start(project))).taken;
    const pcs = await lab.pcs(project);
    times.pinged = (await seconds(() => lab.ping(pcs))).taken;
  });
  const pcs = (await lab.pcs(project)).length;
  note(`${groups * groupSize} nodes (${pcs} PCs) made by bulks, s`, times.made);
  note('all started, s', times.started);
  note('every PC has pinged its neighbour, s', times.pinged);
  note('ready, s after the order', times.made + times.started + times.pinged);
  note('version meanwhile, ms (99th percentile)', quantile(meanwhile, 0.99));
  note('version meanwhile, ms (longest)', Math.max(...meanwhile));
  await measureSingle(lab, single, `beside ${pcs} that run`);
  await pass(settleMs);
  note('memory of the fabric for a PC, its link and a third of a switch, KiB', ((await bytes()) - before) / 1024 / pcs);
  const pids = { server: lab.server.pid, fabric };
  const idle = await Promise.all(Object.values(pids).map(usageOf));
  await pass(idleMs);
  for (const [index, [name, pid]] of Object.entries(pids).entries()) {
    const used = (await usageOf(pid)).cpuSeconds - (idle[index]?.cpuSeconds ?? Number.NaN);
    note(`idle afterwards, % of a processor: ${name}`, (100_000 * used) / idleMs);
  }
  await measureOperations(lab, project);
}

/** Measures operations on a large project, each with the longest hold of the server's event loop meanwhile. */
async function measureOperations(lab: PcLab, project: string): Promise<void> {
  const measure = async (what: string, work: () => Promise<unknown>) => {
    await controllerFigures(lab.server.url);
    note(`${what}, s`, (await seconds(work)).taken);
    note(`${what}: longest hold of the server, ms`, (await controllerFigures(lab.server.url)).holdMs);
  };
  await measure('listed', () => lab.nodes(project));
  await measure('all stopped', () => lab.ask('POST', `${project}/nodes/stop`, {}));
  await measure('all started again', () => lab.start(project));
  await lab.ask('POST', `${project}/nodes/stop`, {});
  await measure('exported', async () => {
    const reply = await fetch(`${lab.server.url}/v2${project}/export`);
    for await (const _chunk of reply.body ?? []);
  });
  let copy = '';
  await measure('duplicated', async () => {
    copy = (await lab.ask<{ project_id: string }>('POST', `${project}/duplicate`, { name: 'copy' })).project_id;
  });
  await lab.ask('DELETE', `/projects/${copy}`);
  await measure('closed', () => lab.ask('POST', `${project}/close`, {}));
  await measure('opened', () => lab.ask('POST', `${project}/open`, {}));
  const undone = Math.min(undoneGroups, groups);
  await measure(`${undone * groupSize} nodes more made`, () => lab.makeGroups(project, groups, groups + undone));
  await measure(`these undone`, () => lab.ask('POST', `${project}/undo`, {}));
  await measure('deleted', () => lab.ask('DELETE', project));
}

/** Measures the time from the request to its answer, one PC after the other, by a client that has made requests before. */
async function measureSingle(lab: PcLab, project: string, when: string): Promise<void> {
  const nodes = Array.from({ length: singleStarts }, (_, index) => pcOf(index));
  const made = await lab.ask<{ nodes: { node_id: string }[] }>('POST', `${project}/bulk`, { nodes });
  const client = new Client(lab.server.url);
  const versions = await latencies(client, () => ({ method: 'GET', path: '/v2/version' }), clientWarmUps);
  const pathOf = (turn: number) => `/v2${project}/nodes/${made.nodes[turn]?.node_id}/start`;
  const times = await latencies(client, (turn) => ({ method: 'POST', path: pathOf(turn), body: {} }), singleStarts);
  await client.close();
  note(`version before, ms (median)`, quantile(versions, 0.5));
  note(`start of one PC ${when}, ms (median of ${singleStarts})`, quantile(times, 0.5));
  note(`start of one PC ${when}, ms (worst)`, Math.max(...times));
}

/** A running lab, frozen and forked: until the fork runs, and all its PCs reach their neighbours. */
async function measureFork(lab: PcLab): Promise<void> {
  const project = await lab.makeProject('forked');
  await lab.makeGroups(project);
  await lab.start(project);
  const count = (await lab.pcs(project)).length;
  await lab.ping(await lab.pcs(project));
  await controllerFigures(lab.server.url);
  const forked = await seconds(() => lab.ask<{ project_id: string }[]>('POST', `${project}/fork`, { count: 1 }));
  note(`fork of ${lab.groups * groupSize} nodes with the memory of all, s`, forked.taken);
  note('longest hold of the server meanwhile, ms', (await controllerFigures(lab.server.url)).holdMs);
  const pcs = (await lab.pcs(`/projects/${forked.result[0]?.project_id}`)).filter(({ status }) => status === 'started');
  if (pcs.length !== count) throw new Error(`${pcs.length} of ${count} PCs of the fork run`);
  await lab.ping(pcs);
}

/** Copies of a small lab, all started at once. */
async function measureClass(lab: PcLab): Promise<void> {
  const switches = Array.from({ length: classLab.switches }, (_, index) => ({ name: `S${index}`, node_type: 'ethernet_switch' }));
  const body = {
    nodes: [
      ...Array.from({ length: classLab.pcs }, (_, index) => pcOf(index)),
      ...switches.map((node) => ({ ...node, ref: node.name, compute_id: 'local' })),
    ],
    links: Array.from({ length: classLab.pcs }, (_, index) => ({
      nodes: [portOf(`${index}`, 0), portOf(`S${index % classLab.switches}`, Math.floor(index / classLab.switches))],
    })),
  };
  const projects: string[] = [];
  for (let copy = 0; copy < copies; copy++) {
    const project = await lab.makeProject(`class ${copy}`);
    await lab.ask('POST', `${project}/bulk`, body);
    projects.push(project);
  }
  const { taken } = await seconds(() => Promise.all(projects.map((project) => lab.start(project))));
  note(`${copies} copies of a lab of ${classLab.pcs} PCs and ${classLab.switches} switches started, s`, taken);
}

async function usageOf(pid: number) {
  const usage = await processUsage(pid);
  if (!usage) throw new Error(`there is no process ${pid}`);
  return usage;
}

/** Asks for the version all the time while something is done; how long each answer took, ms. */
async function watched(lab: PcLab, work: () => Promise<void>): Promise<number[]> {
  let isOver = false;
  const times: number[] = [];
  const polling = (async () => {
    while (!isOver) {
      times.push((await seconds(() => lab.ask('GET', '/version'))).taken * 1000);
      await pass(20);
    }
  })();
  polling.catch(() => undefined);
  try {
    await work();
  } finally {
    isOver = true;
  }
  await polling;
  return times;
}
