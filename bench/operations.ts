/**
 * The operations that were once compared with GNS3 2.2.60: projects and QEMU nodes made, copied and deleted, and two lists. GNS3 is not part
 * of this run; a bare Fastify route that returns the same bytes tells how fast the machine is.
 */
import { readFile } from 'node:fs/promises';
import { Client } from 'undici';
import { type Call, latencies, median, type Row, request, throughput } from './measure.ts';
import { type Running, startBare, startPatchbay } from './server.ts';

const turns = 60;
const rounds = 3;
const nodesOfCopy = 10;
/** V8 collects what a start leaves some ten seconds after it. */
const settleMs = 20_000;
const megabyte = 1024;

export async function benchOperations(say: (text: string) => void): Promise<Row[]> {
  const ours = await startPatchbay();
  const client = new Client(ours.url);
  try {
    const calls = await callsOf(client);
    const answers = Object.values(calls).map(({ method, path, text, status }) => ({ method, path, text, status }));
    const bare = await startBare(answers);
    const bareClient = new Client(bare.url);
    try {
      const rows: Row[] = [];
      for (const [what, run] of Object.entries(writesOf(client))) {
        say(what);
        const theirs = await latencies(bareClient, () => calls[what] as Call, turns);
        rows.push({ what: `${what}, ms`, ours: median(await run()), baseline: median(theirs), against: 'bare route, same bytes' });
      }
      for (const what of ['version', 'qemu/binaries']) rows.push(await readsOf(what, calls[what] as Call, { ours, bare, say }));
      return [...rows, await measureIdle(say)];
    } finally {
      await bareClient.close();
      await bare.stop();
    }
  } finally {
    await client.close();
    await ours.stop();
  }
}

interface Answered extends Call {
  readonly status: number;
  readonly text: string;
}

const qemuNode = (name: string) => ({ name, node_type: 'qemu', compute_id: 'local', properties: { ram: 64, adapters: 2 } });

/** Each operation once, with its answer. */
async function callsOf(client: Client): Promise<Record<string, Answered>> {
  const ask = async (method: Call['method'], path: string, body?: object): Promise<Answered> => {
    const answer = await client.request({ method, path, ...(body && { body: JSON.stringify(body) }) });
    const call = { method, path, ...(body && { body }) };
    return { ...call, status: answer.statusCode, text: await answer.body.text() };
  };
  const project = await ask('POST', '/v2/projects', { name: 'recorded' });
  const path = `/v2/projects/${JSON.parse(project.text).project_id}`;
  return {
    'create project': project,
    'create qemu node': await ask('POST', `${path}/nodes`, qemuNode('recorded')),
    'duplicate a project of ten nodes': await ask('POST', `${path}/duplicate`, { name: 'copy' }),
    version: await ask('GET', '/v2/version'),
    'qemu/binaries': await ask('GET', '/v2/compute/qemu/binaries'),
    'delete project': await ask('DELETE', path),
  };
}

/** Writes to repeat, in an order in which each has what it needs. Milliseconds of each. */
function writesOf(client: Client): Record<string, () => Promise<number[]>> {
  const made: string[] = [];
  const create = (name: string) => request(client, { method: 'POST', path: '/v2/projects', body: { name } });
  const pathOf = (project: unknown) => `/v2/projects/${(project as { project_id: string }).project_id}`;
  const keep = async (answer: unknown) => void made.push(pathOf(answer));
  return {
    'create project': () =>
      latencies(client, (turn) => ({ method: 'POST', path: '/v2/projects', body: { name: `P${turn}` } }), turns, keep),
    'create qemu node': async () => {
      const path = pathOf(await create('nodes'));
      return latencies(client, (turn) => ({ method: 'POST', path: `${path}/nodes`, body: qemuNode(`Q${turn}`) }), turns);
    },
    'duplicate a project of ten nodes': async () => {
      const path = pathOf(await create('original'));
      const node = (at: number) => ({ name: `PC${at}`, node_type: 'vpcs', compute_id: 'local' });
      for (let at = 0; at < nodesOfCopy; at++) await request(client, { method: 'POST', path: `${path}/nodes`, body: node(at) });
      return latencies(client, (turn) => ({ method: 'POST', path: `${path}/duplicate`, body: { name: `C${turn}` } }), turns, keep);
    },
    'delete project': () => latencies(client, () => ({ method: 'DELETE', path: made.pop() ?? '' }), turns),
  };
}

async function readsOf(
  what: string,
  call: Call,
  { ours, bare, say }: { ours: Running; bare: Running; say: (text: string) => void },
): Promise<Row> {
  say(what);
  const figures: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    figures[0].push(await throughput(ours.url, call));
    figures[1].push(await throughput(bare.url, call));
  }
  return { what: `${what}, requests/s`, ours: median(figures[0]), baseline: median(figures[1]), against: 'bare route, same bytes' };
}

/**
 * Measures the memory of servers started for this purpose; pages shared with other processes are divided by the number of these.
 */
async function measureIdle(say: (text: string) => void): Promise<Row> {
  say('memory of an idle server');
  const servers = [await startPatchbay(), await startBare([])] as const;
  try {
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    const [ours, baseline] = await Promise.all(servers.map(({ pid }) => residentMiB(pid)));
    return { what: 'memory of an idle server (PSS), MiB', ours: ours ?? 0, baseline: baseline ?? 0, against: 'a bare Fastify' };
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** @see proc(5), /proc/PID/smaps_rollup */
async function residentMiB(pid: number): Promise<number> {
  const [, kib] = /^Pss:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
  return Number(kib) / megabyte;
}
