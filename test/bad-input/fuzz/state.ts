/** Reads the whole state of a server as a value to compare before and after, and the resources that it holds. */
import { readFile } from 'node:fs/promises';
import { processesOf } from '../../support/leftovers.ts';
import type { RawClient } from '../../support/raw-http.ts';
import { type RunningServer, serverProgram } from '../../support/server.ts';

type Item = Readonly<Record<string, unknown>>;
const parts = ['', '/nodes', '/links', '/drawings', '/snapshots', '/history'];
/** Network interfaces of this host, which other programs change, too. */
const passing = new Set(['interfaces']);

/** State that must be the same after a restart: URL of a list to its response. */
export async function stateOf(client: RawClient): Promise<Record<string, unknown>> {
  const state: Record<string, unknown> = {};
  const projects = await client.get<Item[]>('/v2/projects');
  for (const { project_id, auto_open } of projects) {
    // The next start opens it, closed or not.
    if (auto_open) continue;
    for (const part of parts) {
      const path = `/v2/projects/${project_id}${part}`;
      const reply = await client.send(`GET ${path}`);
      state[path] = reply.status === 200 ? lasting(reply.json()) : `${reply.status} ${reply.text()}`;
    }
  }
  for (const path of ['/v2/gns3vm', '/v2/iou_license', '/v2/symbols']) state[path] = await client.get(path);
  // Changes of built-in objects last until the server ends.
  const templates = await client.get<Item[]>('/v2/templates');
  state['/v2/templates'] = templates.filter(({ builtin }) => !builtin);
  const computes = await client.get<Item[]>('/v2/computes');
  state['/v2/computes'] = computes.map(({ compute_id, name, host, port }) => ({ compute_id, name, host, port }));
  return state;
}

function lasting(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, each: unknown) => (passing.has(key) ? undefined : each)));
}

/** Differences of two states, one line for each list. */
export function differences(before: Record<string, unknown>, after: Record<string, unknown>): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths].flatMap((path) => {
    const [one, other] = [before[path], after[path]];
    if (JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))) return [];
    return [`${path}: ${firstDifference(one, other)}`];
  });
}

function firstDifference(one: unknown, other: unknown, place = ''): string {
  if (typeof one === 'object' && typeof other === 'object' && one && other) {
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      const [a, b] = [(one as Item)[key], (other as Item)[key]];
      if (JSON.stringify(sorted(a)) !== JSON.stringify(sorted(b))) return firstDifference(a, b, `${place}.${key}`);
    }
  }
  return `${place}: ${JSON.stringify(one)?.slice(0, 400)} became ${JSON.stringify(other)?.slice(0, 400)}`;
}

/** Keys in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}

export async function residentMiB(server: RunningServer): Promise<number> {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
}

export function machinesOf(server: RunningServer): string[] {
  const all = processesOf(server.dataDir, server.runtimeDirectory);
  // The link namespace and its tools are there for the next machine.
  const isOwn = (line: string) =>
    line.includes(serverProgram) || /fabric\/main\.ts|^sleep infinity$|^(?:ip|tc) -statistics .*-batch -$/.test(line);
  return all.map(({ commandLine }) => commandLine).filter((line) => !isOwn(line));
}

/** Console ports that nodes of open projects report, and where nothing listens, or two nodes report the same. */
export async function consoleProblems(client: RawClient): Promise<string[]> {
  const { console_ports } = await client.get<{ console_ports: number[] }>('/v2/compute/network/ports');
  const projects = await client.get<Item[]>('/v2/projects');
  const owners = new Map<unknown, string>();
  const problems: string[] = [];
  for (const { project_id, status } of projects) {
    if (status !== 'opened') continue;
    for (const node of await client.get<Item[]>(`/v2/projects/${project_id}/nodes`)) {
      if (node.console === null || node.compute_id !== 'local') continue;
      if (owners.has(node.console))
        problems.push(`console ${node.console} of both ${owners.get(node.console)} and ${node.node_id}`);
      owners.set(node.console, String(node.node_id));
      if (!console_ports.includes(Number(node.console))) problems.push(`console ${node.console} of ${node.node_id} is not taken`);
    }
  }
  return problems;
}
