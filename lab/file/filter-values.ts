/** Parses filters of lab files: `delay: 20ms 5ms`, `packet_loss: 1%`, `bandwidth: 10mbit`; the result has the form of the API. */

import { type Filters, linkDirections, normaliseFilters } from '../../src/schema/filter.ts';
import { type FilterParameter, type FilterType, filterTable, filterTypes } from '../../src/schema/filter-table.ts';
import { LabError, type Place, suggestion } from './lab-error.ts';
import { isTreeMap, type Tree } from './read-yaml.ts';

/** Other names of filters. */
const aliases: Readonly<Record<string, FilterType>> = { loss: 'packet_loss', rate: 'bandwidth' };
const known = [...filterTypes, ...Object.keys(aliases)];

/** Units that a text may have, by the parameter's unit, each with its size in that unit. */
const units: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  ms: { us: 0.001, ms: 1, s: 1000 },
  '%': { '%': 1 },
  'kbit/s': { kbit: 1, 'kbit/s': 1, mbit: 1000, 'mbit/s': 1000, gbit: 1_000_000, 'gbit/s': 1_000_000 },
  bytes: { b: 1, kb: 1000, mb: 1_000_000, kib: 1024, mib: 1_048_576 },
};

/** Reads the filters of a link. @throws LabError */
export function readFilters(given: Readonly<Record<string, Tree>>, place?: Place): Filters {
  const checked = normaliseFilters(filterValues(given, place));
  if (checked.ok) return checked.filters;
  throw new LabError(`filter ${checked.name}: ${checked.reason}`, place);
}

/** Resolves names and units; the server's rules check the values. @throws LabError */
export function filterValues(given: Readonly<Record<string, Tree>>, place?: Place): Record<string, unknown> {
  const raw: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!isTreeMap(value)) raw[keyOf(name, place)] = readValues(name, value, place);
    else {
      if (!(linkDirections as readonly string[]).includes(name))
        throw new LabError(`the directions of filters are ab and ba, not "${name}"`, place);
      for (const [inner, one] of Object.entries(value)) raw[`${keyOf(inner, place)}_${name}`] = readValues(inner, one, place);
    }
  }
  return raw;
}

/** Returns the filter's key. `packet_loss_ab` is a name too, as in the API. */
function keyOf(name: string, place: Place | undefined): string {
  const [, base = name, direction = ''] = /^(.*?)(_ab|_ba)?$/.exec(name) ?? [];
  const type = Object.hasOwn(aliases, base) ? aliases[base] : base;
  if (!(filterTypes as readonly string[]).includes(String(type))) {
    throw new LabError(`there is no filter "${name}"${suggestion(base, known)}`, place);
  }
  return `${type}${direction}`;
}

function readValues(name: string, value: Tree, place: Place | undefined): unknown[] {
  const { parameters } = factsOf(keyOf(name, place));
  const isText = parameters.length === 1 && parameters[0]?.type === 'text';
  const parts = Array.isArray(value)
    ? (value as Tree[])
    : typeof value === 'string' && !isText
      ? value.split(/[\s,]+/).filter(Boolean)
      : [value];
  return parts.map((part, index) => readValue(name, part, parameters[index], place));
}

function factsOf(key: string) {
  const type = key.replace(/_(ab|ba)$/, '');
  return filterTable.find((row) => row.type === type) ?? { parameters: [] };
}

function readValue(name: string, value: Tree, parameter: FilterParameter | undefined, place: Place | undefined): unknown {
  if (typeof value !== 'string' || !parameter || parameter.type === 'text') return value;
  const [, number, unit = ''] = /^(-?\d{1,12}(?:\.\d{1,12})?) ?([A-Za-z%/]*)$/.exec(value.trim()) ?? [];
  if (number === undefined) throw new LabError(`filter ${name}: "${value.slice(0, 50)}" is not a number`, place);
  if (unit === '') return Number(number);
  const sizes = units[parameter.unit ?? ''] ?? {};
  const size = Object.hasOwn(sizes, unit.toLowerCase()) ? sizes[unit.toLowerCase()] : undefined;
  if (size === undefined) {
    const words = Object.keys(sizes);
    throw new LabError(
      `filter ${name}: ${parameter.name} has no unit "${unit}". ${words.length > 0 ? `Known: ${words.join(', ')}` : 'Leave it out'}`,
      place,
    );
  }
  // Rounds to twelve digits: 0.1 s is 100 ms, not 100.00000000000001.
  return Number((Number(number) * size).toPrecision(12));
}
