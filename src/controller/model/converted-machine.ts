/** A machine of a kind that does not run here becomes one of a kind that does: disks, network adapters and memory. */
import { fault } from '../../api/faults.ts';
import { kinds } from '../../emulators/kinds.ts';
import { type NodeCreate, type NodeType, templateTypes } from '../../schema/node.ts';
import type { Template, TemplateCreate } from '../../schema/template.ts';
import { kindOf } from './node.ts';
import type { NodeEntry } from './topology.ts';

/** Distance of the converted node from the original, so that both are seen. Pixels. */
const besidePx = 80;

type Images = readonly string[];

/** The request for a node with these disks, beside the old one. @throws node_not_convertible */
export function convertedNode(entry: NodeEntry): (images: Images) => NodeCreate {
  const convert = conversionOf(entry.name, entry.node_type);
  const { name, compute_id, x, y, symbol, custom_adapters } = entry;
  return (images) => {
    const { type: node_type, properties } = convert(entry.properties, images);
    return { name, node_type, compute_id, x: x + besidePx, y: y + besidePx, symbol, custom_adapters, properties };
  };
}

/** Fields that a converted template keeps, whatever its type. */
const keptOfTemplate = [
  ...['category', 'compute_id', 'default_name_format', 'symbol', 'usage', 'console_auto_start', 'custom_adapters'],
  ...['first_port_name', 'port_name_format', 'port_segment_size'],
];

/** The request for a template with these disks. @throws node_not_convertible */
export function convertedTemplate(template: Template): (images: Images) => TemplateCreate {
  const convert = conversionOf(template.name, template.template_type);
  const kept = Object.fromEntries(keptOfTemplate.flatMap((key) => (template[key] === undefined ? [] : [[key, template[key]]])));
  return (images) => {
    const { type: template_type, properties } = convert(template, images);
    const name = `${template.name} (QEMU)`;
    return { ...kept, ...properties, name, template_type: templateTypeOf(template_type), compute_id: template.compute_id };
  };
}

/** @throws Error for a kind without templates, which runs no machines */
function templateTypeOf(type: NodeType): TemplateCreate['template_type'] {
  const found = templateTypes.find((one) => one === type);
  if (!found) throw new Error(`there are no templates of ${type}`);
  return found;
}

function conversionOf(name: string, node_type: NodeType) {
  const { converted } = kindOf(node_type);
  const machine = Object.values(kinds).find((kind) => kind.machines !== undefined);
  if (!converted || !machine?.machines) throw fault('node_not_convertible', { name, node_type });
  const { disks } = machine.machines;
  return (properties: Readonly<Record<string, unknown>>, images: Images) => {
    const ofDisks = Object.fromEntries(images.map((image, index) => [disks[index] as string, image]));
    return { type: machine.type, properties: { ...converted(properties), ...ofDisks } };
  };
}
