/** Renders the fields of lab files as Markdown for `docs/lab-file.md`, from the validating schema. */

import { filterTable } from '../src/schema/filter-table.ts';
import { DrawingSpec, LabFile, NodeSpec } from './file/lab-schema.ts';

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
