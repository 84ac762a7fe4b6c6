/** Checks a server after a program: history, the end of all projects, and what is left of them. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { History } from '../../../src/schema/history.ts';
import type { Project } from '../../../src/schema/project.ts';
import { pcsOfFabric } from '../../support/pcs-of-fabric.ts';
import { RawClient } from '../../support/raw-http.ts';
import type { RunningServer } from '../../support/server.ts';
import { topologyOf } from '../../support/undo-walk.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Footprint, footprintOf, leaksOf } from '../attack/footprint.ts';
import { machinesOf, residentMiB } from '../fuzz/state.ts';
import { Violation } from './play.ts';
import type { Stage } from './stage.ts';

const limitMs = 60_000;
/** Garbage that V8 has not collected yet. */
const slackMiB = 250;

/** Idle connections that are kept to a compute and to clients. */
const slackSockets = 8;
/** Network namespaces that a process keeps once it has used them: its own, and that of the links. */
const keptNamespaces = 2;

export interface Baseline {
  readonly footprint: Footprint;
  readonly away: Footprint;
  readonly paths: ReadonlySet<string>;
  readonly residentMiB: number;
}

export async function baselineOf(stage: Stage): Promise<Baseline> {
  const isRemoved = async () => ![...(await stage.paths())].some((path) => path.includes('.patchbay-deleted-'));
  await waitFor(isRemoved, { what: 'folders of deleted projects, removed', limitMs: 120_000 });
  const [footprint, away] = [await footprintOf(stage.server, stage.temporary), await footprintOf(stage.away, stage.temporary)];
  return { footprint, away, paths: await stage.paths(), residentMiB: await residentMiB(stage.server) };
}

/** Undoes each project, redoes it, then opens, closes and deletes it. @throws {Violation} */
export async function endAll(stage: Stage, fresh: ReadonlySet<string>): Promise<void> {
  using client = new RawClient(stage.server.url);
  for (const { project_id, status } of await client.get<Project[]>('/v2/projects')) {
    const path = `/v2/projects/${project_id}`;
    const ask = async (line: string, ...right: number[]) => {
      const reply = await client.send(line, { ...(line.startsWith('POST') && { body: {} }), limitMs });
      if (!right.includes(reply.status))
        throw new Violation(`after the program, ${line}: ${reply.status} ${reply.text().slice(0, 600)}`);
    };
    if (status !== 'opened') await ask(`POST ${path}/open`, 200, 201, 204);
    await walkHistory(client, path, fresh.has(project_id));
    await ask(`POST ${path}/close`, 204);
    await ask(`POST ${path}/open`, 200, 201, 204);
    await ask(`POST ${path}/close`, 204);
    await ask(`DELETE ${path}`, 204);
  }
}

async function walkHistory(client: RawClient, path: string, isFresh: boolean): Promise<void> {
  const ask = async (line: string, body?: object) => {
    const [method, rest = ''] = line.split(' ');
    const reply = await client.send(`${method} ${path}${rest}`, { ...(body && { body }), limitMs });
    if (reply.status >= 300) {
      const { entries } = await client.get<History>(`${path}/history?limit=60`);
      const shown = entries.map(({ seq, step, inverts, action, id, name }) => [seq, step, inverts, action, id, name].join(' '));
      throw new Violation(`${line} of history: ${reply.status} ${reply.text().slice(0, 600)}\n${shown.join('\n')}`);
    }
    return reply.json<unknown>();
  };
  const state = async () => JSON.stringify(await topologyOf(ask));
  const go = async (way: 'undo' | 'redo') => {
    for (let next = (await ask('GET /history')) as History; next[way] !== null; next = (await ask(`POST /${way}`, {})) as History);
    return await state();
  };
  const now = await state();
  const isAtEnd = ((await ask('GET /history')) as History).redo === null;
  const first = await go('undo');
  if (isFresh && first !== '[[],[],[]]') throw new Violation(`undo of everything leaves ${first.slice(0, 1000)}`);
  const last = await go('redo');
  if (isAtEnd && last !== now) throw new Violation(`undo and redo of everything differ: ${differenceOf(now, last)}`);
  const again = await go('undo');
  if (again !== first) throw new Violation(`undo of everything differs the second time: ${differenceOf(first, again)}`);
  // A rewind is undone by itself.
  const { entries } = (await ask('GET /history?limit=1000')) as History;
  if (entries.some(({ action }) => action === 'project.rewound')) return;
  await go('redo');
  if (((await ask('GET /history')) as History).undo !== null) await ask('POST /undo', { until: 0 });
  const atOnce = await state();
  if (atOnce !== first) throw new Violation(`undo of everything at once differs: ${differenceOf(first, atOnce)}`);
}

const run = promisify(execFile);

/** Interfaces in the link namespace of a server, and what `tc` has there. */
async function interfacesOf({ runtimeDirectory }: RunningServer): Promise<string[]> {
  const record = join(runtimeDirectory, 'link-namespace.json');
  const { pid } = JSON.parse(await readFile(record, 'utf8').catch(() => '{}')) as { pid?: number };
  // The holder of a server that has no machines may have ended: the next machine that starts has another one made.
  if (pid === undefined || !existsSync(`/proc/${pid}/ns/net`)) return [];
  const list = async (...words: string[]) =>
    JSON.parse((await run('nsenter', [`--net=/proc/${pid}/ns/net`, ...words])).stdout || '[]') as Record<string, unknown>[];
  const [interfaces, queues] = await Promise.all([list('ip', '-json', 'link'), list('tc', '-json', 'qdisc', 'show')]);
  return [
    ...interfaces.filter(({ ifname }) => ifname !== 'lo').map(({ ifname }) => `interface ${ifname}`),
    ...queues.filter(({ kind }) => kind !== 'noqueue').map(({ kind, dev }) => `queue ${kind} of ${dev}`),
  ];
}

function withSlack({ descriptors, files }: Footprint): Footprint {
  const kept = [...descriptors].map(([key, count]): [string, number] => [
    key,
    key.endsWith('socket') ? count + slackSockets : count,
  ]);
  return { files, descriptors: new Map([...kept, ['server net', keptNamespaces], ['fabric net', keptNamespaces]]) };
}

function differenceOf(one: string, other: string): string {
  const at = [...one].findIndex((letter, index) => letter !== other[index]);
  const from = Math.max(0, at - 100);
  return `…${one.slice(from, at + 200)} became …${other.slice(from, at + 200)}`;
}

/** @throws {Violation} for resources beyond those of the baseline */
export async function checkNothingLeft(stage: Stage, before: Baseline): Promise<void> {
  using client = new RawClient(stage.server.url);
  using away = stage.clientOfAway();
  const left = async () => {
    const found: string[] = [];
    for (const [server, each, footprint] of [
      [stage.server, client, before.footprint],
      [stage.away, away, before.away],
    ] as const) {
      const { console_ports, udp_ports } = await each.get<{ console_ports: number[]; udp_ports: number[] }>(
        '/v2/compute/network/ports',
      );
      found.push(...console_ports.map((port) => `console port ${port}`), ...udp_ports.map((port) => `UDP port ${port}`));
      found.push(...machinesOf(server).map((line) => `process ${line.slice(0, 200)}`));
      found.push(...(await pcsOfFabric(server)).map((id) => `PC ${id}`), ...(await interfacesOf(server)));
      each.close();
      found.push(...leaksOf(withSlack(footprint), await footprintOf(server, stage.temporary)));
    }
    const paths = await stage.paths();
    return [...found, ...[...paths].filter((path) => !before.paths.has(path)).map((path) => `path ${path}`)];
  };
  await waitFor(async () => (await left()).length === 0, { what: 'nothing left', limitMs: 120_000, everyMs: 300 }).catch(
    async () => {
      throw new Violation(`left after the program: ${(await left()).slice(0, 20).join('\n')}`);
    },
  );
  const resident = await residentMiB(stage.server);
  if (resident > before.residentMiB + slackMiB)
    throw new Violation(`${Math.round(resident)} MiB, before ${Math.round(before.residentMiB)}`);
  const errors = stage.server
    .log()
    .split('\n')
    // A full disk is an error to its owner.
    .filter((line) => /"level":[56]0/.test(line) && !line.includes('ENOSPC'));
  if (errors.length > 0) throw new Violation(`log: ${errors.slice(0, 3).join('\n').slice(0, 3000)}`);
  if (!(await readFile(`/proc/${stage.server.pid}/status`, 'utf8').catch(() => ''))) throw new Violation('the server ended');
}
