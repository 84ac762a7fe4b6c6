/** Keys and values that a JSON Schema allows at a place. */

/** The parts of JSON Schema that lab files use. */
export interface LabSchema {
  readonly description?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, LabSchema>>;
  readonly patternProperties?: Readonly<Record<string, LabSchema>>;
  readonly items?: LabSchema;
  readonly anyOf?: readonly LabSchema[];
  readonly allOf?: readonly LabSchema[];
  readonly if?: LabSchema;
  readonly then?: LabSchema;
}

export interface SchemaOption {
  readonly label: string;
  readonly description: string;
}

/** Lists the schemas of one value: alternatives, and those of the kind that the node has. */
function alternatives(schema: LabSchema, kind: string | undefined): LabSchema[] {
  const { anyOf = [], allOf = [], if: condition, then } = schema;
  const isOfKind = condition !== undefined && condition.properties?.kind?.const === kind;
  const others = [...anyOf, ...allOf, ...(isOfKind && then ? [then] : [])];
  return [schema, ...others.flatMap((other) => alternatives(other, kind))];
}

function child({ properties = {}, patternProperties = {}, items }: LabSchema, key: string): LabSchema[] {
  if (key === '-') return items ? [items] : [];
  if (Object.hasOwn(properties, key)) return [properties[key] ?? {}];
  return Object.values(patternProperties);
}

/** Lists the schemas at a path. `kind`: of the node that the path leads to. */
function schemasAt(schema: LabSchema, path: readonly string[], kind: string | undefined): LabSchema[] {
  return path.reduce((found, key) => found.flatMap((one) => child(one, key)).flatMap((one) => alternatives(one, kind)), [schema]);
}

export function keyOptions(schema: LabSchema, path: readonly string[], kind: string | undefined): SchemaOption[] {
  const found = new Map<string, string>();
  for (const { properties = {} } of schemasAt(schema, path, kind))
    for (const [label, { description = '' }] of Object.entries(properties)) found.set(label, found.get(label) || description);
  return Array.from(found, ([label, description]) => ({ label, description }));
}

export function valueOptions(schema: LabSchema, path: readonly string[], kind: string | undefined): SchemaOption[] {
  const values = schemasAt(schema, path, kind).flatMap(({ enum: some = [], const: only, type }) => [
    ...some,
    ...(only === undefined ? [] : [only]),
    ...(type === 'boolean' ? [true, false] : []),
  ]);
  return [...new Set(values.map(String))].map((label) => ({ label, description: '' }));
}
