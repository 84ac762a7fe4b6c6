/** Builds `/lab.schema.json`, the lab file's schema with the properties of each kind, for editors. */
import type { NodeType } from '../src/schema/node.ts';
import { LabFile } from './file/lab-schema.ts';
import type { LabCatalog } from './state/lab-state.ts';

/** Returns a JSON Schema of draft 2020-12. */
export function schemaDocument({ kinds, schemas }: Pick<LabCatalog, 'kinds' | 'schemas'>): object {
  const document = JSON.parse(JSON.stringify(LabFile)) as {
    properties: { nodes: { patternProperties: Record<string, { anyOf: object[] }> } };
  };
  const [node] = Object.values(document.properties.nodes.patternProperties);
  const [spec] = node?.anyOf ?? [];
  if (spec) Object.assign(spec, { allOf: [...kinds.keys()].map((type) => ofKind(type, schemas.get(type) ?? {})) });
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'Lab file of Patchbay', ...document };
}

/** Gives a node with a kind the properties of this kind. */
function ofKind(type: NodeType, properties: Readonly<Record<string, object>>): object {
  return Object.fromEntries([
    ['if', { required: ['kind'], properties: { kind: { const: type } } }],
    ['then', { properties: { properties: { type: 'object', properties, additionalProperties: false } } }],
  ]);
}
