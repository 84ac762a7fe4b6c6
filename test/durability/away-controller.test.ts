/** A controller that is away for long: slices of an engine that they can ask keep their machines, and the next controller takes these. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { SliceObject } from '../../src/schema/slice.ts';
import { processesOf, runtimeDirectoryOf } from '../support/leftovers.ts';
import { findSlice, untilSlice } from '../support/slices.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, idleVm, withServer } from '../support/with-server.ts';

const leaseMs = 5_000;
const awayMs = Number(process.env.PATCHBAY_AWAY_MS ?? 4 * leaseMs);
const machines = Number(process.env.PATCHBAY_AWAY_MACHINES ?? 2);
const { server, client } = await withServer({ config: { Cluster: { engine: 'process', lease_seconds: leaseMs / 1000 } } });

test('machines run on while their controller is away, and are those of the next one', { timeout: awayMs + 300_000 }, async () => {
  const { compute_id: id } = await client.post<SliceObject>('/v2/slices', { name: 'kept' });
  const { epoch } = await untilSlice(client, id, 'joined');
  const project = await createProject(client, { auto_close: false });
  const nodes = await Promise.all(
    Array.from({ length: machines }, () => createNode(client, project, 'qemu', { compute_id: id, properties: idleVm })),
  );
  await client.post(`${project.path}/nodes/start`, {}, 204);
  const data = join(server.dataDir, 'slices', id, 'data');
  const runtime = await runtimeDirectoryOf(data, true);
  const running = () => {
    const all = processesOf(data, runtime).filter(({ commandLine }) => commandLine.includes('qemu-system'));
    return all.map(({ pid }) => pid).toSorted((one, other) => one - other);
  };
  const before = running();
  assert.ok(before.length >= machines);
  await server.kill9();
  await new Promise((resolve) => setTimeout(resolve, awayMs));
  assert.deepEqual(running(), before, 'no machine ends');
  await server.restart();
  await untilSlice(client, id, 'joined');
  const isStarted = async () => {
    const shown = await client.get<{ node_id: string; status: string }[]>(`${project.path}/nodes`);
    return nodes.every(({ node_id }) => shown.find((node) => node.node_id === node_id)?.status === 'started');
  };
  await waitFor(isStarted, { what: 'nodes that are started', everyMs: 200 });
  assert.deepEqual(running(), before);
  assert.equal((await findSlice(client, id))?.epoch, epoch, 'its lease is the same one');
  await client.delete(`/v2/slices/${id}?force=true`);
});
