import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitFor } from '../../../test/support/wait-for.ts';
import { EventStream } from '../../lib/event-stream.ts';
import { defaultSettings } from '../../schema/settings.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { Notice } from '../live/host/project-context.ts';
import type { KnownProject } from '../projects/project.ts';
import type { KnownProjects } from '../projects/projects.ts';
import { NodeCopies } from './node-copies.ts';

const log = { debug() {}, error() {}, info() {}, warn() {} };

test('the copy of a node is not replaced by what a slice has that was placed again without its disks', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-copies-'));
  t.after(() => rm(folder, { recursive: true }));
  const [project_id, node_id] = [crypto.randomUUID(), crypto.randomUUID()];
  const notices = new EventStream<Notice>();
  const project = { id: project_id, notices } as unknown as KnownProject;
  let lists = 0;
  const call = async () => {
    lists += 1;
    return { files: [] };
  };
  const transport = { state: { connected: true }, call };
  const compute = { id: 'slice', epoch: 1, transport } as unknown as RegisteredCompute;
  const settings = { ...defaultSettings(), dataDirectory: folder, runtimeDirectory: folder };
  const begin = async () => {
    const copies = new NodeCopies(
      {
        ...{ settings, log, losesFiles: () => true, findCompute: () => compute },
        projects: { find: () => project } as unknown as KnownProjects,
      },
      await NodeCopies.openEntries(folder, () => undefined),
    );
    copies.follow('project.opened', project);
    return copies;
  };
  const stopped = { node_id, project_id, node_type: 'vpcs', compute_id: 'slice', status: 'stopped' };
  const seen = (status: string) => notices.emit({ action: 'node.updated', event: { ...stopped, status } });

  const before = await begin();
  seen('stopped');
  await waitFor(() => before.describe(node_id).copied_at, { what: 'a copy' });
  seen('started');
  before.stop();
  await before.close();
  // An earlier version has noted no epoch.
  const entries = await NodeCopies.openEntries(folder, () => undefined);
  await entries.set(node_id, { ...(entries.get(node_id) ?? assert.fail()), epoch: undefined });
  await entries.close();
  const updated = await begin();
  // The controller dies in the instant after it has stored the next epoch of the slice, and before it does anything else.
  updated.stop();
  await updated.close();
  compute.epoch = 2;

  const copies = await begin();
  assert.ok(copies.isLost(node_id));
  const count = lists;
  seen('stopped');
  copies.begin();
  // Longer than what would have begun at once takes to begin.
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  assert.equal(lists, count);
  await copies.found(node_id);
  assert.ok(!copies.isLost(node_id));
  seen('stopped');
  await waitFor(() => lists > count, { what: 'the next copy' });
  copies.stop();
  await copies.close();
});
