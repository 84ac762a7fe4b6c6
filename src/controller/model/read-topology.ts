/** Reads project files: small ones at once, others in a thread, and what they hold is taken over in short turns. */

import { basename } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { mapInTurns } from '../../lib/turns.ts';
import { projectDefaults } from '../../schema/project.ts';
import { canonical } from './canonical.ts';
import { linkFromFile } from './link-file.ts';
import { projectFromFile } from './project-file.ts';
import { type ProjectEntry, type Topology, toDrawingEntry, toLinkEntry, toNodeEntry, topologyRevision } from './topology.ts';
import { checkFile, listedEntry, type OldFileFacts, oldFileFacts, type TopologyFile } from './topology-file.ts';
import { readInThread, type Task } from './topology-reader.ts';

interface ReadTopology {
  readonly topology: Topology;
  /** Revision of the file when it was an older one; 0 when it had none. */
  readonly upgradedFrom?: number;
}

/** Parsing and checking so much takes some 10 ms, and no more than 50 whatever it is; a thread takes 100 ms to start. */
export const smallBytes = 256 * 1024;
/** Size limit of a project file on this server, in bytes. Imports and uploads have limits of their own. */
const largestBytes = 400 * 1024 ** 2;

/** @throws `project_damaged`, `project_newer` */
export async function readTopology(path: string): Promise<ReadTopology> {
  const name = basename(path);
  const bytes = await readSmall(path);
  if (bytes) return parseTopology(bytes, name);
  return collect(taskOf(path, 'topology'));
}

/** Reads the listed fields of a project; see `listedEntry`. @throws as `readTopology` */
export async function readProjectEntry(path: string): Promise<ProjectEntry> {
  const bytes = await readSmall(path);
  if (bytes) return listedEntry(bytes, basename(path));
  return canonical(await readValue<ProjectEntry>(taskOf(path, 'entry')));
}

/** Reads the pictures that a file of 1.x names, and its parts without a counterpart. @throws as `readTopology` */
export async function readOldFileFacts(path: string): Promise<OldFileFacts> {
  const bytes = await readSmall(path);
  return bytes ? oldFileFacts(bytes) : readValue<OldFileFacts>(taskOf(path, 'old-facts'));
}

/** Parses a small file that has been read; otherwise like `readTopology`. */
export async function parseTopology(bytes: Buffer, name: string): Promise<ReadTopology> {
  try {
    const { file, revision } = await checkFile(bytes, name);
    const building = new Building(file);
    for (const list of ['computes', 'nodes', 'links', 'drawings'] as const) await building.add(list, file.topology[list]);
    return building.end(revision);
  } catch (error) {
    if (isFault(error)) throw error;
    throw fault('project_damaged', { name, reason: (error as Error).message }, { cause: error });
  }
}

function taskOf(path: string, want: 'topology' | 'entry' | 'old-facts'): Task {
  return { source: path, maxBytes: largestBytes, name: basename(path), want };
}

/** Reads a small file; undefined for one that is too large to be read at once. */
async function readSmall(path: string): Promise<Buffer | undefined> {
  try {
    return await readRegularFile(path, smallBytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw fault('project_damaged', { name: basename(path), reason: (error as Error).message }, { cause: error });
  }
}

async function collect(task: Task): Promise<ReadTopology> {
  let building: Building | undefined;
  let fileRevision = topologyRevision;
  for await (const piece of readInThread(task)) {
    if (piece.what === 'head') {
      building = new Building(JSON.parse(piece.text) as TopologyFile);
      fileRevision = piece.revision;
    } else if (piece.what === 'entries') await building?.add(piece.list, JSON.parse(piece.text) as unknown[]);
  }
  if (!building) throw fault('project_damaged', { name: task.name, reason: 'it could not be read' });
  return building.end(fileRevision);
}

async function readValue<T>(task: Task): Promise<T> {
  for await (const piece of readInThread(task)) if (piece.what === 'value') return JSON.parse(piece.text) as T;
  throw fault('project_damaged', { name: task.name, reason: 'it could not be read' });
}

type FileLists = TopologyFile['topology'];

/** Collects a file's content in the form in which it is kept. */
class Building {
  readonly #project: ProjectEntry;
  readonly #lists: Partial<Record<keyof FileLists, unknown[]>> = {};

  constructor({ topology: _topology, revision: _revision, type: _type, version: _version, ...project }: TopologyFile) {
    this.#project = canonical({ ...projectDefaults, ...projectFromFile(project) }) as ProjectEntry;
  }

  async add(list: keyof FileLists, entries: readonly unknown[]): Promise<void> {
    const make = toEntry[list] as (entry: never) => unknown;
    const made = await mapInTurns(entries as readonly never[], make);
    const kept = this.#lists[list] ?? [];
    // No spread: arguments are put onto the stack.
    for (const entry of made) if (entry !== undefined) kept.push(entry);
    this.#lists[list] = kept;
  }

  end(revision: number): ReadTopology {
    const { nodes = [], links = [], drawings = [], computes = [] } = this.#lists;
    const topology = { project: this.#project, nodes, links, drawings, computes: Object.freeze(computes) } as unknown as Topology;
    return { topology, ...(revision !== topologyRevision && { upgradedFrom: revision }) };
  }
}

const toEntry = {
  computes: ({ user: _user, ...compute }: FileLists['computes'][number]) => canonical(compute),
  nodes: toNodeEntry,
  links: (link: FileLists['links'][number]) => toLinkEntry(linkFromFile(link)),
  drawings: toDrawingEntry,
} as const;
