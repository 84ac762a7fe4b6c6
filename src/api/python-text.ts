/** Prints values as Python does, for clients of GNS3 3.x, which read the list of faults in a message. */
import type { ValueFault } from './lax-values.ts';

/** Longest text and most entries of one value that are printed. */
const mostCharacters = 200;
const mostEntries = 20;
const deepest = 4;
/** Keys whose values are never quoted. */
const secret = /pass|secret|token/i;

/** Prints faults of a request. Values of secret keys are replaced by `***`, and long values are cut. */
export function printFaults(faults: readonly ValueFault[]): string {
  const printed = faults.map(({ type, loc, msg, input }) => {
    const shown = loc.some((key) => secret.test(String(key))) && !isObject(input) ? '***' : input;
    const place = `(${loc.map((key) => print(key, 0)).join(', ')}${loc.length === 1 ? ',' : ''})`;
    return `{'type': ${print(type, 0)}, 'loc': ${place}, 'msg': ${print(msg, 0)}, 'input': ${print(shown, 0)}}`;
  });
  return `[${printed.join(', ')}]`;
}

function print(value: unknown, depth: number): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'object') return String(value);
  if (depth >= deepest) return '...';
  if (Array.isArray(value)) {
    const items = value.slice(0, mostEntries).map((item) => print(item, depth + 1));
    return `[${items.join(', ')}${value.length > mostEntries ? ', ...' : ''}]`;
  }
  const entries: string[] = [];
  for (const key in value) {
    if (entries.length === mostEntries) break;
    const inner = (value as Record<string, unknown>)[key];
    entries.push(`${quote(key)}: ${secret.test(key) ? "'***'" : print(inner, depth + 1)}`);
  }
  return `{${entries.join(', ')}}`;
}

function quote(text: string): string {
  const cut = text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text;
  const mark = cut.includes("'") && !cut.includes('"') ? '"' : "'";
  const escaped = cut.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');
  const inner = mark === "'" ? escaped.replaceAll("'", "\\'") : escaped;
  return `${mark}${inner.replace(/\p{Cc}/gu, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`)}${mark}`;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
