import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { normaliseFilters, offeredFilters } from '../../src/schema/filter.ts';
import type { FilterFacts } from '../../src/schema/filter-table.ts';
import { countOf, edited, type FilterObject, offeredTypes, sameFilters, turned, type Way, withoutAliases } from './form.ts';
import { presetFigures, presets } from './presets.ts';

const facts = offeredFilters({ delay_ba: [1] }, ['A', 'B']) as FilterFacts[];
const edit = (filters: FilterObject, type: string, [place, value]: [number, number | string | undefined], way: Way = 'both') => {
  const found = facts.find((one) => one.type === type);
  assert.ok(found, type);
  return edited(filters, { facts: found, way, place, value });
};

describe('the form of impairments', () => {
  it('sets, changes and clears values', () => {
    const delayed = edit({}, 'delay', [0, 20]);
    assert.deepEqual(delayed, { delay: [20] });
    assert.deepEqual(edit(delayed, 'delay', [1, 5]), { delay: [20, 5] });
    assert.deepEqual(edit({ delay: [20, 5] }, 'delay', [1, undefined]), { delay: [20] });
    assert.deepEqual(edit({ delay: [20, 5] }, 'delay', [0, undefined]), {});
    assert.deepEqual(edit({ delay: [20, 5] }, 'delay', [0, 0]), {});
  });

  it('keeps the directions apart', () => {
    const filters = edit({ delay: [20] }, 'delay', [0, 300], 'ba');
    assert.deepEqual(filters, { delay: [20], delay_ba: [300] });
    assert.deepEqual(turned(filters), { delay: [20], delay_ab: [300] });
    assert.deepEqual([countOf(filters, 'both'), countOf(filters, 'ab'), countOf(filters, 'ba')], [1, 0, 1]);
    assert.deepEqual(edit({}, 'seed', [0, 7], 'ab'), { seed: [7] });
  });

  it('shows the defaults of omitted values', () => {
    assert.deepEqual(edit({ burst_loss: [2] }, 'burst_loss', [3, 50]), { burst_loss: [2, 98, 0, 50] });
    assert.deepEqual(edit({}, 'jitter', [0, 1]), { jitter: [1, 'uniform'] });
    assert.deepEqual(edit({}, 'jitter', [1, 'normal']), { jitter: [0, 'normal'] });
    assert.deepEqual(edit({ jitter: [1, 'normal'] }, 'jitter', [0, undefined]), { jitter: [0, 'normal'] });
    assert.deepEqual(edit({ jitter: [1, 'normal'] }, 'jitter', [1, undefined]), {});
    assert.deepEqual(edit({}, 'bandwidth', [1, 20_000]), {}, 'a queue without a bandwidth does nothing');
  });

  it('shows each filter once, even if the server lists it for one direction', () => {
    assert.equal(facts.filter(({ type }) => type.startsWith('delay')).length, 2);
    assert.equal(offeredTypes(facts, 'both').filter(({ type }) => type.startsWith('delay')).length, 1);
    assert.ok(offeredTypes(facts, 'both').some(({ type }) => type === 'seed'));
    assert.ok(!offeredTypes(facts, 'ab').some(({ type }) => type === 'seed'));
  });

  it('accepts the second name of a delay', () => {
    assert.deepEqual(withoutAliases({ latency: [30], latency_ab: [40], corrupt: [1] }), {
      delay: [30],
      delay_ab: [40],
      corrupt: [1],
    });
  });
});

describe('a preset', () => {
  for (const { id, filters } of presets)
    it(`${id} is what the server takes and keeps, and says its figures`, () => {
      const kept = normaliseFilters(filters);
      assert.ok(kept.ok && sameFilters(kept.filters as FilterObject, filters));
      assert.match(presetFigures(filters), /\d .* ms each way/);
    });
});
