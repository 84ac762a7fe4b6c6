/** Words for what a change changed: the title of its kind, and a line for each field, from what to what. */
import type { FieldChange, HistoryEntry } from '../../src/schema/history.ts';
import { texts } from '../texts.ts';
import { activityTexts } from './activity-texts.ts';

const places = ['x', 'y', 'z', 'rotation', 'label.x', 'label.y', 'label.rotation', 'nodes'];
/** Fields that follow from others, and say nothing more. */
const derived = ['label.text', 'label.style', 'width', 'height', 'svg'];

/** The special word for a change of one sort: moved, renamed, suspended; undefined for others. */
export type ChangeWord = 'moved' | 'renamed' | 'suspended' | 'resumed' | 'redrawn';

export function wordOf({ action, fields }: HistoryEntry): ChangeWord | undefined {
  if (!action.endsWith('.updated') || fields.length === 0) return undefined;
  const all = fields.map(({ field }) => field);
  const only = (...wanted: readonly string[]) => all.every((field) => wanted.includes(field));
  if (only(...places)) return 'moved';
  if (all.includes('name') && only('name', ...derived)) return 'renamed';
  if (only('svg', ...places)) return 'redrawn';
  const [first] = fields;
  if (all.length === 1 && first?.field === 'suspend') return first.to === true ? 'suspended' : 'resumed';
  return undefined;
}

/** Lines of details: "Delay: none → 40 ms". None where the title says it. */
export function linesOf(entry: HistoryEntry): string[] {
  const word = wordOf(entry);
  if (word === 'renamed') return entry.fields.filter(({ field }) => field === 'name').map(lineOf);
  if (word !== undefined) return [];
  return entry.fields.filter(({ field }) => ![...places, ...derived].includes(field)).map(lineOf);
}

const lineOf = ({ field, from, to }: FieldChange) =>
  activityTexts.change(labelOf(field), valueText(field, from), valueText(field, to));

/** `filters.delay_ab` to its type and its direction. */
function filterOf(field: string): { readonly type: string; readonly way: string } | undefined {
  const [, type, way = ''] = /^filters\.(\w+?)(?:_(ab|ba))?$/.exec(field) ?? [];
  return type === undefined ? undefined : { type, way };
}

function labelOf(field: string): string {
  const filter = filterOf(field);
  if (filter) {
    const label = activityTexts.filters[filter.type]?.label ?? sentence(filter.type);
    return filter.way ? activityTexts.oneWay(label, filter.way) : label;
  }
  const name = field.replace(/^(properties|label|link_style)\./, '');
  return activityTexts.fields[field] ?? texts.properties[name] ?? sentence(name);
}

const sentence = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll(/[_.]/g, ' ')}`;

function valueText(field: string, value: unknown): string {
  const units = activityTexts.filters[filterOf(field)?.type ?? '']?.units ?? [];
  if (value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0))
    return activityTexts.none;
  if (typeof value === 'boolean') return value ? activityTexts.on : activityTexts.off;
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) {
    // A further value of 0 is as if it were not there.
    const shown = value.flatMap((one, place) => (place > 0 && one === 0 ? [] : [`${one}${units[place] ?? ''}`]));
    return shown.join(', ');
  }
  return typeof value === 'object' ? JSON.stringify(value) : `${value}`;
}
