/** Applies edits to what other users have made of the value meanwhile: rows of lists and members of objects are changed one by one. */

type Members = Readonly<Record<string, unknown>>;

/**
 * Returns the edited value with the changes that led from `base`, its value when the edit began, to `now`. What both changed is as
 * edited.
 */
export function rebased(base: unknown, edited: unknown, now: unknown): unknown {
  if (isSame(base, now)) return edited;
  if (isMembers(base) && isMembers(edited) && isMembers(now)) return mergedMembers(base, edited, now);
  if (!isRows(base) || !isRows(edited) || !isRows(now)) return edited;
  const merged = mergedMembers(byKey(base), byKey(edited), byKey(now));
  const order = [...now, ...edited].map(rowKey);
  return [...new Set(order)].flatMap((key) => (key in merged ? [merged[key]] : []));
}

/** Key of a row among those of its list. */
export function rowKey(row: Members, place: number): string {
  return String(row.port_number ?? row.adapter_number ?? row.name ?? place);
}

function mergedMembers(base: Members, edited: Members, now: Members): Members {
  const merged: Record<string, unknown> = { ...now };
  for (const key of Object.keys({ ...base, ...edited })) {
    if (isSame(base[key], edited[key])) continue;
    if (key in edited) merged[key] = rebased(base[key], edited[key], now[key]);
    else delete merged[key];
  }
  return merged;
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);
const isRows = (value: unknown): value is readonly Members[] => Array.isArray(value) && value.every(isMembers);
const byKey = (rows: readonly Members[]): Members => Object.fromEntries(rows.map((row, place) => [rowKey(row, place), row]));
