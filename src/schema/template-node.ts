/** Builds a node from a template. */
import { NodeCreate } from './node.ts';
import type { Template, TemplateUse } from './template.ts';

/** Keys that describe the template, not its nodes. */
const ofTemplate = new Set([
  'builtin',
  'category',
  'compute_id',
  'default_name_format',
  'name',
  'properties',
  'template_id',
  'template_type',
  'warm',
]);

/** Returns a request for a node with the settings of its template; values and keys of `properties` in the request win. */
export function withTemplate<Wanted extends NodeCreate>(wanted: Wanted, template: Template): Wanted {
  const { name, x, y, ...defaults } = nodeFrom(template, { x: 0, y: 0 }, wanted.compute_id);
  return { ...defaults, ...wanted, properties: { ...defaults.properties, ...wanted.properties } };
}

/** Returns the node of a template; empty texts are left out. */
export function nodeFrom(template: Template, use: TemplateUse, computeId: string): NodeCreate {
  const attributes: Record<string, unknown> = {};
  const properties: Record<string, unknown> = { ...(template.properties as Readonly<Record<string, unknown>> | undefined) };
  for (const [key, value] of Object.entries(template)) {
    if (ofTemplate.has(key) || value === '' || value === null) continue;
    if (key in NodeCreate.properties) attributes[key] = value;
    else properties[key] = value;
  }
  return {
    ...attributes,
    compute_id: computeId,
    name: use.name || template.default_name_format.replaceAll('{name}', () => template.name),
    node_type: template.template_type,
    properties,
    template_id: template.template_id,
    x: use.x,
    y: use.y,
  };
}
