/** Reads the impairments of a command: `delay 100`, `loss 0.5%`, `bandwidth 10M`. */
import type { FilterChanges } from '../../impair/form.ts';
import { phraseTexts } from './phrase-texts.ts';

export interface Impairment {
  /** Undefined: the number is missing. */
  readonly filters?: FilterChanges;
  /** The impairment in words: `Delay 100 ms each way`. */
  readonly label: string;
  /** The text that follows it: the name of a link. */
  readonly rest: string;
}

type Reader = (numbers: readonly Quantity[]) => Pick<Impairment, 'filters' | 'label'>;
interface Quantity {
  readonly value: number;
  readonly unit: string;
}

const { delay, loss, corrupt, duplicate, reorder, bandwidth } = phraseTexts.impair;

const percent =
  (type: string, label: (value: number) => string): Reader =>
  ([first]) => ({ filters: change(type, first && [first.value]), label: label(first?.value ?? 0) });

const delayOf: Reader = ([first, second]) => {
  const [value = 0, jitter] = [first, second].map((one) => one && milliseconds(one));
  return { filters: change('delay', first && (jitter ? [value, jitter] : [value])), label: delay(value, jitter) };
};

const bandwidthOf: Reader = ([first]) => {
  const kilobits = first ? first.value * (kilobitsIn[first.unit[0] ?? ''] ?? 1) : 0;
  return { filters: change('bandwidth', first && [kilobits]), label: bandwidth(kilobits) };
};

const kilobitsIn: Readonly<Record<string, number>> = { m: 1_000, g: 1_000_000 };
const milliseconds = ({ value, unit }: Quantity): number => (unit === 's' ? value * 1000 : value);
/** A filter whose first value is 0 is removed. */
const change = (type: string, values: readonly number[] | undefined): FilterChanges => ({
  [type]: values?.[0] ? [...values] : null,
});

const readers: Readonly<Record<string, Reader>> = {
  delay: delayOf,
  latency: delayOf,
  loss: percent('packet_loss', loss),
  corrupt: percent('corrupt', corrupt),
  duplicate: percent('duplicate', duplicate),
  reorder: percent('reorder', reorder),
  bandwidth: bandwidthOf,
  rate: bandwidthOf,
};
/** Numbers that a verb takes, where it is more than one. */
const mostNumbers: Readonly<Record<string, number>> = { delay: 2, latency: 2 };
const quantity = /^(\d+(?:\.\d+)?)(ms|s|%|[kmg](?:bit(?:\/s|ps)?)?)?$/;

/** Undefined: the verb is none of an impairment. */
export function impairmentOf(verb: string, words: readonly string[]): Impairment | undefined {
  const read = Object.hasOwn(readers, verb) ? readers[verb] : undefined;
  if (!read) return undefined;
  const numbers: Quantity[] = [];
  for (const word of words.slice(0, mostNumbers[verb] ?? 1)) {
    const [, value, unit = ''] = quantity.exec(word.toLowerCase()) ?? [];
    if (value === undefined) break;
    numbers.push({ value: Number(value), unit });
  }
  const { filters, label } = read(numbers);
  return { ...(numbers.length > 0 && { filters }), label, rest: words.slice(numbers.length).join(' ') };
}
