import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReservedPorts } from './reserved-ports.ts';

test('a port that gets no NIO within an hour is released, and one that got one is not', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const released: number[] = [];
  const reserved = new ReservedPorts({ release: (port) => void released.push(port) });
  reserved.add(10_000);
  reserved.add(10_001);
  assert.equal(reserved.take(10_001), true);
  t.mock.timers.tick(3_599_999);
  assert.deepEqual(released, []);
  t.mock.timers.tick(1);
  assert.deepEqual(released, [10_000]);
  assert.equal(reserved.take(10_000), false, 'it may be another one’s by now');
  reserved.add(10_002);
  reserved.clear();
  assert.deepEqual(released, [10_000, 10_002]);
});
