import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { EventStream } from '../../lib/event-stream.ts';
import type { LiveProject } from '../live/live-project.ts';
import type { KnownProject } from '../projects/project.ts';
import { RunningNodes } from './running-nodes.ts';

const log = { debug() {}, error() {}, info() {}, warn() {} };

async function bench(t: TestContext) {
  const state = await mkdtemp(join(tmpdir(), 'pb-running-'));
  t.after(() => rm(state, { recursive: true }));
  const entries = await RunningNodes.openEntries(state, assert.fail);
  t.after(() => entries.close());
  const compute = { id: 'slice', epoch: 1, transport: { state: { connected: true } } };
  const make = (id: string) => ({
    ...{ id, compute, projectId: 'open', isPresent: true, live: { status: 'stopped', interrupted: false } },
    ...{ entry: { node_type: 'vpcs', compute_id: 'slice' }, problem: undefined as string | undefined },
  });
  const nodes = [make('one'), make('other')] as const;
  const interrupted: string[] = [];
  const open = () =>
    new RunningNodes(
      {
        log,
        isSlice: () => true,
        wasOpen: (id) => id === 'open',
        onInterrupted: ({ id }) => interrupted.push(id),
      },
      entries,
    );
  const notices = new EventStream<{ action: string; event: object }>();
  const refusals = new EventStream<string>();
  const live = { resumeList: { refusals }, nodes: { all: () => nodes, find: (id: string) => nodes.find((one) => one.id === id) } };
  const project = { id: 'open', notices, liveNow: live } as unknown as KnownProject;
  const show = (node: (typeof nodes)[number], status: string, isInterrupted = false) => {
    node.live = { status, interrupted: isInterrupted };
    notices.emit({ action: 'node.updated', event: { node_id: node.id } });
  };
  const waiting = (running: RunningNodes) => running.interrupted(live as unknown as LiveProject);
  return { entries, compute, nodes, interrupted, open, refusals, project, show, waiting };
}

test('a node that its slice has stopped on its own is to run again, and one that ended by itself is not', async (t) => {
  const { nodes, interrupted, open, project, show, waiting, entries, refusals } = await bench(t);
  const [one, other] = nodes;
  const running = open();
  running.follow('project.opened', project);
  show(one, 'started');
  show(other, 'started');
  assert.deepEqual(waiting(running), []);
  show(one, 'stopped', true);
  show(other, 'stopped');
  assert.deepEqual(waiting(running), ['one']);
  assert.deepEqual(interrupted, ['open']);
  // Its user has stopped it before it was started again.
  refusals.emit('one');
  assert.deepEqual(waiting(running), []);
  assert.equal(entries.size, 0);
});

test('what a slice says of nodes under another lease does not hide that they ran', async (t) => {
  const { compute, nodes, open, project, show, waiting } = await bench(t);
  const [one] = nodes;
  const running = open();
  running.follow('project.opened', project);
  show(one, 'started');
  // Away: what is shown is what was before, also while it is made there again.
  compute.transport.state.connected = false;
  one.problem = 'The compute is not connected';
  show(one, 'started');
  compute.epoch = 2;
  compute.transport.state.connected = true;
  show(one, 'started');
  show(one, 'stopped');
  one.problem = undefined;
  show(one, 'stopped');
  assert.deepEqual(waiting(running), ['one']);
  show(one, 'started');
  assert.deepEqual(waiting(running), []);
  show(one, 'stopped');
  assert.deepEqual(waiting(running), []);
});

test('which nodes ran is known to the next server, but of closed projects', async (t) => {
  const { compute, entries, open, project, show, waiting, nodes } = await bench(t);
  // As an earlier version noted it.
  await entries.set('one', { project_id: 'open', compute_id: 'slice' });
  await entries.set('other', { project_id: 'open', compute_id: 'slice', epoch: 1 });
  await entries.set('closed', { project_id: 'closed', compute_id: 'slice', epoch: 1 });
  compute.transport.state.connected = false;
  const running = open();
  running.follow('project.opened', project);
  assert.deepEqual(waiting(running), ['one']);
  assert.equal(entries.has('closed'), false);
  compute.epoch = 2;
  assert.deepEqual(waiting(running), ['one', 'other']);
  running.handedOver(['one']);
  assert.deepEqual(waiting(running), ['other']);
  compute.transport.state.connected = true;
  show(nodes[1], 'started');
  assert.deepEqual(waiting(running), []);
  assert.equal(entries.get('other')?.epoch, 2);
});
