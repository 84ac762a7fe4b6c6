/** Reads a project file together with its log: the file is a snapshot, the log's records are the changes since. */
import { basename } from 'node:path';
import { fault } from '../../api/faults.ts';
import { Journal, JournalDamaged } from '../../lib/journal.ts';
import { readProjectEntry, readTopology } from '../model/read-topology.ts';
import type { ProjectEntry, Topology } from '../model/topology.ts';
import type { StoredState } from './actions/action-rules.ts';
import { applyChange } from './actions/actions.ts';
import { toProjectEntry } from './actions/project-rules.ts';
import { checkRecords } from './read-records.ts';
import type { Action, LogRecord } from './records.ts';

export interface ProjectState extends StoredState {
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
  replay(state, await readLog(projectFile));
  return state;
}

/**
 * Reads the listed fields of a project from its file and log. Other records are checked when the project is opened. @throws as
 * `readTopology`
 */
export async function readListed(projectFile: string): Promise<ProjectEntry> {
  let entry = await readProjectEntry(projectFile);
  const isListed = (record: unknown) => (record as { action?: unknown } | null)?.action === ('project.updated' satisfies Action);
  for (const record of await readLog(projectFile, isListed)) {
    if (record.action === 'project.updated') entry = toProjectEntry(entry, record.event);
  }
  return entry;
}

async function readLog(projectFile: string, isWanted: (record: unknown) => boolean = () => true): Promise<LogRecord[]> {
  try {
    const lines = await Journal.read<unknown>(logPath(projectFile));
    return await checkRecords(lines.flat().filter(isWanted));
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
    pastComputes: new Set([...topology.computes, ...topology.nodes].map(({ compute_id }) => compute_id)),
    udpPorts: new Map(),
    wanted: new Map(),
    deleting: new Set(),
    incarnation: 0,
    seq: 0,
    ...(upgradedFrom !== undefined && { upgradedFrom }),
  };
}

/**
 * Records carry whole objects, so it does no harm when the first of them are in the snapshot already (a crash came between the new
 * snapshot and the new log).
 */
export function replay(state: ProjectState, records: readonly LogRecord[]): void {
  for (const record of records) {
    state.seq = Math.max(state.seq, record.seq);
    applyChange(state, record);
  }
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
