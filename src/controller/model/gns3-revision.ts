/**
 * Project files of GNS3 3, whose revision is 10: as files of revision 9, which is that of GNS3 2.2, and back. GNS3 3 has the auxiliary
 * console of a node beside its properties, and keys that are not known here: they are dropped, as those of requests to `/v3`.
 */
import { readLax } from '../../api/lax-values.ts';
import { type NodeType, nodeTypes } from '../../schema/node.ts';
import type { TSchema } from '../../schema/type.ts';
import { canonical } from './canonical.ts';
import { knownProperties } from './known-properties.ts';
import type { NodeEntry } from './topology.ts';
import { object, objects } from './upgrades/raw.ts';

/** Revision of the project files of GNS3 3.0 and 3.1. */
export const gns3Revision = 10;

/** Revision and version of a server, as a project file has them. */
export interface FileForm {
  readonly revision: number;
  readonly version: string;
}

/** Returns a file of revision 10 in the structure of `schema`. Values of a wrong type stay, and are refused when it is checked. */
export function fromGns3(raw: Record<string, unknown>, schema: TSchema): Record<string, unknown> {
  const topology = object(raw.topology);
  const changed = Array.isArray(topology.nodes)
    ? { ...raw, topology: { ...topology, nodes: objects(topology.nodes).map(nodeFrom) } }
    : raw;
  return readLax(schema, changed, []).value as Record<string, unknown>;
}

function nodeFrom({ aux, aux_type, ...given }: Record<string, unknown>): Record<string, unknown> {
  // GNS3 3.1 serves consoles by SSH, too; here they are served by telnet.
  const node = given.console_type === 'ssh' ? { ...given, console_type: 'telnet' } : given;
  const { node_type } = node;
  const type = nodeTypes.find((one) => one === node_type);
  if (type === undefined) return node;
  const known = knownProperties(type);
  const auxiliary = { ...(aux !== null && { aux }), ...(aux_type !== null && aux_type !== 'none' && { aux_type }) };
  const properties = Object.entries({ ...object(node.properties), ...auxiliary }).filter(
    ([key, value]) => known.has(key) && value !== undefined,
  );
  return { ...node, properties: Object.fromEntries(properties) };
}

/** Returns a node as a file of revision 10 has it. */
export function nodeToGns3(node: NodeEntry): NodeEntry {
  const { aux, aux_type, ...properties } = node.properties;
  if (!hasAuxiliary(node.node_type)) return node;
  return canonical({ ...node, aux: aux ?? null, aux_type: aux_type ?? (aux ? 'telnet' : 'none'), properties }) as NodeEntry;
}

function hasAuxiliary(type: NodeType): boolean {
  return knownProperties(type).has('aux');
}
