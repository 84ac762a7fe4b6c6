import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RegisteredCompute } from '../../computes/compute.ts';
import { UdpPortsOfProject } from './link-wiring.ts';

test('a spare UDP port is used for the next link, unless the server that gave it was started again', async () => {
  let given = 10_000;
  const transport = { call: async () => ({ udp_port: given++ }) };
  const [one, other] = [
    { id: 'one', transport },
    { id: 'other', transport },
  ] as unknown as RegisteredCompute[];
  assert.ok(one && other);
  const ports = new UdpPortsOfProject('project');
  const first = await ports.take(one);
  ports.keep(one, first);
  assert.equal(await ports.take(one), first);
  ports.keep(one, first);
  const kept = await ports.take(other);
  ports.keep(other, kept);
  ports.forget(one);
  assert.notEqual(await ports.take(one), first);
  assert.equal(await ports.take(other), kept);
});
