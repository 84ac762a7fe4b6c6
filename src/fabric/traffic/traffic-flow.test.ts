import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../../../test/support/wait-for.ts';
import { TrafficFlows } from '../control/fabric.ts';
import { Switches } from '../switches/switches.ts';

test('datagrams without gaps take several turns, and all fit into the queue of the port', async (t) => {
  const flows = new TrafficFlows(new Switches());
  t.after(() => flows.close());
  const station = (address: string, nextHop: string) => ({ switch: 'one', vlan: 1, address, nextHop });
  flows.start({
    id: 'burst',
    source: station('10.0.0.1', '10.0.0.2'),
    sink: station('10.0.0.2', '10.0.0.1'),
    gapsUs: Array.from({ length: 1000 }, () => 0),
    sizes: [1514],
  });
  const figures = await waitFor(
    () => {
      const now = flows.read('burst');
      return now?.state === 'ended' && now;
    },
    { what: 'the end of the traffic' },
  );
  assert.deepEqual([figures.sent, figures.received, figures.reordered], [1000, 1000, 0]);
});
