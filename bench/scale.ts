/** Big projects, many projects, and many machines at once. */
import { join } from 'node:path';
import { Client } from 'undici';
import { type Call, latencies, median, quantile, type Row, request } from './measure.ts';
import { multiplyProject } from './multiply-project.ts';
import { type Running, startBare, startPatchbay } from './server.ts';

const big = { nodes: 1000, links: 1500, window: 100, adapters: 4 };
const opened = { nodes: 100, links: 50, times: 10 };
const bulkRounds = 5;
const projectCount = 10_000;
const machines = 20;

export async function benchScale(say: (text: string) => void): Promise<Row[]> {
  return [...(await growing(say)), await opening(say), await bulk(say), await manyProjects(say), await startingMachines(say)];
}

/** Whether the last node and link of a big project cost more than the first. */
async function growing(say: (text: string) => void): Promise<Row[]> {
  say(`${big.nodes} nodes and ${big.links} links, one by one`);
  return withServer(async (client) => {
    const path = await makeProject(client, 'big');
    const nodes: string[] = [];
    const nodeTimes = await latencies(
      client,
      () => nodeCall(path, 'qemu', { adapters: big.adapters, ram: 64 }),
      big.nodes,
      async (answer) => {
        nodes.push((answer as { node_id: string }).node_id);
      },
    );
    const linkTimes = await latencies(client, (turn) => linkCall(path, nodes, turn), big.links);
    const row = (what: string, times: readonly number[]): Row => ({
      what: `${what}: the last ${big.window} against the first, ms (median)`,
      ours: median(times.slice(-big.window)),
      baseline: median(times.slice(0, big.window)),
      against: `the first ${big.window} of the same run`,
    });
    return [row(`create node 1 to ${big.nodes}`, nodeTimes), row(`create link 1 to ${big.links}`, linkTimes)];
  });
}

async function opening(say: (text: string) => void): Promise<Row> {
  say(`opening ${opened.nodes} nodes and ${opened.links} links`);
  return withServer(async (client, server) => {
    const path = await makeProject(client, 'opened');
    await pairs(client, path, opened);
    const close = () => request(client, { method: 'POST', path: `${path}/close` });
    await close();
    const call: Call = { method: 'POST', path: `${path}/open` };
    const times = await latencies(
      client,
      () => call,
      opened.times,
      async () => void (await close()),
    );
    const text = await (await fetch(server.url + path)).text();
    const baseline = await bareTimes({ ...call, status: 201, text }, opened.times);
    return {
      what: `open a project of ${opened.nodes} nodes and ${opened.links} links, ms (median)`,
      ours: median(times),
      baseline,
      against: 'bare Fastify route, same bytes, nothing opened',
    };
  });
}

/** Measures the creation of the same nodes and links by one request, and by one request each. */
async function bulk(say: (text: string) => void): Promise<Row> {
  const { nodes, links } = opened;
  say(`${nodes} nodes and ${links} links at once, and one by one`);
  return withServer(async (client) => {
    const [atOnce, oneByOne]: [number[], number[]] = [[], []];
    for (let round = 0; round < bulkRounds; round++) {
      const one = await makeProject(client, `one by one ${round}`);
      oneByOne.push(await timed(() => pairs(client, one, { nodes, links })));
      await request(client, { method: 'DELETE', path: one });
      const path = await makeProject(client, `at once ${round}`);
      atOnce.push(await timed(() => request(client, { method: 'POST', path: `${path}/bulk`, body: bulkOf(nodes, links) })));
      await request(client, { method: 'DELETE', path });
    }
    return {
      what: `${nodes} nodes and ${links} links by one bulk, ms (median)`,
      ours: median(atOnce),
      baseline: median(oneByOne),
      against: 'the same by a request each',
    };
  });
}

function bulkOf(nodes: number, links: number): object {
  const end = (index: number) => ({ ref: String(index), adapter_number: 0, port_number: 0 });
  return {
    nodes: Array.from({ length: nodes }, (_, index) => ({ ref: String(index), name: 'N', node_type: 'vpcs', compute_id: 'local' })),
    links: Array.from({ length: links }, (_, pair) => ({ nodes: [end(2 * pair), end(2 * pair + 1)] })),
  };
}

async function pairs(client: Client, path: string, count: { nodes: number; links: number }): Promise<void> {
  const nodes: string[] = [];
  for (let node = 0; node < count.nodes; node++) {
    nodes.push(((await request(client, nodeCall(path, 'vpcs'))) as { node_id: string }).node_id);
  }
  for (let link = 0; link < count.links; link++) await request(client, pairCall(path, nodes, link));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

async function manyProjects(say: (text: string) => void): Promise<Row> {
  say(`${projectCount} projects`);
  const first = await startPatchbay();
  try {
    await withClient(first, async (client) => void (await makeProject(client, 'template of all others')));
    await multiplyProject(join(first.folder, 'projects'), projectCount);
    await withClient(first, (client) => request(client, { method: 'POST', path: '/v2/reload' }));
    const call: Call = { method: 'GET', path: '/v2/projects' };
    let text = '';
    while ((text.match(/"project_id"/g)?.length ?? 0) < projectCount) text = await (await fetch(first.url + call.path)).text();
    const ours = await withClient(first, (client) => latencies(client, () => call, 20));
    const baseline = await bareTimes({ ...call, status: 200, text }, 20);
    return {
      what: `list ${projectCount} projects, ms (median)`,
      ours: median(ours),
      baseline,
      against: 'bare Fastify route, same bytes',
    };
  } finally {
    await first.stop();
  }
}

/** Measures how long other requests wait while many machines start. */
async function startingMachines(say: (text: string) => void): Promise<Row> {
  say(`starting ${machines} machines`);
  return withServer(async (client, server) => {
    const path = await makeProject(client, 'machines');
    const properties = { ram: 16, adapters: 1, boot_priority: 'n', options: '-nodefaults -machine accel=tcg,graphics=off' };
    for (let count = 0; count < machines; count++) await request(client, nodeCall(path, 'qemu', properties));
    const version: Call = { method: 'GET', path: '/v2/version' };
    const idle = await latencies(client, () => version, 500);
    const other = new Client(server.url, { bodyTimeout: 0, headersTimeout: 0 });
    const starting = { over: false };
    const started = request(other, { method: 'POST', path: `${path}/nodes/start` }).finally(() => {
      starting.over = true;
    });
    const busy: number[] = [];
    while (!starting.over) busy.push(...(await latencies(client, () => version, 1)));
    await started;
    await other.close();
    return {
      what: `version while ${machines} machines start, ms (99th percentile)`,
      ours: quantile(busy, 0.99),
      baseline: quantile(idle, 0.99),
      against: 'the same with nothing else to do',
    };
  });
}

async function withServer<T>(work: (client: Client, server: Running) => Promise<T>): Promise<T> {
  const server = await startPatchbay();
  try {
    return await withClient(server, (client) => work(client, server));
  } finally {
    await server.stop();
  }
}

async function withClient<T>(server: Running, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(server.url);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

async function bareTimes(answer: Call & { status: number; text: string }, times: number): Promise<number> {
  const bare = await startBare([answer]);
  try {
    return median(await withClient(bare, (client) => latencies(client, () => answer, times)));
  } finally {
    await bare.stop();
  }
}

async function makeProject(client: Client, name: string): Promise<string> {
  const made = (await request(client, { method: 'POST', path: '/v2/projects', body: { name } })) as { project_id: string };
  return `/v2/projects/${made.project_id}`;
}

function nodeCall(path: string, node_type: string, properties?: object): Call {
  const body = { name: 'N', node_type, compute_id: 'local', ...(properties && { properties }) };
  return { method: 'POST', path: `${path}/nodes`, body };
}

/** Link after link between neighbours in a ring; each node has ports for the rounds. */
function linkCall(path: string, nodes: readonly string[], turn: number): Call {
  const round = Math.floor(turn / nodes.length);
  const at = turn % nodes.length;
  const end = (index: number, adapter_number: number) => ({ node_id: nodes[index % nodes.length], adapter_number, port_number: 0 });
  return { method: 'POST', path: `${path}/links`, body: { nodes: [end(at, 2 * round), end(at + 1, 2 * round + 1)] } };
}

function pairCall(path: string, nodes: readonly string[], pair: number): Call {
  const end = (index: number) => ({ node_id: nodes[index], adapter_number: 0, port_number: 0 });
  return { method: 'POST', path: `${path}/links`, body: { nodes: [end(2 * pair), end(2 * pair + 1)] } };
}
