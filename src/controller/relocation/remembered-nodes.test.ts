import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { LiveProject } from '../live/live-project.ts';
import { readResumeList } from '../projects/resume-nodes.ts';
import { RememberedNodes } from './remembered-nodes.ts';

test('remembered nodes start where they are, but on a compute that is away or about to end', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-remembered-'));
  t.after(() => rm(folder, { recursive: true }));
  const remembered = new RememberedNodes(4);
  const started: string[] = [];
  const node = (computeId: string, isAwaited = false) => ({
    id: crypto.randomUUID(),
    entry: { compute_id: computeId, name: computeId },
    live: { status: 'stopped' },
    compute: { isAwaited },
  });
  const [here, away, ending] = [node('here'), node('away', true), node('ending')];
  const live = {
    folder,
    projectId: crypto.randomUUID(),
    nodes: {
      find: (id: string) => [here, away, ending].find((one) => one.id === id),
      // It is stopped again meanwhile, as its next slice is lost.
      act: async (id: string) => {
        started.push(id);
        if (id === here.id && started.length === 1) await remembered.add(live, [id]);
      },
    },
  } as unknown as LiveProject;
  await remembered.add(live, [here.id, away.id, ending.id, crypto.randomUUID()]);
  await remembered.start(live, 'ending');
  assert.deepEqual(started, [here.id]);
  assert.deepEqual((await readResumeList(folder)).toSorted(), [here.id, away.id, ending.id].toSorted());
  // Its host takes work again.
  await remembered.start(live);
  assert.deepEqual(started.slice(1).toSorted(), [here.id, ending.id].toSorted());
  assert.deepEqual(await readResumeList(folder), [away.id]);
});
