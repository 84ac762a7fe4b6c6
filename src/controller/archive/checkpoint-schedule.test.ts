/** The project is a list of nodes: no real move lasts until a test has looked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Limit } from '../../lib/bounded.ts';
import { EventStream } from '../../lib/event-stream.ts';
import type { KnownProject } from '../projects/project.ts';
import { CheckpointSchedule } from './checkpoint-schedule.ts';
import type { CheckpointParts } from './checkpoints.ts';

test('no checkpoint keeps the changes of a project waiting while a machine is moved', async () => {
  const node = { entry: { node_type: 'qemu' }, live: { status: 'started' }, isMoving: true };
  const project = { name: 'lab', notices: new EventStream(), liveNow: { nodes: { all: () => [node] } } };
  const snapshots = {
    async create() {
      throw new Error('taken');
    },
  };
  const parts = { snapshots, log: { warn: () => undefined } } as unknown as CheckpointParts;
  const settings = { minutes: 60, mostBytes: 2 ** 30 };
  const schedule = new CheckpointSchedule(project as unknown as KnownProject, settings, { ...parts, turns: new Limit(1) });
  await assert.rejects(schedule.take(), /a machine is being moved/);
  node.isMoving = false;
  await assert.rejects(schedule.take(), /taken/);
  schedule.end();
});
