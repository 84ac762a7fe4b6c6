/** Content of a project in the form of its file (`.gns3`, revision 9). Source: GNS3's format. */
import type { DrawingInput } from '../../schema/drawing.ts';
import { type Filters, numbersFirst } from '../../schema/filter.ts';
import type { LinkEnd, LinkInput, LinkMirror } from '../../schema/link.ts';
import type { Label, Node, NodeCreate } from '../../schema/node.ts';
import type { OwnProjectFields, Project } from '../../schema/project.ts';
import type { LinkSchedule } from '../../schema/schedule.ts';
import type { Static } from '../../schema/type.ts';
import { canonical } from './canonical.ts';
import { defaultSymbol } from './symbol.ts';
import { builtInSize } from './symbol-sizes.ts';

export const topologyRevision = 9;

/** Stored fields of a node. Its other fields are known only while the project is open. */
export type NodeEntry = Readonly<
  Omit<Node, 'command_line' | 'console_host' | 'label' | 'node_directory' | 'ports' | 'project_id' | 'status'> & { label: Label }
>;
/** Fields of a link beyond the GNS3 API. Null: removed. */
export interface LinkExtras {
  readonly schedule?: LinkSchedule | null;
  readonly mirror?: LinkMirror | null;
}
export interface LinkEntry {
  readonly schedule?: LinkSchedule;
  readonly mirror?: LinkMirror;
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
export type ProjectEntry = Readonly<
  Omit<Project, 'filename' | 'forked_from' | 'name' | 'path' | 'status' | keyof OwnProjectFields> & { name: string }
> &
  OwnProjectFields;

export interface Topology {
  readonly project: ProjectEntry;
  readonly nodes: readonly NodeEntry[];
  readonly links: readonly LinkEntry[];
  readonly drawings: readonly DrawingEntry[];
  readonly computes: readonly ComputeEntry[];
}

/** Extracts the stored part of a node object, or of a node in a file, and completes missing fields by defaults. */
export function toNodeEntry(node: Static<typeof NodeCreate>): NodeEntry {
  const size = builtInSize(node.symbol ?? defaultSymbol);
  return canonical<NodeEntry>({
    compute_id: node.compute_id,
    console: node.console ?? null,
    console_auto_start: node.console_auto_start ?? false,
    console_type: node.console_type ?? null,
    custom_adapters: node.custom_adapters ?? [],
    first_port_name: node.first_port_name ?? null,
    height: node.height ?? size.height,
    label: node.label ?? { text: node.name },
    locked: node.locked ?? false,
    name: node.name,
    node_id: node.node_id ?? crypto.randomUUID(),
    node_type: node.node_type,
    port_name_format: node.port_name_format ?? 'Ethernet{0}',
    port_segment_size: node.port_segment_size ?? 0,
    properties: node.properties ?? {},
    symbol: node.symbol ?? defaultSymbol,
    template_id: node.template_id ?? null,
    width: node.width ?? size.width,
    x: node.x ?? 0,
    y: node.y ?? 0,
    z: node.z ?? 1,
  });
}

/** Extracts the stored part of a link; undefined for a link without id or ends, which was never complete. */
export function toLinkEntry(link: Static<typeof LinkInput> & LinkExtras): LinkEntry | undefined {
  if (link.link_id === undefined || link.nodes?.length !== 2) return undefined;
  return canonical<LinkEntry>({
    filters: numbersFirst((link.filters ?? {}) as Filters),
    link_id: link.link_id,
    link_style: link.link_style ?? {},
    nodes: link.nodes,
    suspend: link.suspend ?? false,
    ...(link.schedule && { schedule: link.schedule }),
    ...(link.mirror && { mirror: link.mirror }),
  });
}

/** The link without what clients of the GNS3 API are not sent. */
export function withoutExtras<T extends LinkExtras>({
  schedule: _schedule,
  mirror: _mirror,
  ...link
}: T): Omit<T, keyof LinkExtras> {
  return link;
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
