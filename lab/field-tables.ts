/** Renders the fields of lab files as Markdown for `docs/lab-file.md`, from the validating schema. */

import { filterTable } from '../src/schema/filter-table.ts';
import type { KeyTable } from '../src/schema/foreign-map.ts';
import * as project1x from '../src/schema/project-1x.ts';
import * as toClab from './export-containerlab.ts';
import * as toLab from './export-keys.ts';
import { DrawingSpec, LabFile, NodeSpec } from './file/lab-schema.ts';
import * as cml from './import/cml-keys.ts';
import * as clab from './import/containerlab-keys.ts';
import * as eve from './import/eve-keys.ts';
import * as netlab from './import/netlab-keys.ts';

interface FieldSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly FieldSchema[];
  readonly items?: FieldSchema;
  readonly patternProperties?: Readonly<Record<string, FieldSchema>>;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
}

export function fieldTables(): string {
  return [
    '### The file',
    tableOf(LabFile),
    '### A node',
    tableOf(NodeSpec),
    '### A link',
    tableOf(linkOf(LabFile)),
    '### A drawing',
    tableOf(DrawingSpec),
    '### Filters of a link',
    filterRows(),
  ].join('\n\n');
}

/** Renders what becomes of each key of another program's files, from the tables by which the importers and exporters read. */
export function keyTables(): string {
  return formats
    .map(([title, parts]) => [`### ${title}`, ...parts.map(([part, keys]) => keyTable(part, keys))].join('\n\n'))
    .join('\n\n');
}

type KeyPart = readonly [string, KeyTable];

const formats: readonly (readonly [string, readonly KeyPart[]])[] = [
  [
    'From containerlab',
    [
      ['file', clab.fileKeys],
      ['`topology`', clab.topologyKeys],
      ['node, kind, group, `defaults`', clab.nodeKeys],
      ['link', clab.linkKeys],
      ['end of a link', clab.endKeys],
    ],
  ],
  [
    'From EVE-NG',
    [
      ['`lab`', eve.labKeys],
      ['`node`', eve.nodeKeys],
      ['`interface`', eve.interfaceKeys],
      ['`network`', eve.networkKeys],
    ],
  ],
  [
    'From CML',
    [
      ['file', cml.fileKeys],
      ['`lab`', cml.labKeys],
      ['node', cml.nodeKeys],
      ['interface', cml.interfaceKeys],
      ['file of a `configuration`', cml.configurationKeys],
      ['link', cml.linkKeys],
      ['`conditioning`', cml.conditioningKeys],
      ['annotation', cml.annotationKeys],
    ],
  ],
  [
    'From netlab',
    [
      ['file', netlab.fileKeys],
      ['node', netlab.nodeKeys],
      ['`clab` of a node', netlab.clabKeys],
      ['entry of `binds`', netlab.bindKeys],
      ['interface of a node', netlab.interfaceKeys],
      ['`loopback` of a node', netlab.loopbackKeys],
      ['`routing` of a node', netlab.routingKeys],
      ['static route', netlab.staticRouteKeys],
      ['link', netlab.linkKeys],
      ['interface of a link', netlab.endKeys],
      ['`tc` of a link', netlab.tcKeys],
    ],
  ],
  [
    'From project files of GNS3 1.x, as they are opened or imported',
    [
      ['file', project1x.fileKeys],
      ['`topology`', project1x.topologyKeys],
      ['server', project1x.serverKeys],
      ['node', project1x.nodeKeys],
      ['`properties`', project1x.propertyKeys],
      ['`label`', project1x.labelKeys],
      ['port', project1x.portKeys],
      ['link', project1x.linkKeys],
      ['ellipse, rectangle, note, image', project1x.drawingKeys],
    ],
  ],
  [
    'From projects, by `lab export`',
    [
      ['project', toLab.projectKeys],
      ['node', toLab.nodeKeys],
      ['link', toLab.linkKeys],
      ['drawing', toLab.drawingKeys],
      ['others', toLab.partKeys],
    ],
  ],
  [
    'To containerlab',
    [
      ['property of a container', toClab.containerKeys],
      ['property of a switch', toClab.switchKeys],
      ['field of a node', toClab.nodeFieldKeys],
      ['link', toClab.linkKeys],
    ],
  ],
];

function keyTable(part: string, keys: KeyTable): string {
  const rows = Object.entries(keys).map(([key, { fate, how }]) => `| \`${key}\` | ${fate} | ${escaped(how)} |`);
  return [`| ${part} | | |`, '|---|---|---|', ...rows].join('\n');
}

/** Returns the schema of a link in its long form. */
function linkOf(lab: object): FieldSchema {
  const forms = (lab as FieldSchema).properties?.links?.items?.anyOf ?? [];
  return forms.find(({ properties }) => properties !== undefined) ?? {};
}

function tableOf(schema: object): string {
  const { properties = {} } = schema as FieldSchema;
  const rows = Object.entries(properties).map(
    ([name, schema]) => `| \`${name}\` | ${typeOf(schema)} | ${escaped(schema.description ?? '')} |`,
  );
  return ['| field | value | |', '|---|---|---|', ...rows].join('\n');
}

function typeOf({ type, enum: words, anyOf, items, patternProperties }: FieldSchema): string {
  if (words) return words.map((word) => `\`${word}\``).join(', ');
  if (anyOf) return [...new Set(anyOf.filter(({ type: one }) => one !== 'null').map(typeOf))].join(' or ');
  if (type === 'array') return `list of ${items ? typeOf(items) : 'values'}`;
  if (patternProperties) return 'map';
  return { integer: 'whole number', number: 'number', string: 'text', boolean: 'true, false', object: 'map' }[type ?? ''] ?? 'any';
}

function filterRows(): string {
  const rows = filterTable.map(({ type, parameters }) => {
    const values = parameters.map(({ name, unit }) => (unit ? `${name} (${unit.replace(/^\((.*)\)$/, '$1')})` : name)).join(', ');
    return `| \`${type}\` | ${escaped(values)} |`;
  });
  return ['| filter | values |', '|---|---|', ...rows].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
