/** Resources that the processes of a server and of its slices use, by kind. Linux only. */
import { readdir, readFile } from 'node:fs/promises';
import { listProcesses, processUsage } from '../../src/process/proc.ts';

export interface Usage {
  readonly processes: number;
  readonly threads: number;
  readonly files: number;
  /** Proportional: a shared page counts in parts. */
  readonly memoryMiB: number;
  readonly cpuSeconds: number;
}

type Part = 'controller' | 'slices' | 'nodes';
export type UsageByPart = Readonly<Record<Part, Usage>>;

const nothing: Usage = { processes: 0, threads: 0, files: 0, memoryMiB: 0, cpuSeconds: 0 };
const readAtOnce = 16;

/** Usage of the server with this pid, and of all processes below it. `nodes`: programs that are not Patchbay's. */
export async function usageBelow(serverPid: number): Promise<UsageByPart> {
  const all = await listProcesses();
  const children = Map.groupBy(all, ({ parent }) => parent);
  const pids = [serverPid];
  // The list grows while it is walked.
  for (const pid of pids) pids.push(...(children.get(pid) ?? []).map((child) => child.pid));
  const usage: Record<Part, Usage> = { controller: nothing, slices: nothing, nodes: nothing };
  for (let first = 0; first < pids.length; first += readAtOnce) {
    const some = pids.slice(first, first + readAtOnce);
    for (const { part, used } of await Promise.all(some.map((pid) => usageOf(pid, serverPid))))
      usage[part] = sum(usage[part], used);
  }
  return usage;
}

async function usageOf(pid: number, serverPid: number): Promise<{ part: Part; used: Usage }> {
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'latin1').catch(() => '');
  const entries = (name: string) => readdir(`/proc/${pid}/${name}`).catch(() => []);
  const [line, memory, usage, threads, files] = await Promise.all([
    ...[read('cmdline'), read('smaps_rollup')],
    processUsage(pid),
    ...[entries('task'), entries('fd')],
  ] as const);
  const part = pid === serverPid ? 'controller' : /\.ts\0|\.js\0/.test(line) ? 'slices' : 'nodes';
  const memoryMiB = Number(/^Pss:\s+(\d+) kB/m.exec(memory)?.[1] ?? 0) / 1024;
  const cpuSeconds = usage?.cpuSeconds ?? 0;
  return { part, used: { processes: 1, threads: threads.length, files: files.length, memoryMiB, cpuSeconds } };
}

function sum(one: Usage, other: Usage): Usage {
  return {
    processes: one.processes + other.processes,
    threads: one.threads + other.threads,
    files: one.files + other.files,
    memoryMiB: one.memoryMiB + other.memoryMiB,
    cpuSeconds: one.cpuSeconds + other.cpuSeconds,
  };
}
