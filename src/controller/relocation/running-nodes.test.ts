import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { EventStream } from '../../lib/event-stream.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { LiveProject } from '../live/live-project.ts';
import type { KnownProject } from '../projects/project.ts';
import { RunningNodes } from './running-nodes.ts';

const log = { debug() {}, error() {}, info() {}, warn() {} };

test('nodes that ran when their slice was connected last are remembered until they are seen to run, or are stopped by their users', async (t) => {
  const state = await mkdtemp(join(tmpdir(), 'pb-running-'));
  t.after(() => rm(state, { recursive: true }));
  const entries = await RunningNodes.openEntries(state, assert.fail);
  t.after(() => entries.close());
  const connection = { connected: true };
  const compute = { id: 'slice', epoch: 1, isFenced: false, transport: { state: connection } } as unknown as RegisteredCompute;
  const node = (id: string) => ({
    ...{ id, compute, projectId: 'open', isPresent: true, live: { status: 'stopped' } },
    entry: { node_type: 'vpcs', compute_id: 'slice' },
  });
  const [ended, seen, refused] = [node('ended'), node('seen'), node('refused')];
  const nodes = [ended, seen, refused];
  for (const { id } of nodes) await entries.set(id, { project_id: 'open', compute_id: 'slice' });
  await entries.set('vanished', { project_id: 'vanished', compute_id: 'slice' });
  const lease = { isOverdue: false };
  const wasOpen = (id: string) => id === 'open';
  const running = new RunningNodes({ log, isSlice: () => true, isOverdue: () => lease.isOverdue, wasOpen }, entries);
  const notices = new EventStream<{ action: string; event: object }>();
  const refusals = new EventStream<string>();
  const live = { resumeList: { refusals }, nodes: { all: () => nodes, find: (id: string) => nodes.find((one) => one.id === id) } };
  const project = { id: 'open', notices, liveNow: live } as unknown as KnownProject;
  const remembered = () => running.on(live as unknown as LiveProject, compute);
  const show = (one: ReturnType<typeof node>, status: string) => {
    one.live = { status };
    notices.emit({ action: 'node.updated', event: { node_id: one.id } });
  };
  // Its slice has ended them, as it did not reach its controller for long, and starts them again.
  running.follow('project.opened', project);
  assert.deepEqual(remembered(), ['ended', 'seen', 'refused']);
  assert.equal(entries.has('vanished'), false);
  refusals.emit('refused');
  show(seen, 'started');
  assert.deepEqual(remembered(), ['ended', 'seen']);
  show(seen, 'stopped');
  show(ended, 'stopped');
  assert.deepEqual(remembered(), ['ended'], 'one that this server has seen to run has ended by itself');
  // The same where the server stays and only the connection is lost for long.
  show(ended, 'started');
  connection.connected = false;
  show(ended, 'started');
  connection.connected = true;
  show(ended, 'stopped');
  assert.deepEqual(remembered(), ['ended'], 'its slice has ended it and is about to start it');
  show(ended, 'started');
  show(ended, 'stopped');
  assert.deepEqual(remembered(), []);
  // What a slice stops as it ends is to run again.
  show(ended, 'started');
  show(seen, 'started');
  running.ending(compute);
  show(ended, 'stopped');
  refusals.emit('seen');
  show(seen, 'stopped');
  assert.deepEqual(remembered(), ['ended']);
  compute.epoch = 2;
  // Its connection has outlived a cut that its lease may not: it says at once what it has ended.
  show(ended, 'started');
  lease.isOverdue = true;
  show(ended, 'stopped');
  assert.deepEqual(remembered(), ['ended']);
  lease.isOverdue = false;
  show(ended, 'started');
  show(ended, 'stopped');
  assert.deepEqual(remembered(), []);
});
