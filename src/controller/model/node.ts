/**
 * A node's data: its stored fields, those known only while the project is open, and requests to its compute. Nothing here does I/O.
 */
import { isDeepStrictEqual } from 'node:util';
import { fault } from '../../api/faults.ts';
import type { Kind } from '../../emulators/kind.ts';
import { kinds } from '../../emulators/kinds.ts';
import {
  type ConsoleType,
  type Label,
  labelOffset,
  type Node,
  type NodeCreate,
  type NodeStatus,
  type NodeType,
  type NodeUpdate,
  type Port,
} from '../../schema/node.ts';
import { unusableMark } from '../../schema/problem-marks.ts';
import { canonical } from './canonical.ts';
import { type Size, symbolOf } from './symbol.ts';
import { type NodeEntry, toNodeEntry } from './topology.ts';

/** The node object of the API. A label that a client gave is kept as it was given. */
export type NodeObject = Readonly<Omit<Node, 'label'> & { label: Label }>;

/** State of a node that only its compute knows. */
export interface NodeLive {
  readonly command_line: string | null;
  readonly node_directory: string | null;
  readonly status: NodeStatus;
  /** The slice has stopped the node on its own. */
  readonly interrupted: boolean;
}
export const unknownLive: NodeLive = Object.freeze({
  command_line: null,
  node_directory: null,
  status: 'stopped',
  interrupted: false,
});

/** The node object of a compute's API: other keys than these are the node's properties. */
export type ComputeNodeObject = Readonly<Record<string, unknown>>;

export function findKind(type: NodeType): Kind | undefined {
  return kinds[type];
}

/** @throws `node_type_unavailable` */
export function kindOf(type: NodeType): Kind {
  const kind = findKind(type);
  if (!kind) throw fault('node_type_unavailable', { node_type: type, reason: 'this server does not have this type yet' });
  return kind;
}

/** Lists the ports of a node; none for types that only another program knows, whose nodes are kept as found. */
export function portsOf(entry: NodeEntry): readonly Port[] {
  return canonical(kinds[entry.node_type]?.ports(entry.properties, entry) ?? []);
}

/** A new node as it is asked for, with the size of its symbol; the compute completes it. */
export function newNodeEntry(body: NodeCreate, name: string, size: Size): NodeEntry {
  const kind = kindOf(body.node_type);
  const symbol = symbolOf(body.symbol);
  return toNodeEntry({
    port_name_format: kind.defaults.port_name_format,
    port_segment_size: kind.defaults.port_segment_size,
    ...body,
    // A compute that cannot make the node yet does not complete it.
    console_type: body.console_type ?? kind.defaults.console_type,
    label: body.label ? { ...body.label, text: name } : defaultLabel(name, size.height),
    name,
    symbol,
    width: size.width,
    height: size.height,
  });
}

function defaultLabel(name: string, height: number): Label {
  return { rotation: 0, style: null, text: escapeHtml(name), x: null, y: labelOffset(height) };
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#x27;');
}

/** The node after a client's change, as far as the controller decides it; properties are the compute's. `size`: of its symbol then. */
export function changedEntry(entry: NodeEntry, body: NodeUpdate, name: string, size: Size): NodeEntry {
  const symbol = body.symbol === undefined ? entry.symbol : symbolOf(body.symbol);
  const adapters = body.custom_adapters ?? (body.properties?.custom_adapters as NodeEntry['custom_adapters'] | undefined);
  const wanted: Partial<NodeEntry> = {
    // Null stands for no choice, on the compute too: its answer has the port.
    ...(typeof body.console === 'number' && { console: body.console }),
    ...(body.console_auto_start !== undefined && { console_auto_start: body.console_auto_start }),
    ...(body.console_type && { console_type: body.console_type }),
    ...(adapters !== undefined && { custom_adapters: adapters }),
    ...(body.first_port_name !== undefined && { first_port_name: body.first_port_name }),
    ...(body.locked !== undefined && { locked: body.locked }),
    ...(body.port_name_format !== undefined && { port_name_format: body.port_name_format }),
    ...(body.port_segment_size !== undefined && { port_segment_size: body.port_segment_size }),
    ...(body.x !== undefined && { x: body.x }),
    ...(body.y !== undefined && { y: body.y }),
    ...(body.z !== undefined && { z: body.z }),
  };
  return canonical({
    ...entry,
    ...wanted,
    width: size.width,
    height: size.height,
    symbol,
    name,
    label: changedLabel(entry, body, name),
  });
}

/** The text follows the name; a new name is centred again. */
function changedLabel(entry: NodeEntry, body: NodeUpdate, name: string): Label {
  if (body.label) return { ...body.label, text: name };
  return name === entry.name ? entry.label : { ...entry.label, text: escapeHtml(name), x: null };
}

/** Properties that a client gives and that are not so already. */
export function changedProperties(entry: NodeEntry, body: NodeUpdate): Record<string, unknown> {
  const changed: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(body.properties ?? {})) {
    if (key !== 'custom_adapters' && !isDeepStrictEqual(canonical(value), entry.properties[key])) changed[key] = value;
  }
  return changed;
}

/** Fields that are never sent to computes. */
const controllerOnly = new Set([
  'category',
  'console_auto_start',
  'console_host',
  'first_port_name',
  'height',
  'label',
  'locked',
  'port_name_format',
  'port_segment_size',
  'ports',
  'symbol',
  'width',
  'x',
  'y',
  'z',
]);

function sendable(properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isSent = ([key, value]: [string, unknown]) => value !== null && !controllerOnly.has(key) && !isEmptyObject(value);
  return Object.fromEntries(Object.entries(properties).filter(isSent));
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}

/** Builds the request that creates the node on its compute. `extra`: contents of files that the properties named. */
export function createBody(entry: NodeEntry, extra: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    ...sendable({ ...entry.properties, ...extra }),
    name: entry.name,
    node_id: entry.node_id,
    ...(entry.console !== null && { console: entry.console }),
    ...(hasConsole(entry) && { console_type: entry.console_type }),
    ...(entry.custom_adapters.length > 0 && { custom_adapters: entry.custom_adapters }),
  };
}

/** Builds the request for a changed node; undefined when its compute is not concerned by the change. */
export function updateBody(
  before: NodeEntry,
  after: NodeEntry,
  properties: Record<string, unknown>,
): Record<string, unknown> | undefined {
  const isOther = (key: keyof NodeEntry) => !isDeepStrictEqual(before[key], after[key]);
  const emptied = (kinds[before.node_type]?.emptiable ?? []).filter(
    (key) => properties[key] === null && (before.properties[key] ?? null) !== null,
  );
  const body: Record<string, unknown> = {
    ...sendable(properties),
    ...Object.fromEntries(emptied.map((key) => [key, null])),
    ...(isOther('name') && { name: after.name }),
    ...(isOther('console') && after.console !== null && { console: after.console }),
    ...(isOther('console_type') && hasConsole(after) && { console_type: after.console_type }),
    ...(isOther('custom_adapters') && { custom_adapters: after.custom_adapters }),
  };
  return Object.keys(body).length === 0 ? undefined : body;
}

function hasConsole(entry: NodeEntry): boolean {
  return entry.console_type !== null && (kinds[entry.node_type]?.consoleTypes.length ?? 0) > 0;
}

/** Keys of a compute's node object that are not properties. */
const notProperties = new Set([
  'command_line',
  'console',
  'console_host',
  'console_type',
  'custom_adapters',
  'interrupted',
  'name',
  'node_directory',
  'node_id',
  'private_config_content',
  'project_id',
  'startup_config_content',
  'startup_script',
  'status',
]);

/** The node after an answer or event of its compute. Gives back the same objects when nothing is different. */
export function merge(entry: NodeEntry, live: NodeLive, answer: ComputeNodeObject): { entry: NodeEntry; live: NodeLive } {
  const properties: Record<string, unknown> = { ...entry.properties };
  for (const [key, value] of Object.entries(answer)) {
    if (notProperties.has(key)) delete properties[key];
    else properties[key] = value;
  }
  const mergedEntry = canonical<NodeEntry>({
    ...entry,
    console: 'console' in answer ? (answer.console as number | null) : entry.console,
    console_type: 'console_type' in answer ? (answer.console_type as ConsoleType | null) : entry.console_type,
    properties,
  });
  const mergedLive = mergeLive(live, answer);
  return { entry: isDeepStrictEqual(mergedEntry, entry) ? entry : mergedEntry, live: mergedLive };
}

/** A compute that shows no command line of a node shows one all the same while the node lacks something. */
const withoutLack = ({ command_line }: NodeLive) => (lackIn(command_line) === undefined ? command_line : null);

/** Returns what a node lacks, as its compute says in its command line; undefined: nothing. */
export function lackIn(commandLine: string | null): string | undefined {
  return commandLine?.startsWith(unusableMark) ? commandLine.slice(unusableMark.length) : undefined;
}

export function mergeLive(live: NodeLive, answer: ComputeNodeObject): NodeLive {
  const merged: NodeLive = {
    command_line: 'command_line' in answer ? (answer.command_line as string | null) : withoutLack(live),
    node_directory: 'node_directory' in answer ? (answer.node_directory as string | null) : live.node_directory,
    status: (answer.status as NodeStatus | undefined) ?? live.status,
    interrupted: answer.status === undefined ? live.interrupted : answer.interrupted === true,
  };
  return isDeepStrictEqual(merged, live) ? live : Object.freeze(merged);
}
