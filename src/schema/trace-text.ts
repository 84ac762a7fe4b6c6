/**
 * Parses published network traces: CSV with a header that names the columns, and the mahimahi format. A line of the latter is the
 * millisecond at which a packet of 1,500 bytes can be delivered; the file repeats after its last line.
 *
 * @see Netravali et al.: Mahimahi, USENIX ATC 2015; mm-link(1)
 */
import { mostSamples, type TraceFormat, type TraceSample } from './schedule.ts';

interface ParsedTrace {
  /** Milliseconds. */
  readonly length: number;
  readonly samples: readonly TraceSample[];
}
type Parsed = { readonly ok: true; readonly trace: ParsedTrace } | { readonly ok: false; readonly reason: string };

/** Interval in which deliveries are counted. */
const mahimahiBinMs = 100;
const mahimahiBits = 1_500 * 8;
/** Length of a trace with one line. */
const defaultStepMs = 1_000;

export function parseTrace(format: TraceFormat, text: string): Parsed {
  const lines = text.split('\n').map((line) => line.trim());
  return parsers[format](lines.filter((line) => line !== '' && !line.startsWith('#')));
}

const parsers: Record<TraceFormat, (lines: readonly string[]) => Parsed> = { csv: parseCsv, mahimahi: parseMahimahi };

/** Index in a sample and factor to its unit, by column name. */
const columns: Readonly<Record<string, readonly [place: number, factor: number]>> = {
  time_ms: [0, 1],
  time_s: [0, 1_000],
  rate_kbps: [1, 1],
  rate_mbps: [1, 1_000],
  rate_bps: [1, 0.001],
  delay_ms: [2, 1],
  loss_percent: [3, 1],
};
const defaultHeader = ['time_ms', 'rate_kbps', 'delay_ms', 'loss_percent'];

function parseCsv(lines: readonly string[]): Parsed {
  // The check comes before the split into cells: a text of many lines would block other requests.
  if (lines.length > mostSamples + 1) return wrong(`it has more than ${mostSamples} samples`);
  const rows = lines.map((line) => line.split(/[,;\t ]/).map((cell) => cell.trim()));
  const [first = []] = rows;
  const hasHeader = first.some((cell) => /^[a-z]/i.test(cell));
  const names = hasHeader ? first.map((cell) => cell.toLowerCase()) : defaultHeader.slice(0, first.length);
  const unknown = names.find((name) => !Object.hasOwn(columns, name));
  if (unknown !== undefined) return wrong(`column "${unknown.slice(0, 100)}" is not one of ${Object.keys(columns).join(', ')}`);
  const places = names.map((name) => columns[name] as readonly [number, number]);
  if (!places.some(([place]) => place === 0)) return wrong('it has no column time_ms or time_s');
  const samples: TraceSample[] = [];
  let origin: number | undefined;
  for (const [index, row] of (hasHeader ? rows.slice(1) : rows).entries()) {
    const sample: [number, number | null, number | null, number | null] = [Number.NaN, null, null, null];
    for (const [column, [place, factor]] of places.entries()) {
      const cell = row[column] ?? '';
      const value = cell === '' ? null : Number(cell) * factor;
      if (value !== null && !Number.isFinite(value)) return wrong(`line ${index + 1}: "${cell.slice(0, 100)}" is not a number`);
      if (place === 0) sample[0] = value ?? Number.NaN;
      else sample[place] = value;
    }
    origin ??= sample[0];
    // Times of a trace often begin with the time of day.
    sample[0] = Math.round(sample[0] - origin);
    samples.push(sample);
  }
  return withLength(samples);
}

function withLength(samples: readonly TraceSample[]): Parsed {
  const [last, before] = [samples.at(-1)?.[0], samples.at(-2)?.[0]];
  if (last === undefined) return wrong('it is empty');
  return { ok: true, trace: { length: last + (before === undefined ? defaultStepMs : last - before), samples } };
}

/**
 * Averages intervals without a delivery with those up to the next delivery. No rate becomes 0, because frames would wait in a
 * stopped link.
 */
function parseMahimahi(lines: readonly string[]): Parsed {
  const deliveries = new Map<number, number>();
  let last = 0;
  for (const [index, line] of lines.entries()) {
    if (!/^\d{1,10}$/.test(line)) return wrong(`line ${index + 1}: "${line.slice(0, 100)}" is not a whole number`);
    const at = Number(line);
    if (at < last) return wrong(`line ${index + 1}: its time is before that of the line above it`);
    last = at;
    // A delivery at the end of an interval belongs to that interval.
    const bin = Math.max(0, Math.ceil(at / mahimahiBinMs) - 1);
    deliveries.set(bin, (deliveries.get(bin) ?? 0) + 1);
  }
  if (lines.length === 0) return wrong('it is empty');
  const samples: TraceSample[] = [];
  let from = 0;
  for (const [bin, count] of deliveries) {
    const at = from * mahimahiBinMs;
    const lengthMs = Math.max(1, Math.min(last, (bin + 1) * mahimahiBinMs) - at);
    samples.push([at, (count * mahimahiBits) / lengthMs, null, null]);
    from = bin + 1;
  }
  return { ok: true, trace: { length: Math.max(1, last), samples } };
}

function wrong(reason: string): { ok: false; reason: string } {
  return { ok: false, reason };
}
