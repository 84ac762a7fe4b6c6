/** Resolves a node of a lab to the terms of the API: its kind or template interprets the short forms. */

import { strict } from '../../src/schema/common.ts';
import type { KindFacts } from '../../src/schema/kind.ts';
import type { Node, NodeType } from '../../src/schema/node.ts';
import type { Template } from '../../src/schema/template.ts';
import { nodeFrom } from '../../src/schema/template-node.ts';
import { type TSchema, Type } from '../../src/schema/type.ts';
import type { ShapeChecks } from '../file/check-shape.ts';
import type { Lab, LabEnd, LabLink, LabNode } from '../file/lab.ts';
import { LabError, suggestion } from '../file/lab-error.ts';
import { Places } from '../file/read-yaml.ts';
import { findTemplate, type LabCatalog } from '../state/lab-state.ts';
import { isPort, portList } from './port-list.ts';

export interface WantedNode {
  readonly node: LabNode;
  readonly facts: KindFacts;
  readonly nodeType: NodeType;
  readonly computeId: string;
  /** Properties of the template that the lab file does not set; used when the node is created. */
  readonly base: Readonly<Record<string, unknown>>;
  readonly baseProperties: Readonly<Record<string, unknown>>;
  /** The template, if it has a booted machine. */
  readonly warm: Template | undefined;
  /** Properties that the file sets. */
  readonly properties: Readonly<Record<string, unknown>>;
  readonly files: ReadonlyMap<string, string>;
}

/** Ports that the links of a lab need at a node. */
interface Demand {
  /** Number of the node's links. */
  readonly links: number;
  /** Highest number in the names of the links' ports, plus one. */
  readonly highest: number;
  readonly named: readonly string[];
}

/** Returns all ports that a link uses. */
function portsOf({ ends, mirror }: LabLink): Omit<LabEnd, 'label'>[] {
  return mirror ? [...ends, mirror] : [...ends];
}

export function demandsOf({ links }: Lab): ReadonlyMap<string, Demand> {
  const demands = new Map<string, Demand>();
  for (const { node, port } of links.flatMap(portsOf)) {
    const { links: count, highest, named } = demands.get(node) ?? { links: 0, highest: 0, named: [] };
    demands.set(node, {
      links: count + 1,
      highest: port === undefined ? highest : Math.max(highest, numberIn(port) + 1),
      named: port === undefined ? named : [...named, port],
    });
  }
  return demands;
}

/** Returns the number at the end of a port's name, or the adapter's in `ADAPTER/PORT`; -1 without one. */
function numberIn(port: string): number {
  const [, adapter] = /^(\d{1,4})\/\d{1,4}$/.exec(port) ?? [];
  const [, last] = /(\d{1,4})$/.exec(port) ?? [];
  return Number(adapter ?? last ?? -1);
}

export interface WantedContext {
  readonly catalog: LabCatalog;
  readonly checks: ShapeChecks;
  readonly demands: ReadonlyMap<string, Demand>;
  readonly propertySchemas: Map<NodeType, TSchema>;
}

/** Resolves a node. @throws LabError for a kind, template or compute that the server does not have */
export function wantedNode(node: LabNode, present: Node | undefined, context: WantedContext): WantedNode {
  const { catalog } = context;
  const template = findTemplate(catalog.templates, node.template);
  if (node.template !== undefined && !template) {
    const known = catalog.templates.map(({ name }) => name);
    throw new LabError(`this server has no template "${node.template}"${suggestion(node.template, known)}`, node.place);
  }
  const nodeType = (node.kind ?? template?.template_type) as NodeType;
  const facts = catalog.kinds.get(nodeType);
  if (!facts) throw new LabError(`this server has no nodes of kind "${nodeType}"`, node.place);
  const computeId = computeOf(node, template, catalog);
  const { properties: baseProperties = {}, ...base } = template
    ? nodeFrom(template, { x: 0, y: 0, name: node.name }, computeId)
    : {};
  const known = catalog.schemas.get(nodeType) ?? {};
  const given = Object.fromEntries(
    Object.entries(givenProperties(node, facts)).filter(([key]) => Object.hasOwn(known, key) || !node.inherited.has(key)),
  );
  const ofImage = node.short.image === undefined ? {} : facts.lab.image_defaults;
  const same = present?.node_type === nodeType ? present : undefined;
  const properties = { ...given, ...neededPorts(node, { ...baseProperties, ...given }, same, { ...context, facts }) };
  checkProperties(node, nodeType, properties, context);
  if (!same) requireProperties(node, { ...ofImage, ...baseProperties, ...properties }, facts);
  return {
    node,
    facts,
    nodeType,
    computeId,
    base,
    baseProperties: { ...ofImage, ...baseProperties },
    warm: template?.warm && template,
    properties,
    files: filesOf(node, facts),
  };
}

function computeOf({ compute, place }: LabNode, template: Template | undefined, { computes }: LabCatalog): string {
  const ofTemplate = template?.compute_id;
  if (compute === 'auto') return template?.warm && ofTemplate ? ofTemplate : compute;
  const found = computes.find(({ compute_id }) => compute_id === compute) ?? computes.find(({ name }) => name === compute);
  if (found) return compute === 'local' && ofTemplate ? ofTemplate : found.compute_id;
  const known = computes.map(({ compute_id }) => compute_id);
  throw new LabError(`this server has no compute "${compute}"${suggestion(compute, known)}`, place);
}

function givenProperties(node: LabNode, { title, lab }: KindFacts): Record<string, unknown> {
  const properties: Record<string, unknown> = { ...node.properties };
  for (const word of ['image', 'memory', 'cpus'] as const) {
    const value = node.short[word];
    if (value === undefined) continue;
    const property = lab[word];
    if (property === undefined && node.inherited.has(word)) continue;
    if (property === undefined) throw new LabError(`${title} nodes take no ${word}. Remove it from node ${node.name}`, node.place);
    properties[property] = value;
  }
  if (node.short.adapters !== undefined) properties.adapters = node.short.adapters;
  const disk = lab.config_disk;
  if (
    disk &&
    !Object.hasOwn(properties, disk.property) &&
    [...node.files.keys()].some((path) => path.startsWith(`${disk.folder}/`))
  )
    properties[disk.property] = true;
  return properties;
}

/** Returns adapters and ports: as many as the links of the lab need, unless the file sets them. */
function neededPorts(
  node: LabNode,
  given: Readonly<Record<string, unknown>>,
  present: Node | undefined,
  { catalog, demands, facts }: WantedContext & { readonly facts: KindFacts },
): Record<string, unknown> {
  const { links = 0, highest = 0, named = [] } = demands.get(node.name) ?? {};
  const hasPort = (name: string) => present?.ports.some((port) => isPort(port, name)) === true;
  const needed = present ? Math.max(links, named.every(hasPort) ? 0 : highest) : Math.max(links, highest);
  const mapping = portList(node, facts, needed, present?.properties.ports_mapping);
  const hasAdapters = catalog.schemas.get(facts.node_type)?.adapters !== undefined;
  const isGiven = node.short.adapters !== undefined || node.properties.adapters !== undefined;
  const adapters = present ? present.ports.length : numberOf(given.adapters, 1);
  return {
    ...(mapping && { ports_mapping: mapping }),
    ...(hasAdapters && !isGiven && needed > adapters && { adapters: needed }),
  };
}

function numberOf(value: unknown, standard: number): number {
  return typeof value === 'number' ? value : standard;
}

function checkProperties(node: LabNode, type: NodeType, properties: object, context: WantedContext): void {
  const schema = propertySchema(context, type);
  const places = new Places();
  const known = Object.keys((schema as { properties?: object }).properties ?? {});
  const unknown = Object.keys(properties).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    throw new LabError(`${type} nodes have no property "${unknown}"${suggestion(unknown, known)} (node ${node.name})`, node.place);
  }
  try {
    context.checks.check(schema, properties, places);
  } catch (error) {
    throw new LabError(`node ${node.name}: property ${(error as Error).message}`, node.place);
  }
}

/** @throws LabError for a new node that lacks a property without which none is made */
function requireProperties({ name, place }: LabNode, properties: object, { title, lab }: KindFacts): void {
  const absent = lab.required?.find((key) => !Object.hasOwn(properties, key));
  if (absent === undefined) return;
  const word = (['image', 'memory', 'cpus'] as const).find((one) => lab[one] === absent) ?? `properties.${absent}`;
  throw new LabError(`${title} nodes need ${word}. Add it to node ${name}`, place);
}

/** Returns the schema of a kind, cached so that its validator is compiled once. */
function propertySchema({ catalog, propertySchemas }: WantedContext, type: NodeType): TSchema {
  const known =
    propertySchemas.get(type) ??
    Type.Object(
      Object.fromEntries(
        Object.entries(catalog.schemas.get(type) ?? {}).map(([key, schema]) => [key, Type.Optional(schema as TSchema)]),
      ),
      strict,
    );
  propertySchemas.set(type, known);
  return known;
}

function filesOf({ config, files, name, place, inherited }: LabNode, { title, lab }: KindFacts): ReadonlyMap<string, string> {
  if (config === undefined) return files;
  if (lab.startup_file === undefined && inherited.has('config')) return files;
  if (lab.startup_file === undefined) {
    const { folder, files: usual = [] } = lab.config_disk ?? {};
    const hint = folder === undefined ? '' : `, such as ${usual.map((file) => `${folder}/${file}`).join(', ')}`;
    throw new LabError(`${title} nodes take no \`config\`. Use \`files\`, with paths in the node's folder${hint}`, place);
  }
  return new Map([...files, [lab.startup_file, config.replaceAll('%h', () => name)]]);
}
