/**
 * The first minute of a server: its start, the first request of each kind a second after the first answer, beside the median of later ones,
 * and the start of the command line.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'undici';
import { median, type Row, request } from './measure.ts';
import { startBare, startPatchbay } from './server.ts';

const rounds = 7;
/** Requests of each kind, the first one included. */
const turns = 30;
/** Pause between the first answer and the first request of a kind. Ms. */
const pauseMs = 1000;
const kinds = ['create project', 'create node', 'create link', 'open page', 'list nodes', 'delete project'] as const;
type Kind = (typeof kinds)[number];
const commands = [['--help'], ['--version'], ['lab', '--help'], ['completion', 'bash']] as const;

export async function benchFirst(say: (text: string) => void): Promise<Row[]> {
  const starts: [number[], number[]] = [[], []];
  const firsts = new Map<Kind, number[]>();
  const steady = new Map<Kind, number[]>();
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`);
    const bare = await startBare([]);
    starts[1].push(bare.startMs);
    await bare.stop();
    const server = await startPatchbay();
    starts[0].push(server.startMs);
    const client = new Client(server.url);
    try {
      await request(client, { method: 'GET', path: '/v2/version' });
      await wait(pauseMs);
      for (const [kind, times] of await timesOf(client)) {
        firsts.set(kind, [...(firsts.get(kind) ?? []), times[0] ?? Number.NaN]);
        steady.set(kind, [...(steady.get(kind) ?? []), median(times.slice(1))]);
      }
    } finally {
      await client.close();
      await server.stop();
    }
  }
  const rows = kinds.map((kind) => ({
    what: `first: ${kind}, ms`,
    ours: median(firsts.get(kind) ?? []),
    baseline: median(steady.get(kind) ?? []),
    against: `median of ${turns - 1} later ones`,
  }));
  return [
    {
      what: 'start to first answer, ms',
      ours: median(starts[0]),
      baseline: median(starts[1]),
      against: 'start of the bare server',
    },
    ...rows,
    ...(await commandRows(say)),
  ];
}

/** Milliseconds of each request, by its kind. */
async function timesOf(client: Client): Promise<Map<Kind, number[]>> {
  const times = new Map<Kind, number[]>();
  const timed = async (kind: Kind, call: Parameters<typeof request>[1]): Promise<unknown> => {
    const began = performance.now();
    const answer = await request(client, call);
    times.set(kind, [...(times.get(kind) ?? []), performance.now() - began]);
    return answer;
  };
  const paths: string[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const project = await timed('create project', { method: 'POST', path: '/v2/projects', body: { name: `P${turn}` } });
    const path = `/v2/projects/${(project as { project_id: string }).project_id}`;
    paths.push(path);
    const ends: object[] = [];
    for (const name of ['PC1', 'PC2']) {
      const body = { name, node_type: 'vpcs', compute_id: 'local' };
      const { node_id } = (await timed('create node', { method: 'POST', path: `${path}/nodes`, body })) as { node_id: string };
      ends.push({ node_id, adapter_number: 0, port_number: 0 });
    }
    await timed('create link', { method: 'POST', path: `${path}/links`, body: { nodes: ends } });
    await timed('open page', { method: 'GET', path: '/' });
    await timed('list nodes', { method: 'GET', path: `${path}/nodes` });
  }
  for (const path of paths) await timed('delete project', { method: 'DELETE', path });
  return times;
}

async function commandRows(say: (text: string) => void): Promise<Row[]> {
  say('commands');
  const program = process.env.PATCHBAY_PROGRAM ?? join(import.meta.dirname, '../src/main.ts');
  const rows: Row[] = [];
  for (const command of commands) {
    const [ours, node]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      ours.push(await runtimeOf([program, ...command]));
      node.push(await runtimeOf(['-e', '0']));
    }
    rows.push({
      what: `patchbay ${command.join(' ')}, ms`,
      ours: median(ours),
      baseline: median(node),
      against: 'Node and nothing else',
    });
  }
  return rows;
}

async function runtimeOf(args: readonly string[]): Promise<number> {
  const began = performance.now();
  await once(spawn(process.execPath, args, { stdio: 'ignore' }), 'exit');
  return performance.now() - began;
}
