/**
 * The compute's own memory, durable: which projects and nodes there are, what their ports are joined to, and what it takes to find
 * a running emulator again. One journal; every method resolves when its change is on disk.
 */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fault } from '../api/faults.ts';
import type { BpfInstruction, BpfKey, CompiledExpressions } from '../fabric/protocol.ts';
import { DurableMap } from '../lib/durable-map.ts';
import type { Warn } from '../lib/set-aside.ts';
import { type CaptureSide, gns3CaptureId } from '../schema/capture.ts';
import type { Filters } from '../schema/filter.ts';
import type { NioMirror, NioStream } from '../schema/nio.ts';
import type { ConsoleType, NodeType } from '../schema/node.ts';
import type { RunEnding } from '../schema/node-runs.ts';
import type { LinkSchedule } from '../schema/schedule.ts';

export interface ProjectRecord {
  readonly project_id: string;
  readonly name: string | null;
  /** Folder of the project, absolute. */
  readonly path: string;
  readonly variables: readonly { name: string; value?: string }[] | null;
  /** Where the numbers of its nodes begin. Default 0. */
  readonly number_from?: number;
  /** Incarnation of the controller's project when it was opened here. Default 0. */
  readonly incarnation?: number;
  /** The folder is ours to remove as a whole: it was made for the project, or was a project's already. */
  readonly owned: boolean;
  /** Guests also see that the node at the other end does not run, and containers see what machines see. Default false. */
  readonly replicate_link_state?: boolean;
}

export interface NodeRecord {
  readonly project_id: string;
  readonly node_id: string;
  readonly node_type: NodeType;
  readonly name: string;
  readonly console: number | null;
  readonly console_type: ConsoleType;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Compiled from the expressions of the filters of these names. */
export type BpfTables = { readonly [K in BpfKey]?: readonly BpfInstruction[][] } & {
  /** Tables of the expressions in the steps of the NIO's schedule. */
  readonly expressions?: readonly CompiledExpressions[];
};

/** State of a link's other end, on another compute, as the node sees it. */
interface PeerRecord {
  /** The node at the other end does not run. */
  readonly peer_stopped?: boolean;
  /** Outages of the schedule that runs at the other end. */
  readonly outages?: LinkSchedule;
}

/** A NIO as a client gave it, checked, with what was found out about it. */
export interface NioRecord extends BpfTables, PeerRecord {
  readonly lport: number;
  readonly rhost: string;
  readonly rport: number;
  /** `rhost` as an IP address. */
  readonly address: string;
  readonly filters: Filters;
  readonly suspend: boolean;
  /** Schedule of the filters; _ab applies to frames that leave the node of this NIO. */
  readonly schedule?: LinkSchedule;
  /** The node's port is sent the frames of the link whose NIO has this local port. */
  readonly mirror_of?: number;
  /** The frames of the link are sent to this port of a node of another compute as well; its `rhost` as an IP address is `address`. */
  readonly mirror_to?: NioMirror & { readonly address: string };
  /** The other end is on a compute of ours, and can be reached over TCP. */
  readonly stream?: NioStream;
  /** Files to which the NIO's frames are written whenever the node runs; first the capture that GNS3's API knows. */
  readonly captures?: readonly CaptureRecord[];
}

/** A NIO as 0.1 stored it: the capture of GNS3's API stood apart, under an id of its own. */
interface OldNioRecord extends NioRecord {
  readonly capture?: CaptureRecord;
}

function upgraded({ capture, ...nio }: OldNioRecord): NioRecord {
  return capture ? { ...nio, captures: [{ ...capture, id: gns3CaptureId }, ...capturesOf(nio)] } : nio;
}

export function capturesOf({ captures = [] }: NioRecord): readonly CaptureRecord[] {
  return captures;
}

/** The UDP ports that are its own. */
export function udpPortsOf({ lport, mirror_to }: NioRecord): readonly number[] {
  return mirror_to ? [lport, mirror_to.lport] : [lport];
}

/** Streams are switched off on this compute. */
export function withoutStreams({ stream: _stream, mirror_to, ...datagrams }: NioRecord): NioRecord {
  if (!mirror_to) return datagrams;
  const { stream: _mirrors, ...mirror } = mirror_to;
  return { ...datagrams, mirror_to: mirror };
}

export interface CaptureRecord {
  /** Id among the captures of the port. The record itself, by identity, is one run of a capture: readers follow it to its end. */
  readonly id: string;
  /** Absolute path of the file. */
  readonly path: string;
  readonly file_name: string;
  /** Number of the frames' type in pcap files. */
  readonly link_type: number;
  readonly side: CaptureSide;
  readonly nanoseconds: boolean;
  readonly max_bytes?: number;
  /** End of the capture, milliseconds since 1970. */
  readonly until?: number;
}

/** Exists while the node runs, and while it is interrupted. */
export interface RunRecord {
  /** Data that the driver needs to adopt the emulator. */
  readonly record: Readonly<Record<string, unknown>>;
  readonly status: 'started' | 'suspended';
  readonly command_line: string;
  /** Properties were changed since the start, so a reload must start anew. */
  readonly stale: boolean;
  /** All of the machine was sent to another compute: it stays paused, as it may run there. */
  readonly departed?: true;
  /** The compute has ended the run, or is about to: the node is to run again. */
  readonly interrupted?: true;
  /** Generation with which the node was started; earlier versions, and other clients than a controller of ours, give none. */
  readonly generation?: number;
  /** `bootId()` of the host on which it runs; earlier versions did not note it. */
  readonly boot?: string;
}

/** Record of a run that has ended: users look at its command line, the controller at the rest. */
export interface EndRecord {
  readonly command_line: string;
  readonly generation?: number;
  readonly ending?: RunEnding;
}

/** A node as it is remembered. */
export interface KnownNode {
  readonly record: NodeRecord;
  /** Command line of the last run; empty when there was none. */
  readonly commandLine: string;
  /** Generation of the last run. */
  readonly generation?: number | undefined;
  readonly ending?: RunEnding | undefined;
}

export interface LoadedNode extends KnownNode {
  readonly nios: { readonly adapter: number; readonly port: number; readonly nio: NioRecord }[];
  readonly run?: RunRecord;
}

export class Store {
  readonly #map: DurableMap<unknown>;

  private constructor(map: DurableMap<unknown>) {
    this.#map = map;
  }

  static async open(path: string, warn: Warn): Promise<Store> {
    await mkdir(dirname(path), { recursive: true });
    return new Store(await DurableMap.open<unknown>(path, warn));
  }

  /** Everything, for the start. Parts of nodes that are gone are dropped: a deletion was interrupted. */
  load(): { projects: ProjectRecord[]; nodes: LoadedNode[]; copies: string[] } {
    const projects: ProjectRecord[] = [];
    const copies: string[] = [];
    const nodes = new Map<string, { -readonly [K in keyof LoadedNode]: LoadedNode[K] }>();
    for (const [key, value] of this.#map.entries()) {
      const [what, id = ''] = split(key);
      if (what === 'project') projects.push(value as ProjectRecord);
      else if (what === 'copy') copies.push(id);
      else if (what === 'node') nodes.set(id, { record: value as NodeRecord, commandLine: '', nios: [] });
    }
    const known = new Set(projects.map((project) => project.project_id));
    for (const [id, { record }] of nodes) if (!known.has(record.project_id)) nodes.delete(id);
    for (const [key, value] of [...this.#map.entries()]) {
      const [what, id = ''] = split(key);
      if (what !== 'nio' && what !== 'run' && what !== 'node') continue;
      const node = nodes.get(id.slice(0, 36));
      if (!node) void this.#map.delete(key).catch(() => undefined);
      else if (what === 'run') {
        const { command_line, generation, ending } = value as EndRecord;
        node.commandLine = command_line;
        if (generation !== undefined) node.generation = generation;
        if (ending !== undefined) node.ending = ending;
        if ('record' in (value as RunRecord)) node.run = value as RunRecord;
      } else if (what === 'nio') {
        const [, adapter, port] = id.split('/');
        node.nios.push({ adapter: Number(adapter), port: Number(port), nio: upgraded(value as OldNioRecord) });
      }
    }
    return { projects, nodes: [...nodes.values()], copies };
  }

  setProject(record: ProjectRecord): Promise<void> {
    return this.#set(`project ${record.project_id}`, record);
  }

  deleteProject(projectId: string): Promise<void> {
    return this.#delete([`project ${projectId}`]);
  }

  setNode(record: NodeRecord): Promise<void> {
    return this.#set(`node ${record.node_id}`, record);
  }

  /** The node and all that hangs on it. */
  deleteNode(nodeId: string, ports: readonly { adapter: number; port: number }[]): Promise<void> {
    return this.#delete([`node ${nodeId}`, `run ${nodeId}`, ...ports.map((end) => nioKey(nodeId, end))]);
  }

  setNio(nodeId: string, end: { adapter: number; port: number }, nio: NioRecord): Promise<void> {
    return this.#set(nioKey(nodeId, end), nio);
  }

  deleteNio(nodeId: string, end: { adapter: number; port: number }): Promise<void> {
    return this.#delete([nioKey(nodeId, end)]);
  }

  setRun(nodeId: string, run: RunRecord): Promise<void> {
    return this.#set(`run ${nodeId}`, run);
  }

  /** Notes how a run ended; nothing is kept of one of which nothing is known. */
  endRun(nodeId: string, end: EndRecord): Promise<void> {
    const isKept = end.command_line !== '' || end.ending !== undefined;
    return isKept ? this.#set(`run ${nodeId}`, end) : this.#delete([`run ${nodeId}`]);
  }

  /** Notes a folder that must go if this server dies before the copy in it is complete. */
  beginCopy(path: string): Promise<void> {
    return this.#set(`copy ${path}`, true);
  }

  endCopy(path: string): Promise<void> {
    return this.#delete([`copy ${path}`]);
  }

  close(): Promise<void> {
    return this.#map.close();
  }

  async #set(key: string, value: unknown): Promise<void> {
    await this.#map.set(key, value).catch(refused);
  }

  async #delete(keys: string[]): Promise<void> {
    await Promise.all(keys.map((key) => this.#map.delete(key))).catch(refused);
  }
}

function split(key: string): [what: string, id: string] {
  const space = key.indexOf(' ');
  return [key.slice(0, space), key.slice(space + 1)];
}

function nioKey(nodeId: string, end: { adapter: number; port: number }): string {
  return `nio ${nodeId}/${end.adapter}/${end.port}`;
}

function refused(cause: Error): never {
  throw fault('storage_failed', { reason: cause.message }, { cause });
}
