/**
 * The project file (`.gns3`, revision 9): what stands in it, and reading it. Nothing here writes: a file that cannot be understood is
 * left as it is. Source: GNS3's format.
 */
import { basename } from 'node:path';
import { fault } from '../../api/faults.ts';
import { problemsOf } from '../../api/validate.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { asStored, isUuid, Name, nullable, oneOf, strict } from '../../schema/common.ts';
import { DrawingInput } from '../../schema/drawing.ts';
import type { Filters } from '../../schema/filter.ts';
import { type LinkEnd, LinkInput } from '../../schema/link.ts';
import { type Label, type Node, NodeCreate } from '../../schema/node.ts';
import type { Project } from '../../schema/project.ts';
import { type Static, Type } from '../../schema/type.ts';
import { canonical } from './canonical.ts';
import { linkFromFile } from './link-file.ts';
import { storedProjectFields } from './stored.ts';
import { upgradeFrom1x } from './upgrades/from-1x.ts';
import { oldestRevision, upgrade } from './upgrades/topology-upgrades.ts';

export const topologyRevision = 9;

/** What is stored of a node; the rest of the node object is known only while the project is open. */
export type NodeEntry = Readonly<
  Omit<Node, 'command_line' | 'console_host' | 'label' | 'node_directory' | 'ports' | 'project_id' | 'status'> & { label: Label }
>;
export interface LinkEntry {
  readonly filters: Filters;
  readonly link_id: string;
  readonly link_style: Readonly<Record<string, unknown>>;
  readonly nodes: readonly LinkEnd[];
  readonly suspend: boolean;
}
/** `svg` without `<svg` in it is the name of a file in `project-files/images`. */
export interface DrawingEntry {
  readonly drawing_id: string;
  readonly locked: boolean;
  readonly rotation: number;
  readonly svg: string;
  readonly x: number;
  readonly y: number;
  readonly z: number;
}
export interface ComputeEntry {
  readonly compute_id: string;
  readonly host: string;
  readonly name: string;
  readonly port: number;
  readonly protocol: 'http' | 'https';
}
/** The project's own fields in the file. */
export type ProjectEntry = Readonly<Omit<Project, 'filename' | 'name' | 'path' | 'status'> & { name: string }>;

export interface Topology {
  readonly project: ProjectEntry;
  readonly nodes: readonly NodeEntry[];
  readonly links: readonly LinkEntry[];
  readonly drawings: readonly DrawingEntry[];
  readonly computes: readonly ComputeEntry[];
}

export const projectDefaults: Omit<ProjectEntry, 'name' | 'project_id'> = Object.freeze({
  auto_close: true,
  auto_open: false,
  auto_start: false,
  drawing_grid_size: 25,
  grid_size: 75,
  scene_height: 1000,
  scene_width: 2000,
  show_grid: false,
  show_interface_labels: false,
  show_layers: false,
  snap_to_grid: false,
  supplier: null,
  variables: null,
  zoom: 100,
});

const TopologyFile = asStored(
  Type.Object(
    {
      ...storedProjectFields,
      revision: Type.Integer(),
      type: Type.Literal('topology'),
      version: Type.String(),
      topology: Type.Object(
        {
          nodes: Type.Array(NodeCreate),
          links: Type.Array(LinkInput),
          drawings: Type.Array(DrawingInput),
          computes: Type.Array(
            Type.Object(
              {
                compute_id: Name(),
                host: Type.String(),
                name: Type.String(),
                port: Type.Integer(),
                protocol: oneOf(['http', 'https']),
                user: Type.Optional(nullable(Type.String())),
              },
              strict,
            ),
          ),
        },
        strict,
      ),
    },
    strict,
  ),
);
export type TopologyFile = Static<typeof TopologyFile>;

export interface ReadTopology {
  readonly topology: Topology;
  /** Revision of the file when it was an older one; 0 when it had none. */
  readonly upgradedFrom?: number;
}

/** @throws `project_damaged`, `project_newer` */
export async function readTopology(path: string): Promise<ReadTopology> {
  return parseTopology(await readText(path), basename(path));
}

/**
 * What is listed of a project, without a look at what it holds: that is checked when it is opened. Fields of a wrong type are taken
 * for absent. @throws as `readTopology`
 */
export async function readProjectEntry(path: string): Promise<ProjectEntry> {
  const { raw } = parseFile(await readText(path), basename(path));
  const { name, project_id, ...fields } = raw;
  if (typeof project_id !== 'string' || !isUuid(project_id) || typeof name !== 'string' || name === '') {
    throw fault('project_damaged', { name: basename(path), reason: 'it has no name or no id' });
  }
  const settings = Object.entries(projectDefaults).map(([key, standard]) => {
    const value = fields[key];
    return [key, standard === null ? (value ?? null) : typeof value === typeof standard ? value : standard];
  });
  return canonical({ ...Object.fromEntries(settings), name, project_id }) as ProjectEntry;
}

/** @throws as `readTopology`; `name` is what people know the file by */
export async function parseTopology(text: string, name: string): Promise<ReadTopology> {
  const { raw, revision } = parseFile(text, name);
  const tolerated = tolerate(upgrade(raw, Math.max(revision, oldestRevision)));
  const reason = await problemsOf(TopologyFile, tolerated);
  if (reason !== undefined) throw fault('project_damaged', { name, reason });
  return { topology: toTopology(tolerated as TopologyFile), ...(revision < topologyRevision && { upgradedFrom: revision }) };
}

async function readText(path: string): Promise<string> {
  try {
    return (await readRegularFile(path)).toString('utf8');
  } catch (error) {
    throw fault('project_damaged', { name: basename(path), reason: (error as Error).message }, { cause: error });
  }
}

/** An object of the present structure, of the oldest revision that has it or a later one. `revision`: that of the file. */
function parseFile(text: string, name: string): { raw: Record<string, unknown>; revision: number } {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch (error) {
    throw fault('project_damaged', { name, reason: (error as Error).message }, { cause: error });
  }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    throw fault('project_damaged', { name, reason: 'it is not an object' });
  const revision = (raw as { revision?: unknown }).revision ?? 0;
  if (typeof revision !== 'number' || !Number.isInteger(revision) || revision < 0)
    throw fault('project_damaged', { name, reason: 'its revision is no number of one' });
  if (revision > topologyRevision) throw fault('project_newer', { name, revision, known: topologyRevision });
  if (revision >= oldestRevision) return { raw: raw as Record<string, unknown>, revision };
  try {
    return { raw: upgradeFrom1x(raw as Record<string, unknown>), revision };
  } catch (error) {
    throw fault('project_damaged', { name, reason: (error as Error).message }, { cause: error });
  }
}

/** Deviations of existing files that GNS3 accepts. */
function tolerate(raw: Record<string, unknown>): unknown {
  const { topology, variables } = raw as { topology?: { nodes?: unknown }; variables?: unknown };
  const changed: Record<string, unknown> = { ...raw };
  if (Array.isArray(variables)) changed.variables = variables.filter((variable) => variable?.name);
  if (topology && Array.isArray(topology.nodes)) changed.topology = { ...topology, nodes: topology.nodes.map(tolerateNode) };
  return changed;
}

function tolerateNode(node: unknown): unknown {
  if (typeof node !== 'object' || node === null) return node;
  const { appliance_id, ...rest } = node as Record<string, unknown>;
  if (appliance_id !== undefined && rest.template_id === undefined) rest.template_id = appliance_id;
  if (rest.console_type === null) rest.console_type = 'none';
  return rest;
}

function toTopology(raw: TopologyFile): Topology {
  const { topology, revision: _revision, type: _type, version: _version, ...project } = raw;
  return {
    project: canonical({ ...projectDefaults, ...project }) as ProjectEntry,
    nodes: topology.nodes.map(toNodeEntry),
    links: topology.links.flatMap((link) => toLinkEntry(linkFromFile(link)) ?? []),
    drawings: topology.drawings.map(toDrawingEntry),
    computes: canonical(topology.computes.map(({ user: _user, ...compute }) => compute)),
  };
}

/** The stored part of a node object, or of what stands in a file, with defaults for what is missing. */
export function toNodeEntry(node: Static<typeof NodeCreate>): NodeEntry {
  return canonical<NodeEntry>({
    compute_id: node.compute_id,
    console: node.console ?? null,
    console_auto_start: node.console_auto_start ?? false,
    console_type: node.console_type ?? null,
    custom_adapters: node.custom_adapters ?? [],
    first_port_name: node.first_port_name ?? null,
    height: node.height ?? 59,
    label: node.label ?? { text: node.name },
    locked: node.locked ?? false,
    name: node.name,
    node_id: node.node_id ?? crypto.randomUUID(),
    node_type: node.node_type,
    port_name_format: node.port_name_format ?? 'Ethernet{0}',
    port_segment_size: node.port_segment_size ?? 0,
    properties: node.properties ?? {},
    symbol: node.symbol ?? ':/symbols/computer.svg',
    template_id: node.template_id ?? null,
    width: node.width ?? 65,
    x: node.x ?? 0,
    y: node.y ?? 0,
    z: node.z ?? 1,
  });
}

/** Undefined for a link without id or ends: those were never complete. */
export function toLinkEntry(link: Static<typeof LinkInput>): LinkEntry | undefined {
  if (link.link_id === undefined || link.nodes?.length !== 2) return undefined;
  return canonical<LinkEntry>({
    filters: (link.filters ?? {}) as Filters,
    link_id: link.link_id,
    link_style: link.link_style ?? {},
    nodes: link.nodes,
    suspend: link.suspend ?? false,
  });
}

export function toDrawingEntry(drawing: Static<typeof DrawingInput>): DrawingEntry {
  return canonical<DrawingEntry>({
    drawing_id: drawing.drawing_id ?? crypto.randomUUID(),
    locked: drawing.locked ?? false,
    rotation: drawing.rotation ?? 0,
    svg: drawing.svg ?? '<svg></svg>',
    x: drawing.x ?? 0,
    y: drawing.y ?? 0,
    z: drawing.z ?? 2,
  });
}
