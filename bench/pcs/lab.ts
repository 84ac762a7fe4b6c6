/** A server with labs of PCs: of four nodes three are PCs and one is the switch between them. */
import { join } from 'node:path';
import { Connection } from '../../src/fabric/connection/connection.ts';
import { forEachBounded } from '../../src/lib/bounded.ts';
import { readSettings } from '../../src/settings.ts';
import { type Running, startPatchbay } from '../server.ts';

export const groupSize = 4;
export const pcsOfGroup = groupSize - 1;
const limitMs = 600_000;
/** Nodes of one request: it has 1 MiB at most. */
const bulkNodes = 1000;
export const pingsAtOnce = 64;

export interface LabNode {
  readonly node_id: string;
  readonly node_type: string;
  readonly status: string;
}

/** `labs`: copies that exist at the same time. A link has two UDP ports, and each node one of a console. */
export function startLabServer(groups: number, labs: number): Promise<Running> {
  const lastPort = Math.min(65_535, 22_000 + 2 * labs * groups * groupSize);
  const ranges = { udp_start_port_range: 10_000, udp_end_port_range: lastPort, console_end_port_range: lastPort };
  const lines = Object.entries(ranges).map(([key, port]) => `${key} = ${port}\n`);
  return startPatchbay(`[Server]\n${lines.join('')}`);
}

export class PcLab {
  readonly server: Running;
  readonly groups: number;

  constructor(server: Running, groups: number) {
    this.server = server;
    this.groups = groups;
  }

  async ask<T>(method: string, path: string, body?: object): Promise<T> {
    const reply = await fetch(`${this.server.url}/v2${path}`, {
      method,
      signal: AbortSignal.timeout(limitMs),
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text.slice(0, 300)}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  async makeProject(name: string): Promise<string> {
    const { project_id } = await this.ask<{ project_id: string }>('POST', '/projects', { name, auto_close: false });
    return `/projects/${project_id}`;
  }

  /** `first`: of the groups to make; the others exist. */
  async makeGroups(project: string, first = 0, end = this.groups): Promise<void> {
    const perRequest = Math.floor(bulkNodes / groupSize);
    for (let from = first; from < end; from += perRequest) {
      const some = Array.from({ length: Math.min(perRequest, end - from) }, (_, index) => from + index);
      const nodes = some.flatMap((group) => [switchOf(group), ...pcsOf(group).map(pcOf)]);
      const links = some.flatMap((group) =>
        pcsOf(group).map((index, port) => ({ nodes: [portOf(`${index}`, 0), portOf(`S${group}`, port)] })),
      );
      await this.ask('POST', `${project}/bulk`, { nodes, links });
    }
  }

  start(project: string): Promise<void> {
    return this.ask('POST', `${project}/nodes/start`, {});
  }

  nodes(project: string): Promise<LabNode[]> {
    return this.ask('GET', `${project}/nodes`);
  }

  async pcs(project: string): Promise<LabNode[]> {
    return (await this.nodes(project)).filter(({ node_type }) => node_type === 'vpcs');
  }

  /** Every PC has an answer of its neighbour. */
  async ping(pcs: readonly LabNode[]): Promise<void> {
    const connection = await this.connect();
    const [error] = await forEachBounded(pcs.entries(), pingsAtOnce, async ([index, { node_id }]) => {
      const probe = { type: 'ping', to: addressOf(neighbourOf(index)), count: 1, intervalMs: 1000, timeoutMs: 5000 } as const;
      for (;;) {
        const answer = await connection.request({ op: 'probe_pc', pc: node_id, probe }, limitMs);
        if (answer?.type !== 'ping') throw new Error('no answer to a ping');
        if (answer.replies[0]?.ms !== undefined) break;
        // The PC's script still checks whether another host has the address.
        if (answer.failure !== 'no_address') throw new Error(`PC ${index}: ${JSON.stringify(answer)}`);
        await pass(20);
      }
    });
    connection.close();
    if (error !== undefined) throw error;
  }

  async fabricPid(): Promise<number> {
    const connection = await this.connect();
    const { pid } = await connection.request({ op: 'hello' }, limitMs);
    connection.close();
    return pid;
  }

  async connect(): Promise<Connection> {
    const { runtimeDirectory } = await readSettings({ dataDirectory: this.server.folder });
    const connection = await Connection.open(join(runtimeDirectory, 'fabric.sock'));
    if (!connection) throw new Error('there is no fabric');
    return connection;
  }
}

export function pcOf(index: number) {
  const properties = { startup_script: `ip ${addressOf(index)}/8\n` };
  return { ref: `${index}`, name: `PC${index}`, node_type: 'vpcs', compute_id: 'local', properties };
}

export function switchOf(group: number) {
  return { ref: `S${group}`, name: `S${group}`, node_type: 'ethernet_switch', compute_id: 'local' };
}

export function portOf(ref: string, port_number: number) {
  return { ref, adapter_number: 0, port_number };
}

export function addressOf(index: number): string {
  return `10.${Math.floor(index / 62_500)}.${Math.floor(index / 250) % 250}.${(index % 250) + 1}`;
}

function pcsOf(group: number): number[] {
  return Array.from({ length: pcsOfGroup }, (_, of) => group * pcsOfGroup + of);
}

/** Index of the PC whose address a PC pings. */
export function neighbourOf(index: number): number {
  return index - (index % pcsOfGroup) + ((index + 1) % pcsOfGroup);
}

export async function seconds<T>(work: () => Promise<T>): Promise<{ result: T; taken: number }> {
  const since = performance.now();
  const result = await work();
  return { result, taken: (performance.now() - since) / 1000 };
}

export function pass(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
