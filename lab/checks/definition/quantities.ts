/** Parses times, rates and ranges of checks: `500ms`, `10mbit`, `<= 1%`, `18ms..25ms`. */

export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

/** Units by measure, each with its size in the base unit: milliseconds, percent, kbit/s, or a plain number. */
const units = {
  time: { us: 0.001, ms: 1, s: 1000, m: 60_000, h: 3_600_000 },
  percent: { '%': 1 },
  rate: { kbit: 1, mbit: 1000, gbit: 1_000_000 },
  count: {},
} as const satisfies Record<string, Readonly<Record<string, number>>>;
export type Measure = keyof typeof units;

const numberForm = '(\\d{1,12}(?:\\.\\d{1,9})?)\\s*([A-Za-z%]*)';

/** Parses a duration; returns milliseconds. @throws QuantityError */
export function readDuration(text: string): number {
  const ms = quantity(text.trim(), 'time');
  if (ms > 24 * 3_600_000) throw new QuantityError(`"${text}" is longer than a day`);
  return ms;
}

/** A range; both bounds are included unless `isOpen`. */
export interface Range {
  readonly min: number;
  readonly max: number;
  readonly isOpen: boolean;
  /** The range as the user wrote it. */
  readonly text: string;
}

/** Parses a range. @throws QuantityError */
export function readRange(given: string | number, measure: Measure): Range {
  const text = String(given).trim();
  const [, low, high] = /^(.+?)\s*\.\.\s*(.+)$/.exec(text) ?? [];
  if (low !== undefined && high !== undefined) {
    const [min, max] = [quantity(low, measure), quantity(high, measure)];
    if (min > max) throw new QuantityError(`"${text}" is empty: its first value is the larger one`);
    return { min, max, isOpen: false, text };
  }
  const [, operator = '', rest = ''] = /^(<=|>=|<|>|=)?\s*(.*)$/.exec(text) ?? [];
  const value = quantity(rest, measure);
  return {
    min: operator.startsWith('<') ? Number.NEGATIVE_INFINITY : value,
    max: operator.startsWith('>') ? Number.POSITIVE_INFINITY : value,
    isOpen: operator === '<' || operator === '>',
    text,
  };
}

export function isWithin({ min, max, isOpen }: Range, value: number): boolean {
  return isOpen ? value > min && value < max : value >= min && value <= max;
}

function quantity(text: string, measure: Measure): number {
  const [, digits, unit = ''] = new RegExp(`^${numberForm}$`).exec(text) ?? [];
  const sizes: Readonly<Record<string, number>> = units[measure];
  const words = Object.keys(sizes);
  const example = words.length > 0 ? `, such as 5${words[1] ?? words[0]}` : '';
  if (digits === undefined) throw new QuantityError(`"${text}" is not a number${example}`);
  if (unit === '' && measure !== 'time') return Number(digits);
  const size = Object.hasOwn(sizes, unit.toLowerCase()) ? sizes[unit.toLowerCase()] : undefined;
  if (size === undefined) {
    throw new QuantityError(
      `"${text}" has ${unit === '' ? 'no unit' : `the unknown unit "${unit}"`}. Known: ${words.join(', ') || 'none'}`,
    );
  }
  return Number((Number(digits) * size).toPrecision(12));
}
