/** What a project file and its log say together: the file is a snapshot, the log's records are the changes since. */
import { basename } from 'node:path';
import { fault } from '../../api/faults.ts';
import { Journal, JournalDamaged } from '../../lib/journal.ts';
import type { LinkInput } from '../../schema/link.ts';
import type { NodeCreate } from '../../schema/node.ts';
import { canonical } from '../model/canonical.ts';
import {
  type ComputeEntry,
  type DrawingEntry,
  type LinkEntry,
  type NodeEntry,
  type ProjectEntry,
  readProjectEntry,
  readTopology,
  type Topology,
  toDrawingEntry,
  toLinkEntry,
  toNodeEntry,
} from '../model/topology.ts';

/** UDP ports of a link's two ends, in the order of the ends. */
export type UdpPorts = readonly [number, number];

/**
 * One change. `event` is what listeners are sent; of nodes only what is stored of them, as their ports follow from it and can be many.
 * `was` is what it takes to undo it (in the form of the file).
 */
export interface LogRecord {
  readonly seq: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Who asked for it, as well as it can be told. */
  readonly by: string | null;
  /** What was asked for in one request is one step, named for its first change. Absent: nobody asked, or it is not undone. */
  readonly step?: number;
  /** The step that this one takes back. */
  readonly inverts?: number;
  readonly action: string;
  readonly event: object;
  readonly was: object | null;
  /** On links: where the frames go, so that links of running nodes are found again after a restart. */
  readonly udp_ports?: UdpPorts;
}

/** A line of a log: one change, or several that stand or fall together. */
export type LogLine = LogRecord | readonly LogRecord[];

/** Stands first in a log: everything up to `seq` is in the project file. */
export const snapshotAction = 'project.snapshot';
/** Said before a node is taken from its compute, so that a full disk is noticed while nothing is lost yet. */
export const deletingAction = 'node.deleting';
/** A step was taken back of which nothing was left to take back. */
export const emptyAction = 'step.empty';

export interface ProjectState {
  project: ProjectEntry;
  readonly nodes: Map<string, NodeEntry>;
  readonly links: Map<string, LinkEntry>;
  readonly drawings: Map<string, DrawingEntry>;
  readonly computes: readonly ComputeEntry[];
  readonly udpPorts: Map<string, UdpPorts>;
  /** Number of the last change. */
  seq: number;
  readonly upgradedFrom?: number;
}

export function logPath(projectFile: string): string {
  return `${projectFile}.log`;
}

/** Reads a project without touching anything. @throws as `readTopology` */
export async function readProject(projectFile: string): Promise<ProjectState> {
  const { topology, upgradedFrom } = await readTopology(projectFile);
  const state = stateOf(topology, upgradedFrom);
  replay(state, await readLog(projectFile), projectFile);
  return state;
}

/** What is listed of a project, as the file and its log say. @throws as `readTopology` */
export async function readListed(projectFile: string): Promise<ProjectEntry> {
  let entry = await readProjectEntry(projectFile);
  for (const record of await readLog(projectFile)) {
    if (record.action === 'project.updated') entry = toProjectEntry(entry, record.event);
  }
  return entry;
}

async function readLog(projectFile: string): Promise<LogRecord[]> {
  try {
    return (await Journal.read<LogLine>(logPath(projectFile))).flat();
  } catch (error) {
    throw damaged(projectFile, error);
  }
}

export function damaged(projectFile: string, error: unknown): unknown {
  if (!(error instanceof JournalDamaged)) return error;
  return fault('project_damaged', { name: basename(projectFile), reason: error.message }, { cause: error });
}

export function stateOf(topology: Topology, upgradedFrom?: number): ProjectState {
  return {
    project: topology.project,
    nodes: new Map(topology.nodes.map((node) => [node.node_id, node])),
    links: new Map(topology.links.map((link) => [link.link_id, link])),
    drawings: new Map(topology.drawings.map((drawing) => [drawing.drawing_id, drawing])),
    computes: topology.computes,
    udpPorts: new Map(),
    seq: 0,
    ...(upgradedFrom !== undefined && { upgradedFrom }),
  };
}

/**
 * Records carry whole objects, so it does no harm when the first of them are in the snapshot already (a crash came between the new
 * snapshot and the new log).
 */
export function replay(state: ProjectState, records: readonly LogRecord[], projectFile: string): void {
  for (const record of records) {
    state.seq = Math.max(state.seq, record.seq);
    if (!apply(state, record)) {
      const reason = `record ${record.seq} of its log has the unknown action ${record.action}`;
      throw fault('project_damaged', { name: basename(projectFile), reason });
    }
  }
}

function apply(state: ProjectState, { action, event, udp_ports }: LogRecord): boolean {
  switch (action) {
    case snapshotAction:
      for (const [linkId, ports] of Object.entries((event as { udp_ports?: Record<string, UdpPorts> }).udp_ports ?? {})) {
        state.udpPorts.set(linkId, ports);
      }
      return true;
    case deletingAction:
    case emptyAction:
      return true;
    case 'project.updated':
      state.project = toProjectEntry(state.project, event);
      return true;
    case 'node.created':
    case 'node.updated': {
      const node = toNodeEntry(event as NodeCreate);
      state.nodes.set(node.node_id, node);
      return true;
    }
    case 'node.deleted':
      state.nodes.delete((event as NodeEntry).node_id);
      return true;
    case 'link.created':
    case 'link.updated': {
      const link = toLinkEntry(event as LinkInput);
      if (link) state.links.set(link.link_id, link);
      if (link && udp_ports) state.udpPorts.set(link.link_id, udp_ports);
      return link !== undefined;
    }
    case 'link.deleted':
      state.links.delete((event as LinkEntry).link_id);
      state.udpPorts.delete((event as LinkEntry).link_id);
      return true;
    default:
      return applyToDrawing(state, action, event as Partial<DrawingEntry> & { drawing_id: string });
  }
}

/** `drawing.updated` comes without the picture when that did not change. */
function applyToDrawing(state: ProjectState, action: string, event: Partial<DrawingEntry> & { drawing_id: string }): boolean {
  if (action === 'drawing.deleted') {
    state.drawings.delete(event.drawing_id);
    return true;
  }
  if (action !== 'drawing.created' && action !== 'drawing.updated') return false;
  state.drawings.set(event.drawing_id, toDrawingEntry({ ...state.drawings.get(event.drawing_id), ...event }));
  return true;
}

/** The stored fields of a project object. */
export function toProjectEntry(before: ProjectEntry, given: object): ProjectEntry {
  const fields = given as Record<string, unknown>;
  const changed = Object.keys(before).map((key) => [key, key in fields ? fields[key] : (before as Record<string, unknown>)[key]]);
  return canonical(Object.fromEntries(changed)) as ProjectEntry;
}

export function topologyOf(state: ProjectState): Topology {
  return {
    project: state.project,
    nodes: [...state.nodes.values()],
    links: [...state.links.values()],
    drawings: [...state.drawings.values()],
    computes: state.computes,
  };
}
