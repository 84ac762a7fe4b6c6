/** Any filters of a link, in the dialog of GNS3's desktop and the form of its web UI: what was not changed stays exact, what was not shown stays. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeChance } from '../../../../test/durability/random.ts';
import { checkFilters } from '../../../api/filters.ts';
import { type FilterOffer, type Filters, offeredFilters } from '../../../schema/filter.ts';
import { type FilterParameter, filterTable } from '../../../schema/filter-table.ts';
import { desktopFilters, desktopOffers, ofDesktop, withUnseen } from './filter-forms.ts';

const rounds = 2000;
const names = ['R1', 'R2'] as const;

type Random = () => number;
const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

function randomValue(random: Random, { type, choices, minimum = 0, maximum = 0, fractions }: FilterParameter): number | string {
  if (type === 'text') return pick(random, choices ?? ['icmp', 'tcp port 80\nudp', '(ip)', '0', '1.5']);
  const range = pick(random, [1, 3, 100, maximum]);
  const value = Math.min(maximum, Math.max(minimum, minimum + random() * range));
  const isFraction = fractions === true && random() < 0.5;
  return isFraction ? pick(random, [value, 0.5, 0.001, 99.999, 12.34]) : Math.round(value);
}

function wholeOnly({ fractions: _fractions, ...parameter }: FilterParameter): FilterParameter {
  return parameter;
}

/** Makes filters that the server accepts: some of its keys, each with one value or more, also fewer than the filter has parameters. */
function randomFilters(random: Random): Filters {
  const filters: Record<string, unknown> = {};
  for (const { type, parameters, undirected } of filterTable) {
    if (random() < 0.6) continue;
    const key = undirected || random() < 0.6 ? type : `${type}${pick(random, ['_ab', '_ba'])}`;
    const hasText = parameters.some((one) => one.type === 'text');
    const count = hasText ? parameters.length : 1 + Math.floor(random() * parameters.length);
    filters[key] = parameters.slice(0, count).map((one) => randomValue(random, one));
  }
  for (const suffix of ['', '_ab', '_ba']) if (filters[`delay${suffix}`]) delete filters[`latency${suffix}`];
  return checkFilters(filters);
}

type Form = Map<string, (number | string)[]>;

/** The dialog: each field is filled from the first value of its filter, whole numbers into fields of numbers and texts into the others. */
function fillDialog(offers: readonly FilterOffer[], shown: Filters): Form {
  const form: Form = new Map();
  for (const { type, parameters } of offers) {
    const [first] = shown[type as keyof Filters] ?? [];
    const fields = parameters.map(({ type: field, minimum = 0, maximum = 0 }) => {
      if (first === undefined) return field === 'text' ? '' : 0;
      if (field === 'text') assert.equal(typeof first, 'string', `${type}: a field of texts reads ${first}`);
      // A field of numbers cannot hold one that is outside of its range.
      else assert.ok(Number.isInteger(first) && Number(first) >= minimum && Number(first) <= maximum, `${type} reads ${first}`);
      return first;
    });
    form.set(type, fields);
  }
  return form;
}

/** Returns the filters that the dialog sends: all that it has, with an empty list for an empty text. */
const sent = (form: Form) => Object.fromEntries([...form].map(([type, fields]) => [type, fields.filter((value) => value !== '')]));

/** Returns the filters that the link has after the request. */
const received = (given: Record<string, unknown>, stored: Filters) =>
  checkFilters(ofDesktop(withUnseen(given, desktopFilters(stored)), stored));

describe('the dialog of the desktop', () => {
  it('sends back what it was shown, and every filter keeps its exact values', () => {
    for (let seed = 1; seed <= rounds; seed += 1) {
      const stored = randomFilters(makeChance(seed).next);
      const form = fillDialog(desktopOffers(offeredFilters(stored, names)), desktopFilters(stored));
      assert.deepEqual(received(sent(form), stored), stored, `seed ${seed}`);
    }
  });

  it('changes the value that was changed, and no other', () => {
    let changes = 0;
    for (let seed = 1; seed <= rounds; seed += 1) {
      const random = makeChance(seed).next;
      const stored = randomFilters(random);
      const offers = desktopOffers(offeredFilters(stored, names));
      const form = fillDialog(offers, desktopFilters(stored));
      const offer = pick(random, offers);
      const [parameter] = offer.parameters as [FilterParameter];
      const wanted = randomValue(random, wholeOnly(parameter));
      const [before] = form.get(offer.type) ?? [];
      if (wanted === before) continue;
      changes += 1;
      form.set(offer.type, [wanted]);
      const [key = '', number] = offer.type.split('/');
      const why = `seed ${seed}: ${offer.type} of ${before} to ${wanted}`;
      const after = received(sent(form), stored);
      // The key that the filter is stored under; `latency` becomes a delay where its jitter is given.
      const was = stored[key as keyof Filters] ?? stored[key.replace('delay', 'latency') as keyof Filters] ?? [];
      const others = (filters: Filters) =>
        Object.fromEntries(Object.entries(filters).filter(([one]) => one.replace('latency', 'delay') !== key));
      assert.deepEqual(others(after), others(stored), why);
      const facts = filterTable.find(({ type }) => type === key.replace(/_(?:ab|ba)$/, ''));
      const place =
        number === undefined ? Math.max(facts?.parameters.findIndex(({ type }) => type === 'text') ?? 0, 0) : Number(number) - 1;
      const expected = Array.from({ length: Math.max(was.length, place + 1) }, (_, at) =>
        at === place ? wanted : (was[at] ?? (facts?.parameters[at]?.type === 'text' ? '' : 0)),
      );
      assert.deepEqual(after[key as keyof Filters] ?? [], checkFilters({ [key]: expected })[key as keyof Filters] ?? [], why);
    }
    assert.ok(changes > rounds / 2, `${changes} changes`);
  });

  it('switches a filter off by 0 or an empty text, and only that one', () => {
    for (let seed = 1; seed <= rounds; seed += 1) {
      const random = makeChance(seed).next;
      const stored = randomFilters(random);
      const keys = Object.keys(stored).filter((key) => !key.startsWith('latency'));
      if (keys.length === 0) continue;
      const key = pick(random, keys);
      const form = fillDialog(desktopOffers(offeredFilters(stored, names)), desktopFilters(stored));
      form.set(key, form.get(key)?.map((value) => (typeof value === 'string' ? '' : 0)) ?? []);
      const { [key as keyof Filters]: _off, ...others } = stored;
      assert.deepEqual(received(sent(form), stored), others, `seed ${seed}: ${key}`);
    }
  });
});

describe('the form of the web UI', () => {
  const known = ['frequency_drop', 'packet_loss', 'delay', 'corrupt', 'bpf'] as const;

  it('shows the filters of GNS3 alone, and deletes none that it does not show', () => {
    for (let seed = 1; seed <= rounds; seed += 1) {
      const stored = randomFilters(makeChance(seed).next);
      const isShown = (key: string) => (known as readonly string[]).includes(key);
      const nothing = { frequency_drop: [0], packet_loss: [0], delay: [0, 0], corrupt: [0], bpf: [] };
      const form = { ...nothing, ...Object.fromEntries(Object.entries(stored).filter(([key]) => isShown(key))) };
      assert.deepEqual(checkFilters(withUnseen(form, stored)), stored, `seed ${seed}`);
      const off = checkFilters(withUnseen(nothing, stored));
      assert.deepEqual(off, Object.fromEntries(Object.entries(stored).filter(([key]) => !isShown(key))), `seed ${seed}`);
    }
  });

  it('is distinguished from a request for all filters, which replaces them', () => {
    assert.deepEqual(withUnseen({ packet_loss: [1] }, { seed: [7] }), { packet_loss: [1] });
    assert.deepEqual(withUnseen({}, { seed: [7] }), {});
  });
});
