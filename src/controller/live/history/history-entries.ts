/** Entries of a project's history: who changed which fields of which object, from what to what. */
import { setImmediate as turn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { FieldChange, HistoryEntry } from '../../../schema/history.ts';
import { fieldLimits } from '../../../schema/history.ts';
import type { LogRecord } from '../../log/records.ts';

/** Time after which other requests have their turn: objects can be large. Milliseconds. */
const sliceMs = 10;

/** Converts records to entries, in their order. */
export async function entriesOf(records: readonly LogRecord[]): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  let sliceEnds = performance.now() + sliceMs;
  for (const record of records) {
    if (performance.now() > sliceEnds) {
      await turn();
      sliceEnds = performance.now() + sliceMs;
    }
    entries.push(entryOf(record));
  }
  return entries;
}

function entryOf(record: LogRecord): HistoryEntry {
  const { action, at, by, event, was, inverts, seq, step } = record;
  const { name = null, node_id, link_id, drawing_id, project_id } = event as Readonly<Record<string, string | undefined>>;
  const isLink = action.startsWith('link.');
  const id = (isLink ? link_id : (node_id ?? drawing_id)) ?? project_id ?? '';
  const fields = action.endsWith('.updated') && was !== null ? changedFields(was, event) : [];
  return { action, at, by, fields, id, inverts: inverts ?? null, name, seq, step: step ?? null };
}

type NamedValues = Readonly<Record<string, unknown>>;
const hasNames = (value: unknown): value is NamedValues => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Fields that links have only while they are set. */
const optional = ['schedule', 'mirror'];
/** Depth of field names: `properties.environment`, `label.style`. */
const deepest = 2;

function changedFields(was: object, event: object): FieldChange[] {
  const [before, after] = [was, event] as [NamedValues, NamedValues];
  const names = [...Object.keys(before), ...optional.filter((name) => !Object.hasOwn(before, name))];
  const found: FieldChange[] = [];
  for (const name of names) if (Object.hasOwn(after, name)) collect(found, { field: name, from: before[name], to: after[name] });
  return found.slice(0, fieldLimits.fields);
}

function collect(found: FieldChange[], { field, from, to }: FieldChange, depth = 1): void {
  if (found.length >= fieldLimits.fields || isDeepStrictEqual(from ?? null, to ?? null)) return;
  if (depth >= deepest || !hasNames(from) || !hasNames(to)) {
    found.push({ field: shortened(field), from: shownValue(from), to: shownValue(to) });
    return;
  }
  const own = (fields: NamedValues, name: string) => (Object.hasOwn(fields, name) ? fields[name] : null);
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)]))
    collect(found, { field: `${field}.${name}`, from: own(from, name), to: own(to, name) }, depth + 1);
}

/** Returns a short value as it is, and of a long one the beginning: of an object, that of its JSON. */
function shownValue(value: unknown = null): unknown {
  if (typeof value === 'string') return shortened(value);
  const text = JSON.stringify(value);
  return text.length > fieldLimits.characters ? shortened(text) : value;
}

function shortened(text: string): string {
  return text.length > fieldLimits.characters ? `${text.slice(0, fieldLimits.characters).replace(/[\uD800-\uDBFF]$/, '')}…` : text;
}
