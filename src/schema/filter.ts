/**
 * The filters a link may have, in the order in which they act on a frame, and the one place that says what values they take.
 * The controller validates and normalises with this table, the fabric acts by it.
 */
export interface FilterParameter {
  name: string;
  type: 'int' | 'text';
  unit?: string;
  minimum?: number;
  maximum?: number;
}
export interface FilterFacts {
  type: FilterType;
  name: string;
  description: string;
  parameters: FilterParameter[];
  /** Not offered to clients: another spelling of a listed one. */
  alias?: boolean;
}
export const filterTypes = ['frequency_drop', 'packet_loss', 'bpf', 'corrupt', 'delay', 'latency'] as const;
export type FilterType = (typeof filterTypes)[number];
/** Stored and sent form: type to values. */
export type Filters = Partial<Record<FilterType, (number | string)[]>>;
export type NormalisedFilters = { ok: true; filters: Filters } | { ok: false; name: string; reason: string };

const percent = (name: string): FilterParameter => ({ name, type: 'int', unit: '%', minimum: 0, maximum: 100 });
const milliseconds = (name: string): FilterParameter => ({ name, type: 'int', unit: 'ms', minimum: 0, maximum: 32767 });

export const filterTable: readonly FilterFacts[] = [
  {
    type: 'frequency_drop',
    name: 'Frequency drop',
    description: 'Loses one frame out of every N, counted over both directions together; -1 loses every frame.',
    parameters: [{ name: 'Frequency', type: 'int', unit: 'th packet', minimum: -1, maximum: 32767 }],
  },
  {
    type: 'packet_loss',
    name: 'Packet loss',
    description: 'Loses each frame with the given chance, in both directions.',
    parameters: [percent('Chance')],
  },
  {
    type: 'delay',
    name: 'Delay',
    description:
      'Holds every frame for the latency, give or take the jitter, in both directions. It never limits how many frames pass.',
    parameters: [milliseconds('Latency'), milliseconds('Jitter (-/+)')],
  },
  {
    type: 'latency',
    name: 'Latency',
    description: 'A delay without jitter.',
    parameters: [milliseconds('Latency')],
    alias: true,
  },
  {
    type: 'corrupt',
    name: 'Corrupt',
    description: 'Damages bytes in the middle of each frame with the given chance.',
    parameters: [percent('Chance')],
  },
  {
    type: 'bpf',
    name: 'Berkeley Packet Filter (BPF)',
    description: 'Loses every frame that matches one of the expressions, one expression per line.',
    parameters: [{ name: 'Filters', type: 'text' }],
  },
];

/**
 * Checks a client's filters and puts them into stored form: numbers as numbers, text trimmed, inactive filters (empty list, first
 * value 0 or empty text) left out.
 */
export function normaliseFilters(given: Readonly<Record<string, unknown>>): NormalisedFilters {
  const filters: Filters = {};
  for (const [name, values] of Object.entries(given)) {
    const facts = filterTable.find((row) => row.type === name);
    if (!facts) return { ok: false, name, reason: 'there is no such filter' };
    if (!Array.isArray(values)) return { ok: false, name, reason: 'its values must be a list' };
    if (values.length > facts.parameters.length) {
      return { ok: false, name, reason: `it takes at most ${facts.parameters.length} value(s), ${values.length} were given` };
    }
    const stored: (number | string)[] = [];
    for (const [index, value] of values.entries()) {
      const parameter = facts.parameters[index] as FilterParameter;
      const checked = parameter.type === 'text' ? checkText(value, parameter) : checkInteger(value, parameter);
      if ('reason' in checked) return { ok: false, name, reason: checked.reason };
      stored.push(checked.value);
    }
    if (stored.length > 0 && stored[0] !== 0 && stored[0] !== '') filters[facts.type] = stored;
  }
  if (filters.delay && filters.latency) return { ok: false, name: 'latency', reason: 'give either delay or latency, not both' };
  return { ok: true, filters };
}

type Checked = { value: number | string } | { reason: string };

function checkText(value: unknown, parameter: FilterParameter): Checked {
  if (typeof value !== 'string') return { reason: `${parameter.name} must be text` };
  if (value.length > 4096) return { reason: `${parameter.name} is longer than 4096 characters` };
  return { value: value.trim() };
}

/** Existing clients send numbers as text too. */
function checkInteger(value: unknown, parameter: FilterParameter): Checked {
  const number = typeof value === 'string' && /^\s*-?\d{1,9}\s*$/.test(value) ? Number(value) : value;
  const { minimum = 0, maximum = 0, name, unit } = parameter;
  if (typeof number !== 'number' || !Number.isInteger(number)) return { reason: `${name} must be a whole number` };
  if (number < minimum || number > maximum)
    return { reason: `${name} must lie between ${minimum} and ${maximum} ${unit}, not ${number}` };
  return { value: number };
}
