/**
 * Accepts two habits of GNS3's clients that its schemas do not allow. Keys with two leading underscores, which old gns3fy versions
 * add to every body, are removed. Fractions of pixels, which layout libraries compute, are rounded.
 */
import type { TSchema } from '../schema/type.ts';

/** Integer properties in pixels. */
const pixelKeys: ReadonlySet<string> = new Set(['x', 'y', 'z', 'width', 'height', 'scene_width', 'scene_height']);

type JsonObject = Record<string, unknown>;

/** Returns the body with only these two changes. Walks no further than the schema does. */
export function lenient(schema: TSchema, body: unknown): unknown {
  if (!isObject(body)) return body;
  const keys = Object.keys(body);
  const own = keys.filter((key) => !isPassedOver(key));
  const kept = own.length === keys.length ? body : Object.fromEntries(own.map((key) => [key, body[key]]));
  return roundPixels(schema as JsonObject, kept);
}

/** No client library adds `__proto__`: it is refused like other unknown keys. */
const isPassedOver = (key: string) => key.startsWith('__') && key !== '__proto__';

function roundPixels(schema: JsonObject, value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = formOf(schema, 'items')?.items;
    return isObject(items) && mayHavePixels(items) ? value.map((item) => roundPixels(items, item)) : value;
  }
  const properties = formOf(schema, 'properties')?.properties;
  if (!isObject(value) || !isObject(properties)) return value;
  let changed: JsonObject | undefined;
  for (const [key, form] of Object.entries(properties)) {
    if (!Object.hasOwn(value, key) || !isObject(form)) continue;
    const before = value[key];
    const after =
      pixelKeys.has(key) && typeof before === 'number' && isInteger(form) ? Math.round(before) : roundPixels(form, before);
    if (Object.is(after, before)) continue;
    changed ??= { ...value };
    changed[key] = after;
  }
  return changed ?? value;
}

/** Returns the schema itself or its first alternative with `keyword`. */
function formOf(schema: JsonObject, keyword: 'items' | 'properties'): JsonObject | undefined {
  if (keyword in schema) return schema;
  return alternatives(schema).find((one) => keyword in one);
}

function mayHavePixels(schema: JsonObject): boolean {
  return formOf(schema, 'properties') !== undefined;
}

function isInteger(schema: JsonObject): boolean {
  return schema.type === 'integer' || alternatives(schema).some(({ type }) => type === 'integer');
}

const alternatives = ({ anyOf }: JsonObject): JsonObject[] => (Array.isArray(anyOf) ? (anyOf as JsonObject[]) : []);

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
