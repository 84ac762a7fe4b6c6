/** Compares the nodes of a lab with those of a project. */
import { isDeepStrictEqual } from 'node:util';
import type { BulkNode } from '../../src/schema/bulk.ts';
import type { Label, Node, NodeUpdate } from '../../src/schema/node.ts';
import { ShapeChecks } from '../file/check-shape.ts';
import type { Lab } from '../file/lab.ts';
import { LabError } from '../file/lab-error.ts';
import { layOut } from '../layout.ts';
import type { Point } from '../layout-shapes.ts';
import type { LabCatalog, LabProjectState } from '../state/lab-state.ts';
import type { Change, NodeStep, WarmStart } from './lab-plan.ts';
import { demandsOf, type WantedContext, type WantedNode, wantedNode } from './wanted-node.ts';

/** Properties that take effect without a restart. */
const liveProperties: ReadonlySet<string> = new Set(['usage', 'on_close']);
/** Fields that make it a different machine. */
const machineFields = ['console_type', 'custom_adapters'] as const;
/** Properties that do not make it a different machine: a machine keeps its addresses. */
const notOfMachine: ReadonlySet<string> = new Set([...liveProperties, 'mac_address']);
/** Most ports of all switches and hubs of a lab: planning them blocks the event loop for some 50 ms. */
const mostPorts = 200_000;
/** Fields whose change needs a restart. */
const restartFields: ReadonlySet<string> = new Set(['console', 'console_type', 'custom_adapters']);

/** Plans the nodes: deletions first, then changes, then new nodes in the order of the file. @throws LabError */
export function planNodes(lab: Lab, state: LabProjectState | undefined, catalog: LabCatalog): NodeStep[] {
  const present = new Map((state?.nodes ?? []).map((node) => [normalName(node.name), node]));
  const context: WantedContext = { catalog, checks: new ShapeChecks(), demands: demandsOf(lab), propertySchemas: new Map() };
  const wanted = wantedNodes(lab, present, context);
  checkMirrors(lab, wanted);
  const places = layOut(lab, state?.nodes ?? []);
  const names = new Set(lab.nodes.map(({ name }) => name));
  const deleted = [...present].filter(([name]) => !names.has(name)).map(([, node]) => deletion(node));
  const others = wanted.flatMap((one) => {
    const node = present.get(one.node.name);
    return node ? changeOf(one, node, state) : creation(one, places.get(one.node.name));
  });
  const rank = ({ action }: NodeStep) => ['delete', 'replace', 'update', 'create'].indexOf(action);
  return [...deleted, ...others.toSorted((one, other) => rank(one) - rank(other))];
}

/** Resolves the nodes of the file. @throws LabError */
function wantedNodes(lab: Lab, present: ReadonlyMap<string, Node>, context: WantedContext): WantedNode[] {
  let ports = 0;
  return lab.nodes.map((node) => {
    const wanted = wantedNode(node, present.get(node.name), context);
    const { ports_mapping: mapping } = wanted.properties;
    ports += Array.isArray(mapping) ? mapping.length : 0;
    if (ports > mostPorts)
      throw new LabError(`the switches and hubs of a lab have at most ${mostPorts} ports together`, node.place);
    return wanted;
  });
}

/** Checks the kinds of nodes that are sent the frames of a link. @throws LabError */
function checkMirrors({ links }: Lab, wanted: readonly WantedNode[]): void {
  const kinds = new Map(wanted.map(({ node, facts }) => [node.name, facts]));
  for (const { mirror, place } of links) {
    const facts = mirror && kinds.get(mirror.node);
    if (!facts || facts.can.mirror) continue;
    const { title } = facts;
    throw new LabError(
      `frames cannot be mirrored to ${mirror.node}, which is of kind ${title}. Choose a machine or a container`,
      place,
    );
  }
}

/** Normalises a name as the server does: without spaces. */
function normalName(name: string): string {
  return name.replaceAll(' ', '');
}

function deletion(node: Node): NodeStep {
  const { name, node_id: id, locked } = node;
  return { action: 'delete', name, id, changes: [], restart: false, locked, files: new Map() };
}

function creation(wanted: WantedNode, point: Point | undefined): NodeStep {
  const { node, files } = wanted;
  return { action: 'create', name: node.name, changes: [], restart: false, files, ...making(wanted, point) };
}

function making(wanted: WantedNode, point: Point | undefined): Pick<NodeStep, 'create' | 'warm'> {
  const warm = warmStart(wanted);
  const create = bodyOf(wanted, point);
  if (!wanted.warm || !warm) return { create };
  // The memory of a template is on its compute.
  return { warm, create: warm.differs.includes('compute') ? create : { ...create, warm_template: wanted.warm.template_id } };
}

function warmStart({ warm, node: { fields }, base, baseProperties, computeId, properties }: WantedNode): WarmStart | undefined {
  if (!warm) return undefined;
  const isOther = (from: unknown, to: unknown) => !isSame(withoutAddresses(from ?? ''), withoutAddresses(to ?? ''));
  const differs = [
    ...(computeId === warm.compute_id ? [] : ['compute']),
    ...machineFields.filter((field) => Object.hasOwn(fields, field) && isOther(base[field], fields[field])),
    ...Object.keys(properties).filter((key) => !notOfMachine.has(key) && isOther(baseProperties[key], properties[key])),
  ];
  return { template: warm.name, differs };
}

function bodyOf({ node, facts, nodeType, computeId, base, baseProperties, properties }: WantedNode, point?: Point): BulkNode {
  return {
    symbol: facts.symbol,
    ...base,
    ...point,
    ...node.fields,
    ...(node.label && { label: { ...node.label, text: node.name } }),
    properties: { ...baseProperties, ...properties },
    compute_id: computeId,
    name: node.name,
    node_type: nodeType,
    ref: node.name,
  };
}

function changeOf(wanted: WantedNode, node: Node, state: LabProjectState | undefined): NodeStep | [] {
  const { name } = wanted.node;
  const identity = identityChanges(wanted, node);
  if (identity.length > 0) {
    const restart = isRunning(wanted, node);
    const common = { name, id: node.node_id, locked: node.locked, files: wanted.files };
    return { action: 'replace', changes: identity, restart, ...common, ...making(wanted, { x: node.x, y: node.y }) };
  }
  const fields = fieldChanges(wanted, node);
  const properties = propertyChanges(wanted.properties, node.properties);
  const files = fileChanges(wanted, node, state);
  const changes = [
    ...fields,
    ...properties.map((change) => ({ ...change, field: `properties.${change.field}` })),
    ...files.changes,
  ];
  if (changes.length === 0) return [];
  const needsRestart =
    files.changed.size > 0 ||
    fields.some(({ field }) => restartFields.has(field)) ||
    properties.some(({ field }) => !liveProperties.has(field));
  const update = updateOf(wanted, fields, properties);
  return {
    action: 'update',
    name,
    id: node.node_id,
    changes,
    restart: needsRestart && isRunning(wanted, node),
    ...(update && { update }),
    rewired: wanted.facts.lab.port_list === undefined && properties.some(({ field }) => field === 'ports_mapping'),
    files: files.changed,
  };
}

/** Removes the MAC addresses of adapters. */
function withoutAddresses(value: unknown): unknown {
  return Array.isArray(value) ? value.map((one) => ({ ...Object(one), mac_address: undefined })) : value;
}

function isRunning({ facts }: WantedNode, { status }: Node): boolean {
  return status !== 'stopped' && !facts.always_running;
}

/** Compares the properties that are fixed when a node is created. */
function identityChanges({ facts, nodeType, computeId, properties, node: { compute } }: WantedNode, node: Node): Change[] {
  const fixed = Object.entries(properties).filter(([key]) => facts.lab.fixed.includes(key));
  // The node stays on its compute if the file names none.
  const isMoved = compute !== 'local' && compute !== 'auto' && computeId !== node.compute_id;
  return [
    ...(nodeType === node.node_type ? [] : [{ field: 'kind', from: node.node_type, to: nodeType }]),
    ...(isMoved ? [{ field: 'compute', from: node.compute_id, to: computeId }] : []),
    ...(nodeType === node.node_type ? propertyChanges(Object.fromEntries(fixed), node.properties) : []),
  ];
}

/** Compares the fields that the file has. Labels are compared field by field, because the server completes them. */
function fieldChanges({ node: { fields, label } }: WantedNode, node: Node): Change[] {
  const changes = Object.entries(fields).flatMap(([field, to]): Change[] => {
    const from = node[field as keyof Node];
    return isSame(from, to) || to === null ? [] : [{ field, from, to }];
  });
  const inLabel = Object.entries(label ?? {}).filter(([key, to]) => !isSame(node.label[key as keyof Label], to));
  return inLabel.length === 0 ? changes : [...changes, { field: 'label', from: node.label, to: label }];
}

function propertyChanges(wanted: Readonly<Record<string, unknown>>, present: Readonly<Record<string, unknown>>): Change[] {
  return Object.entries(wanted).flatMap(([field, to]): Change[] => {
    const from = present[field];
    return to === null || isSame(from, to) ? [] : [{ field, from, to }];
  });
}

/** Compares two values. The server stores MAC addresses in lower case, and names of container images with their tag. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof other === 'string' && one === `${other}:latest`) return true;
  if (typeof one === 'string' && typeof other === 'string' && /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(other)) {
    return one.toLowerCase() === other.toLowerCase();
  }
  return isDeepStrictEqual(plain(one), plain(other));
}

/** Copies a value as JSON, because the server's objects and a file's have different prototypes. */
function plain(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.parse(JSON.stringify(value)) : value;
}

function fileChanges({ files }: WantedNode, node: Node, state: LabProjectState | undefined) {
  const present = state?.files.get(node.node_id);
  const changed = new Map([...files].filter(([path, text]) => present?.get(path) !== text));
  const sizeOf = (text: string | undefined) => (text === undefined ? undefined : `${text.length} characters`);
  const changes = [...changed].map(
    ([path, text]): Change => ({ field: `files.${path}`, from: sizeOf(present?.get(path)), to: sizeOf(text) }),
  );
  return { changed, changes };
}

function updateOf(
  { node: { name } }: WantedNode,
  fields: readonly Change[],
  properties: readonly Change[],
): NodeUpdate | undefined {
  if (fields.length === 0 && properties.length === 0) return undefined;
  const body = Object.fromEntries(
    fields.map(({ field, to }) => [field, field === 'label' ? { ...(to as object), text: name } : to]),
  );
  return {
    ...body,
    ...(properties.length > 0 && { properties: Object.fromEntries(properties.map(({ field, to }) => [field, to])) }),
  };
}
