/** The API against a bare Fastify route that returns the same bytes. */
import { Client } from 'undici';
import { type Call, latencies, median, type Row, request, throughput } from './measure.ts';
import { startBare, startPatchbay } from './server.ts';

const linkCount = 1000;
const adapters = 250;
const turns = 200;
const rounds = 3;
const starts = 5;

interface Answer {
  method: string;
  path: string;
  status: number;
  text: string;
}

export async function benchApi(say: (text: string) => void): Promise<Row[]> {
  const ours = await startPatchbay();
  const client = new Client(ours.url);
  try {
    say(`a project with ${linkCount} links`);
    const project = await buildProject(client);
    const calls = callsOf(project);
    const answers = await Promise.all(Object.values(calls).map((call) => recorded(ours.url, call)));
    for (const answer of answers) if (answer.method === 'POST') await cleanUp(client, answer);
    const bare = await startBare(answers);
    try {
      return [await measureStart(say), ...(await measure({ client, ours: ours.url, bare: bare.url, calls, say }))];
    } finally {
      await bare.stop();
    }
  } finally {
    await client.close();
    await ours.stop();
  }
}

/** Measures the time from the start of the process to the line with the address, alternating. */
async function measureStart(say: (text: string) => void): Promise<Row> {
  say('start');
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < starts; round++) {
    for (const [times, start] of [[ours, startPatchbay] as const, [bare, () => startBare([])] as const]) {
      const server = await start();
      times.push(server.startMs);
      await server.stop();
    }
  }
  return { what: 'start to first answer, ms', ours: median(ours), baseline: median(bare), against: 'start of the bare server' };
}

interface Project {
  path: string;
  nodes: string[];
}

async function buildProject(client: Client): Promise<Project> {
  const project = (await request(client, { method: 'POST', path: '/v2/projects', body: { name: 'bench' } })) as {
    project_id: string;
  };
  const path = `/v2/projects/${project.project_id}`;
  const nodes: string[] = [];
  for (let count = 0; count < (2 * linkCount) / adapters + 2; count++) {
    const body = { name: `N${count}`, node_type: 'qemu', compute_id: 'local', properties: { adapters, ram: 64 } };
    nodes.push(((await request(client, { method: 'POST', path: `${path}/nodes`, body })) as { node_id: string }).node_id);
  }
  for (let link = 0; link < linkCount; link++) {
    const pair = 2 * Math.floor(link / adapters);
    await request(client, { method: 'POST', path: `${path}/links`, body: linkBody(nodes, pair, link % adapters) });
  }
  return { path, nodes };
}

function linkBody(nodes: readonly string[], pair: number, adapter: number): object {
  return { nodes: [nodes[pair], nodes[pair + 1]].map((node_id) => ({ node_id, adapter_number: adapter, port_number: 0 })) };
}

function callsOf({ path, nodes }: Project): Record<'links' | 'version' | 'createLink' | 'createNode' | 'moveNode', Call> {
  return {
    links: { method: 'GET', path: `${path}/links` },
    version: { method: 'GET', path: '/v2/version' },
    createLink: { method: 'POST', path: `${path}/links`, body: linkBody(nodes, nodes.length - 2, 0) },
    createNode: { method: 'POST', path: `${path}/nodes`, body: { name: 'PC1', node_type: 'vpcs', compute_id: 'local' } },
    moveNode: { method: 'PUT', path: `${path}/nodes/${nodes[0]}`, body: { x: 10, y: 20 } },
  };
}

async function recorded(url: string, { method, path, body }: Call): Promise<Answer> {
  const response = await fetch(url + path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  return { method, path, status: response.status, text: await response.text() };
}

/** Reverts what a recording or measurement created. */
async function cleanUp(client: Client, { path, text }: { path: string; text: string }): Promise<void> {
  const made = JSON.parse(text) as { link_id?: string; node_id?: string };
  await request(client, { method: 'DELETE', path: `${path}/${made.link_id ?? made.node_id}` });
}

interface Pair {
  client: Client;
  ours: string;
  bare: string;
  calls: ReturnType<typeof callsOf>;
  say: (text: string) => void;
}

async function measure({ client, ours, bare, calls, say }: Pair): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [what, call] of [
    [`list of ${linkCount} links, requests/s`, calls.links],
    ['version, requests/s', calls.version],
  ] as const) {
    say(what);
    const figures: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      figures[0].push(await throughput(ours, call));
      figures[1].push(await throughput(bare, call));
    }
    rows.push({ what, ours: median(figures[0]), baseline: median(figures[1]), against: 'bare route, same bytes' });
  }
  const bareClient = new Client(bare);
  const writes = [
    ['create link, ms (median)', calls.createLink],
    ['create node, ms (median)', calls.createNode],
    ['move node, ms (median)', calls.moveNode],
  ] as const;
  for (const [what, call] of writes) {
    say(what);
    const undo =
      call.method === 'POST' ? (answer: unknown) => cleanUp(client, { path: call.path, text: JSON.stringify(answer) }) : undefined;
    const mine = await latencies(
      client,
      (turn) => (call.method === 'PUT' ? { ...call, body: { x: turn, y: -turn } } : call),
      turns,
      undo,
    );
    const theirs = await latencies(bareClient, () => call, turns);
    rows.push({ what, ours: median(mine), baseline: median(theirs), against: 'bare route, same bytes, nothing stored' });
  }
  await bareClient.close();
  return rows;
}
