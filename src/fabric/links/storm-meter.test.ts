/** Counters of a link become a storm, and end to be one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type StormCounters, StormMeter, stormOfLink } from './storm-meter.ts';

/** Samples of a second each; returns after which of them there was a storm. */
function stormy(rates: readonly Partial<StormCounters>[]): boolean[] {
  const meter = new StormMeter();
  const totals = { broadcasts: 0, returned: 0 };
  return rates.map(({ broadcasts = 0, returned = 0 }) => {
    totals.broadcasts += broadcasts;
    totals.returned += returned;
    meter.sample(totals, 1);
    return meter.read() !== undefined;
  });
}

const quiet = {};
const loop = { returned: 10 };

describe('a storm', () => {
  it('begins after two seconds with returned frames, and ends after three without', () => {
    assert.deepEqual(stormy([loop, loop, quiet, quiet, loop, quiet, quiet, quiet, loop, loop]), [
      ...[false, true, true, true, true, true, true, false],
      ...[false, true],
    ]);
  });

  it('is no burst of a second, no spanning tree, and not what a thousand stations ask at their start', () => {
    assert.ok(!stormy([loop, quiet, loop, quiet, loop]).includes(true));
    assert.ok(!stormy(Array.from({ length: 60 }, () => ({ broadcasts: 1 }))).includes(true));
    assert.ok(!stormy(Array.from({ length: 60 }, () => ({ broadcasts: 1500, returned: 2 }))).includes(true));
    assert.ok(!stormy([{ broadcasts: 50_000 }, quiet, quiet]).includes(true));
  });

  it('is more than 2000 broadcasts a second, seen by the links that carry them', () => {
    const meter = new StormMeter();
    meter.sample({ broadcasts: 6000, returned: 0 }, 2);
    meter.sample({ broadcasts: 10_000, returned: 0 }, 2);
    const { since: _, ...storm } = meter.read() ?? { since: 0 };
    assert.deepEqual(storm, { broadcasts: 10_000, broadcastsPerSecond: 2000, returned: 0, returnedPerSecond: 0, isLoop: false });
  });

  it('of a link is that of both directions, with the VLAN of an access port', () => {
    const direction = { since: 5, broadcasts: 1, broadcastsPerSecond: 2, returned: 3, returnedPerSecond: 4, isLoop: false };
    assert.equal(stormOfLink(undefined, undefined, [1, 2]), undefined);
    assert.deepEqual(stormOfLink(undefined, direction, [undefined, undefined]), direction);
    assert.deepEqual(stormOfLink(direction, { ...direction, since: 4, isLoop: true }, [undefined, 7]), {
      ...{ since: 4, broadcasts: 2, broadcastsPerSecond: 4, returned: 6, returnedPerSecond: 8, isLoop: true, vlan: 7 },
    });
  });
});
