import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scheduleOf } from '../../api/filters.ts';
import type { Filters } from '../../schema/filter.ts';
import type { LinkScheduleInput } from '../../schema/schedule.ts';
import { Timeline } from './timeline.ts';

const timelineOf = (input: LinkScheduleInput, own: Filters = {}) => new Timeline(scheduleOf({ started_at: 0, ...input }), own);

/** State at each time: filters, `down` or `up`, and until when. */
function walk(timeline: Timeline, times: readonly number[]) {
  return times.map((time) => {
    const { filters, suspend, until } = timeline.at(time);
    return [time, { ...filters }, suspend ? 'down' : 'up', until];
  });
}
const { POSITIVE_INFINITY: never } = Number;

describe('a schedule', () => {
  it('has steps that replace what earlier ones said of the same filter', () => {
    const steps = [
      { at: 2000, filters: { delay: [] } },
      { at: 0, filters: { delay: [20, 5], packet_loss: [1] } },
    ];
    assert.deepEqual(walk(timelineOf({ steps }), [-5, 0, 1999.9, 2000, 1e9]), [
      [-5, {}, 'up', 0],
      [0, { delay: [20, 5], packet_loss: [1] }, 'up', 2000],
      [1999.9, { delay: [20, 5], packet_loss: [1] }, 'up', 2000],
      [2000, { delay: [], packet_loss: [1] }, 'up', never],
      [1e9, { delay: [], packet_loss: [1] }, 'up', never],
    ]);
  });

  it('ramps numbers from what they were, also from within another ramp, and asks again each millisecond', () => {
    const steps = [
      { at: 0, filters: { delay: [100, 10] }, ramp: 1000 },
      { at: 500, filters: { delay: [0, 0], frequency_drop: [9] }, ramp: 100 },
    ];
    const timeline = timelineOf({ steps }, { delay: [20] });
    assert.deepEqual(walk(timeline, [0, 250.5, 500, 550, 600]), [
      [0, { delay: [20, 0] }, 'up', 1],
      [250.5, { delay: [40.04, 2.505] }, 'up', 251],
      [500, { delay: [60, 5], frequency_drop: [0] }, 'up', 501],
      [550, { delay: [30, 2.5], frequency_drop: [5] }, 'up', 551],
      [600, { delay: [0, 0], frequency_drop: [9] }, 'up', never],
    ]);
    const rate = timelineOf({ steps: [{ at: 0, filters: { bandwidth: [500] }, ramp: 1000 }] });
    assert.deepEqual(rate.at(10).filters, { bandwidth: [500] }, 'a ramp from no bandwidth would be the narrowest one first');
  });

  it('flaps so many times, or until the next step says otherwise', () => {
    const steps = [
      { at: 100, flap: { down: 10, up: 20, count: 2 } },
      { at: 1000, flap: { down: 5, up: 5 } },
      { at: 1012, suspend: true },
      { at: 1100, suspend: false },
    ];
    assert.deepEqual(
      walk(timelineOf({ steps }), [99, 100, 110, 130, 140, 160, 1000, 1007, 1010, 1012, 1100]).map(([, , ...rest]) => rest),
      [
        ['up', 100],
        ['down', 110],
        ['up', 130],
        ['down', 140],
        ['up', 160],
        ['up', 1000],
        ['down', 1005],
        ['up', 1010],
        ['down', 1012],
        ['down', 1100],
        ['up', never],
      ],
    );
  });

  it('repeats, and is over', () => {
    const steps = [{ at: 50, filters: { corrupt: [5] } }];
    assert.deepEqual(walk(timelineOf({ steps, duration: 100, repeat: 2 }), [60, 100, 149, 150, 199, 200]), [
      [60, { corrupt: [5] }, 'up', 100],
      [100, {}, 'up', 150],
      [149, {}, 'up', 150],
      [150, { corrupt: [5] }, 'up', 200],
      [199, { corrupt: [5] }, 'up', 200],
      [200, {}, 'up', never],
    ]);
    assert.deepEqual(timelineOf({ steps, duration: 100, repeat: 0 }).at(1e9 + 70).filters, { corrupt: [5] });
  });

  it('follows traces, which begin anew after their length', () => {
    const traces = [
      { format: 'csv' as const, text: 'time_s,rate_mbps,delay_ms\n10,1,30\n10.5,0,\n11,2.5,20\n' },
      { format: 'mahimahi' as const, text: '0\n50\n100\n100\n450\n', direction: 'ba' as const },
    ];
    const timeline = timelineOf({ traces });
    assert.deepEqual(walk(timeline, [0, 100, 499, 500, 1000, 1500]), [
      [0, { bandwidth: [1000], delay: [30], bandwidth_ba: [480] }, 'up', 100],
      [100, { bandwidth: [1000], delay: [30], bandwidth_ba: [12_000 / 350] }, 'up', 450],
      [499, { bandwidth: [1000], delay: [30], bandwidth_ba: [480] }, 'up', 500],
      [500, { packet_loss: [100], bandwidth_ba: [480] }, 'up', 550],
      [1000, { bandwidth: [2500], delay: [20], bandwidth_ba: [12_000 / 350] }, 'up', 1350],
      [1500, { bandwidth: [1000], delay: [30], bandwidth_ba: [12_000 / 350] }, 'up', 1800],
    ]);
  });

  it('is refused with the reason', () => {
    const step = (more: object): LinkScheduleInput => ({ steps: [{ at: 0, ...more }] });
    const csv = (text: string): LinkScheduleInput => ({ traces: [{ format: 'csv', text }] });
    const wrong: [LinkScheduleInput, RegExp][] = [
      [{}, /neither steps nor traces/],
      [{ ...step({}), repeat: 3 }, /needs a duration/],
      [step({ filters: { latency_ab: [5] } }), /latency_ab cannot be scheduled/],
      [step({ filters: { bpf: [5] } }), /filter bpf: .* must be text/],
      [
        step({ filters: { match: [Array.from({ length: 65 }, (_, port) => `udp port ${port}`).join('\n')] } }),
        /more than 64 different/,
      ],
      [step({ filters: { delay: [-1] } }), /steps\[0\]: filter delay/],
      [step({ filters: { nothing: [1] } }), /no such filter/],
      [step({ suspend: true, flap: { down: 1, up: 1 } }), /not both/],
      [step({ flap: { down: 0, up: 1 } }), /flap/],
      [csv(''), /is empty|no column/],
      [csv('time_ms,colour\n0,1'), /"colour" is not one of/],
      [csv('0,1\n5,x'), /"x" is not a number/],
      [csv('0,1\n5,1\n5,2'), /samples\[2\] is not later/],
      [csv('0,1\n'.repeat(10_002)), /more than 10000 samples/],
      [csv('0,200000000'), /samples\[0\] must be/],
      [{ traces: [{ format: 'mahimahi', text: '5\n4' }] }, /before that of the line above/],
      [{ traces: [{ format: 'mahimahi', text: 'five' }] }, /not a whole number/],
      [
        {
          traces: [
            { length: 1, samples: [[0, null, null, 5]] },
            { length: 1, samples: [[0, 1, 1, 1]] },
          ],
        },
        /another trace/,
      ],
    ];
    for (const [input, words] of wrong) assert.throws(() => scheduleOf(input), words, JSON.stringify(input));
  });
});
