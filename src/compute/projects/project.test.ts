import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isFault } from '../../api/faults.ts';
import type { Context } from '../context.ts';
import type { ComputeNode } from '../nodes/node.ts';
import type { ProjectRecord } from '../store.ts';
import { ComputeProject } from './project.ts';

test('a node that cannot be closed stays, and its project with it, until it is closed again', async () => {
  const path = await mkdtemp(join(tmpdir(), 'pb-project-'));
  try {
    const deleted: string[] = [];
    const store = { deleteProject: async (id: string) => void deleted.push(id) };
    const context = { store, ports: { udp: {} } } as unknown as Context;
    const project = new ComputeProject(context, { project_id: 'p', name: 'lab', path } as ProjectRecord);
    const full = { isSo: true };
    const refuses = async () => {
      if (full.isSo) throw new Error('no space left on device');
    };
    const nodeOf = (close: () => Promise<void>) => ({ close }) as unknown as ComputeNode;
    project.nodes.set('one', nodeOf(refuses));
    project.nodes.set(
      'other',
      nodeOf(async () => undefined),
    );

    await assert.rejects(project.close(), /no space left/);
    assert.deepEqual([[...project.nodes.keys()], deleted], [['one'], []]);
    await project.whileThere(async () => undefined);

    full.isSo = false;
    await project.close();
    assert.deepEqual([[...project.nodes.keys()], deleted], [[], ['p']]);
    await assert.rejects(
      project.whileThere(async () => undefined),
      (error) => isFault(error, 'project_not_found'),
    );
  } finally {
    await rm(path, { recursive: true });
  }
});
