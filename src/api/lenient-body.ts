/**
 * Accepts two habits of GNS3's clients, and of programs that write project files, that its schemas do not allow. Keys with two leading
 * underscores, which old gns3fy versions add to every object, are removed where the server names the keys: maps whose keys are names of
 * users keep all of them. Fractions of pixels, which layout libraries compute, are rounded.
 */
import type { TSchema } from '../schema/type.ts';

/** Integer properties in pixels. */
const pixelKeys: ReadonlySet<string> = new Set(['x', 'y', 'z', 'width', 'height', 'scene_width', 'scene_height']);

/** Maps whose keys a later check knows: names of filters, and of the properties of a node's kind. */
const checkedLater: ReadonlySet<string> = new Set(['filters', 'properties']);

type JsonObject = Record<string, unknown>;

/** Returns the body with only these two changes. Walks no further than the schema, and lists of maps that a later check knows. */
export function lenient(schema: TSchema, body: unknown): unknown {
  return isObject(body) ? changed(schema as JsonObject, body, '') : body;
}

/** No client library adds `__proto__`: it is refused like other unknown keys, and so is what only begins with it. */
const isPassedOver = (key: string) => key.startsWith('__') && !key.startsWith('__proto__');

/** Returns a value of the schema, which stands at `name`, with the changes; the value itself where it needs none. */
function changed(schema: JsonObject, value: unknown, name: string): unknown {
  if (Array.isArray(value)) {
    const items = formOf(schema, 'items')?.items;
    return isObject(items) && formOf(items, 'properties') ? mapped(value, (item) => changed(items, item, '')) : value;
  }
  if (!isObject(value)) return value;
  const form = formOf(schema, 'properties');
  const isOpen = checkedLater.has(name) || (form !== undefined && !('additionalProperties' in form));
  if (!form && !isOpen) return value;
  const declared = (form?.properties ?? {}) as Readonly<Record<string, JsonObject>>;
  return withEntries(value, (key, before) => {
    if (!Object.hasOwn(declared, key)) return isOpen ? withoutPassedOver(before) : before;
    const own = declared[key] as JsonObject;
    return pixelKeys.has(key) && typeof before === 'number' && isInteger(own) ? Math.round(before) : changed(own, before, key);
  });
}

/** Removes the keys from objects in lists, such as ports of a switch. An object beside them, such as circuits, maps names of users. */
function withoutPassedOver(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return mapped(value, (item) => (isObject(item) ? withEntries(item, (_key, one) => withoutPassedOver(one)) : item));
}

/** Returns the object without the keys that are passed over, and with changed values. */
function withEntries(value: JsonObject, change: (key: string, value: unknown) => unknown): JsonObject {
  const before = Object.entries(value);
  const after = before.flatMap(([key, one]) => (isPassedOver(key) ? [] : [[key, change(key, one)] as const]));
  const isSame = after.length === before.length && after.every(([, one], index) => Object.is(one, before[index]?.[1]));
  return isSame ? value : Object.fromEntries(after);
}

function mapped(list: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  const after = list.map(change);
  return after.every((item, index) => Object.is(item, list[index])) ? list : after;
}

/** Returns the schema itself or its first alternative with `keyword`. */
function formOf(schema: JsonObject, keyword: 'items' | 'properties'): JsonObject | undefined {
  if (keyword in schema) return schema;
  return alternatives(schema).find((one) => keyword in one);
}

function isInteger(schema: JsonObject): boolean {
  return schema.type === 'integer' || alternatives(schema).some(({ type }) => type === 'integer');
}

const alternatives = ({ anyOf }: JsonObject): JsonObject[] => (Array.isArray(anyOf) ? (anyOf as JsonObject[]) : []);

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
