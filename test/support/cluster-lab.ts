/**
 * A lab over hosts that an engine gives: two slices, on each a PC and a machine that writes to its disk all the time; the PCs are linked.
 * While it exists, the processes of the machines are counted again and again: never two on one disk.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import type { ProjectPlacement } from '../../src/controller/placement/placement-request.ts';
import type { LinkStats } from '../../src/schema/link-stats.ts';
import type { SliceObject } from '../../src/schema/slice.ts';
import type { HostNetwork } from './host-network.ts';
import { type LeftProcess, processesNamed, processesOf, runtimeDirectoryOf } from './leftovers.ts';
import type { RawClient } from './raw-http.ts';
import type { RunningServer } from './server.ts';
import { waitFor } from './wait-for.ts';
import { openWebSocket } from './web-socket.ts';
import { createNode, createProject, end, idleVm, type NodeBody, type ProjectHandle } from './with-server.ts';
import { countOn, writerDisk } from './writer-disk.ts';

/** Hosts, and the programs that give them to slices. */
export interface LabHosts {
  readonly network: HostNetwork;
  /** Names that the engine gives the hosts, in the order of `network.hosts`. */
  readonly names: readonly string[];
  /** Programs of the engine that are killed, and started again, by name. */
  readonly daemons: Readonly<Record<string, () => Promise<void>>>;
  /** All that the engine has of our slices that has not ended: jobs, pods. */
  readonly placed: () => Promise<number>;
  /** All processes of a host end at once. */
  readonly powerOff: (host: number) => Promise<void>;
  /** Drains a host as an administrator, who also ends the drain. */
  readonly drain: (host: number, isDrained: boolean) => Promise<void>;
  readonly powerOn: (host: number) => Promise<void>;
}

export interface ClusterLabParts {
  readonly server: RunningServer;
  readonly client: RawClient;
  readonly hosts: LabHosts;
  /** Where the data folders of slices are, by their ids. */
  readonly data: string;
  /** All processes of a slice with this data folder, wherever they run; command lines have its path on this machine. */
  readonly processesOf?: (folder: string) => Promise<LeftProcess[]>;
  /** Output of a slice, where the engine keeps it. */
  readonly outputOf?: (slice: string) => Promise<string>;
}

/** Command lines. */
export const serverOf = /^\S*node \S+ compute --join/;
export const fabricOf = /fabric\/main/;
export const guardOf = /slice\/guard/;
const machineOf = /^\S*qemu-system\S* .*?([^ =,:"]*\/hda_disk\.qcow2)/;
const diskPath = /\/project-files\/qemu\/[^/]*\/hda_disk\.qcow2$/;
const image = 'writer.img';
/** Delay of the link between the PCs, in each direction. */
export const linkDelayMs = 40;
/** Limit for a lab that hangs: a busy machine takes long to place a slice and to start a guest. */
const settleMs = 180_000;
const watchMs = 400;

export class ClusterLab {
  readonly #parts: ClusterLabParts;
  readonly project: ProjectHandle;
  readonly slices: readonly string[];
  readonly #nodes: NodeBody[] = [];
  /** Bytes of the image of the disks, and bytes that the controller sent to hosts while the nodes were made. */
  imageBytes = { size: 0, sent: 0 };
  #link = '';
  readonly #tooMany: string[] = [];
  readonly #stop = new AbortController();
  #watching: Promise<void> = Promise.resolve();

  private constructor(parts: ClusterLabParts, project: ProjectHandle, slices: readonly string[]) {
    this.#parts = parts;
    this.project = project;
    this.slices = slices;
  }

  /** `order`: of each slice. */
  static async make(parts: ClusterLabParts, order: object): Promise<ClusterLab> {
    const { client } = parts;
    const ordered = [await client.post<SliceObject>('/v2/slices', order), await client.post<SliceObject>('/v2/slices', order)];
    const disk = writerDisk();
    assert.equal((await client.send(`POST /v2/compute/qemu/images/${image}`, { raw: disk })).status, 204);
    const project = await createProject(client, { auto_close: false });
    const lab = new ClusterLab(
      parts,
      project,
      ordered.map(({ compute_id }) => compute_id),
    );
    await lab.#untilJoined();
    const before = await parts.hosts.network.sentBytes();
    await lab.#build();
    lab.imageBytes = { size: disk.length, sent: (await parts.hosts.network.sentBytes()) - before };
    lab.#watching = lab.#watch();
    return lab;
  }

  get client(): RawClient {
    return this.#parts.client;
  }
  get server(): RunningServer {
    return this.#parts.server;
  }
  get hosts(): LabHosts {
    return this.#parts.hosts;
  }

  /** Index of the slice's host. @throws while it is on none */
  async hostOf(slice: string): Promise<number> {
    const { host } = (await this.#list()).find(({ compute_id }) => compute_id === slice) ?? {};
    const index = this.hosts.names.indexOf(host ?? '');
    assert.notEqual(index, -1, `the host of a slice: ${host}`);
    return index;
  }

  async nodesOn(slice: string): Promise<NodeBody[]> {
    const nodes = await this.client.get<NodeBody[]>(`${this.project.path}/nodes`);
    return nodes.filter(({ compute_id }) => compute_id === slice);
  }

  /** All processes of a slice, wherever they run. */
  processes(slice: string): Promise<LeftProcess[]> {
    return (this.#parts.processesOf ?? processesOfFolder)(join(this.#parts.data, slice));
  }

  /** Every slice has joined, every node runs, the PCs reach each other, and nothing runs or is placed twice. */
  async settle(what: string): Promise<void> {
    const seen = { text: '' };
    const isSettled = async () => {
      seen.text = await this.#disorder().catch((error: Error) => error.message);
      return seen.text === '';
    };
    const fail = async (error: Error) => {
      throw new Error(`${error.message}: ${seen.text}\n${await this.#circumstances()}`, { cause: error });
    };
    await waitFor(isSettled, { what, everyMs: 500, limitMs: settleMs }).catch(fail);
    assert.deepEqual(this.#tooMany, [], 'two machines ran on one disk');
  }

  /** Ends everything, and checks the disks. */
  async end(): Promise<void> {
    await this.client.post(`${this.project.path}/nodes/stop`, {}, 204);
    const scratch = await mkdtemp(join(tmpdir(), 'pb-count-'));
    try {
      const disks = (await readdir(this.#parts.data, { recursive: true })).filter((path) => diskPath.test(path));
      assert.equal(disks.length, this.slices.length, 'a disk for each machine');
      for (const disk of disks) {
        const [slice = ''] = disk.split('/');
        const below = join(this.#parts.data, slice, 'images/QEMU', image);
        assert.ok((await countOn(join(this.#parts.data, disk), join(scratch, 'sector'), below)) > 0);
      }
    } finally {
      await rm(scratch, { recursive: true });
    }
    await this.close();
    assert.deepEqual(this.#tooMany, [], 'two machines ran on one disk');
  }

  /** Processes are not counted any more. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#watching;
  }

  #list(): Promise<SliceObject[]> {
    return this.client.get<SliceObject[]>('/v2/slices');
  }

  async #untilJoined(): Promise<void> {
    const joined = async () => (await this.#list()).filter(({ state }) => state === 'joined').length === this.slices.length;
    await waitFor(joined, { what: 'the slices of a lab', everyMs: 100, limitMs: settleMs }).catch(async (error: Error) => {
      throw new Error(`${error.message}\n${await this.#circumstances()}`, { cause: error });
    });
  }

  /** State of the lab for the message of a failure. */
  async #circumstances(): Promise<string> {
    const processes = (await Promise.all(this.slices.map((slice) => this.processes(slice)))).flat();
    const lines = processes.map(({ pid, commandLine }) => `${pid} ${commandLine.slice(0, 160)}`);
    const slices = (await this.#list()).map(({ findings: _findings, ...slice }) => JSON.stringify(slice));
    const outputs = await Promise.all(this.slices.map((slice) => this.#parts.outputOf?.(slice) ?? ''));
    const link = await this.linkStats().catch((error: Error) => error.message);
    const problems = await this.client.get<unknown[]>(`${this.project.path}/problems`).catch((error: Error) => [error.message]);
    const logs = [
      JSON.stringify({ link, problems }),
      this.server.log().slice(-6000),
      ...outputs.map((output) => output.slice(-3000)),
    ];
    return [...slices, ...lines, ...logs].join('\n');
  }

  async #build(): Promise<void> {
    const { client, project } = this;
    const pcs: NodeBody[] = [];
    for (const [index, compute_id] of this.slices.entries()) {
      const startup_script = `ip 10.0.0.${index + 1}/24\n`;
      pcs.push(await createNode(client, project, 'vpcs', { compute_id, properties: { startup_script } }));
      const disk = { hda_disk_image: image, hda_disk_interface: 'ide', boot_priority: 'c' };
      this.#nodes.push(await createNode(client, project, 'qemu', { compute_id, properties: { ...idleVm, ...disk } }));
    }
    this.#nodes.unshift(...pcs);
    const link = { nodes: pcs.map((pc) => end(pc)), filters: { latency: [linkDelayMs] } };
    this.#link = (await client.post<{ link_id: string }>(`${project.path}/links`, link)).link_id;
    await client.post(`${project.path}/nodes/start`, {}, 204);
  }

  /** Empty: there is none. */
  async #disorder(): Promise<string> {
    const slices = await this.#list();
    const states = slices.map(({ state, reason, host }) => `${state} on ${host} (${reason})`);
    // An engine may not know for a while after a crash where a slice runs.
    const isPlaced = ({ state, host }: SliceObject) => state === 'joined' && this.hosts.names.includes(host ?? '');
    if (!slices.every(isPlaced)) return `slices are ${states.join(', ')}`;
    const nodes = await this.client.get<NodeBody[]>(`${this.project.path}/nodes`);
    if (nodes.length !== this.#nodes.length) return `${nodes.length} nodes`;
    const still = nodes.filter(({ status }) => status !== 'started');
    if (still.length > 0)
      return `nodes are ${still.map(({ name, status }) => `${name} ${status}`).join(', ')}: ${await this.#waits()}`;
    const placed = await this.hosts.placed();
    if (placed !== this.slices.length) return `${placed} jobs or pods`;
    let machines = 0;
    for (const slice of this.slices) {
      const lines = (await this.processes(slice)).map(({ commandLine }) => commandLine);
      const countOf = (pattern: RegExp) => lines.filter((line) => pattern.test(line)).length;
      // A slice without links has no fabric.
      for (const pattern of [serverOf, guardOf])
        if (countOf(pattern) !== 1) return `${countOf(pattern)} processes of a slice are ${pattern}`;
      if (countOf(fabricOf) > 1) return `${countOf(fabricOf)} fabrics of a slice`;
      machines += countOf(machineOf);
    }
    if (machines !== this.slices.length) return `${machines} machines`;
    return (await this.ping()) !== undefined ? '' : 'the PCs do not reach each other';
  }

  /** Wanted state of each node, and what it waits for. */
  async #waits(): Promise<string> {
    const { nodes } = await this.client.get<ProjectPlacement>(`${this.project.path}/placement`);
    return nodes
      .map(
        ({ name, compute, wanted, waiting_for, attempts }) =>
          `${name} on ${compute}, wanted ${wanted}, ${attempts} tries, ${waiting_for}`,
      )
      .join('; ');
  }

  /** Round trip of a ping from one PC to the other, ms; undefined: no answer. */
  async ping(): Promise<number | undefined> {
    const socket = await openWebSocket(
      `${this.client.base.origin}${this.project.path}/nodes/${this.#nodes[0]?.node_id}/console/ws`,
    );
    try {
      socket.send(Buffer.from('ping 10.0.0.2 -c 3 -w 900 -i 100\r'));
      const output = () => socket.messages.map(String).join('');
      const outcome = () => /time=[\d.]+ ms|not reachable|seq=3 timeout/.exec(output())?.[0];
      // A PC that still starts loses what is typed: the next look types it again.
      const text = await waitFor(outcome, { what: 'the outcome of a ping', everyMs: 50, limitMs: 6_000 });
      const [, ms] = /time=([\d.]+)/.exec(text) ?? [];
      return ms === undefined ? undefined : Number(ms);
    } finally {
      socket.close();
    }
  }

  linkStats(): Promise<LinkStats> {
    return this.client.get<LinkStats>(`${this.project.path}/links/${this.#link}/stats`);
  }

  /** Never rejects. */
  async #watch(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const processes = (await Promise.all(this.slices.map((slice) => this.processes(slice)))).flat();
      const machines = processes.filter(({ commandLine }) => machineOf.test(commandLine));
      for (const found of Map.groupBy(machines, ({ commandLine }) => machineOf.exec(commandLine)?.[1]).values()) {
        if (found.length > 1) this.#tooMany.push(found.map(({ pid, commandLine }) => `${pid} ${commandLine}`).join('\n'));
      }
      await pass(watchMs);
    }
  }
}

/** The guard has no marker: it must not be among those that it ends. */
async function processesOfFolder(folder: string): Promise<LeftProcess[]> {
  const runtime = await runtimeDirectoryOf(folder, true);
  const guards = processesNamed(` ${runtime} `).filter(({ commandLine }) => guardOf.test(commandLine));
  const unmarked = [...processesNamed(` --data-dir ${folder} `), ...guards];
  const marked = processesOf(folder, runtime).filter(({ pid }) => unmarked.every((process) => process.pid !== pid));
  return [...marked, ...unmarked];
}
