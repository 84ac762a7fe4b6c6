/** Copies a value that is stored, logged or returned: with sorted keys, deeply frozen, without undefined values. */
export function canonical<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map((item) => canonical(item))) as T;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) {
    const item = (value as Record<string, unknown>)[key];
    // A key of this name would set the prototype instead of a property.
    if (item !== undefined && key !== '__proto__') copy[key] = canonical(item);
  }
  return Object.freeze(copy) as T;
}

/** A frozen object with sorted keys of values that are canonical already; they are taken as they are. */
export function assemble<T extends object>(fields: T): T {
  const sorted: Record<string, unknown> = {};
  for (const key of Object.keys(fields).sort()) sorted[key] = (fields as Record<string, unknown>)[key];
  return Object.freeze(sorted) as T;
}
