/** Which nodes are started again, and which their users have stopped, deleted or closed meanwhile. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { waitFor } from '../../../test/support/wait-for.ts';
import { withController } from '../../../test/support/with-controller.ts';
import { fault } from '../../api/faults.ts';
import type { LiveProject } from '../live/live-project.ts';
import type { FailedStart } from '../live/nodes/open-node.ts';
import { ResumeList, writeResumeList } from '../live/nodes/resume-list.ts';
import type { NodeObject } from '../model/node.ts';
import { startAgain } from './resume-nodes.ts';

const listed = async (folder: string) => [...(await new ResumeList(folder).all()).keys()].toSorted();

test('nodes start where they are, but on a compute that is away, is lost meanwhile or is about to end', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-resumed-'));
  t.after(() => rm(folder, { recursive: true }));
  const resumeList = new ResumeList(folder);
  const started: string[] = [];
  const node = (computeId: string, isAwaited = false) => ({
    id: crypto.randomUUID(),
    entry: { compute_id: computeId, name: computeId },
    compute: { isAwaited, epoch: /leaving|slow/.test(computeId) ? 1 : null },
    failedStart: undefined as FailedStart | undefined,
  });
  const [here, away, ending, lost, broken] = [node('here'), node('away', true), node('ending'), node('lost'), node('broken')];
  const [paused, leaving, slow] = [node('paused'), node('leaving'), node('slow')];
  const all = [here, away, ending, lost, broken, paused, leaving, slow];
  const messages: string[] = [];
  const live = {
    folder,
    resumeList,
    notify: (_action: string, { message }: { message: string }) => messages.push(message),
    nodes: {
      find: (id: string) => all.find((one) => one.id === id),
      setProblem: (one: object, problem: object) => Object.assign(one, problem),
      startAgain: async (id: string) => {
        started.push(id);
        if (id === lost.id) {
          lost.compute.isAwaited = true;
          throw new Error('it does not answer');
        }
        if (id === paused.id && started.indexOf(id) === started.length - 1)
          throw fault('compute_busy', { name: 'paused', request: 'POST …', message: 'its lease is over' });
        if (id === slow.id) throw new Error('it was not ready in time');
        if (id === leaving.id) {
          setTimeout(() => Object.assign(leaving.compute, { epoch: 2 }), 100);
          throw new Error('ended by SIGTERM');
        }
        if (id === broken.id) throw new Error('no image');
        // It is stopped again meanwhile, as its next slice is lost.
        if (id === here.id && !started.slice(0, -1).includes(id)) await resumeList.add([id]);
      },
    },
  } as unknown as LiveProject;
  await resumeList.add([...all.map(({ id }) => id), crypto.randomUUID()]);
  await startAgain(live, { atOnce: 4, isAllowed: ({ entry }) => entry.compute_id !== 'ending' });
  assert.deepEqual(started.toSorted(), [here, lost, broken, paused, paused, leaving, slow].map(({ id }) => id).toSorted());
  assert.deepEqual(await listed(folder), [here.id, away.id, ending.id, lost.id, leaving.id, slow.id].toSorted());
  assert.deepEqual(messages, ['Node broken could not be started again: no image']);
  // Later and later, and its user knows after the third time.
  const tries = () => started.filter((id) => id === slow.id).length;
  const isAllowed = ({ id }: { id: string }) => id === slow.id;
  await waitFor(() => startAgain(live, { atOnce: 4, isAllowed }).then(() => tries() === 3), { what: 'three tries', everyMs: 100 });
  assert.deepEqual([slow.failedStart?.reason, slow.failedStart?.count], ['it was not ready in time', 3]);
  assert.deepEqual(messages.slice(1), ['Node slow could not be started again: it was not ready in time']);
  // Its host takes work again, and the lost one has returned; the slow one waits.
  lost.compute.isAwaited = false;
  started.length = 0;
  live.nodes.startAgain = async (id) => void started.push(id);
  await startAgain(live, { atOnce: 4 });
  assert.deepEqual(started.toSorted(), [here.id, ending.id, lost.id, leaving.id].toSorted());
  assert.deepEqual(await listed(folder), [away.id, slow.id].toSorted());
  // With another lease it does not.
  slow.compute.epoch = 2;
  await startAgain(live, { atOnce: 4 });
  assert.deepEqual(await listed(folder), [away.id]);
});

describe('nodes that are to run again', () => {
  const bench = withController();
  const live = () => {
    const found = bench.controller.projects.get(bench.project.project_id).liveNow;
    assert.ok(found);
    return found;
  };
  const running = async () => {
    const nodes = await bench.inProject<NodeObject[]>('GET /nodes');
    return nodes.flatMap(({ name, status }) => (status === 'started' ? [name] : [])).toSorted();
  };
  const addNodes = (names: readonly string[]) => Promise.all(names.map((name) => bench.addNode(name)));

  it('are not started when their users have stopped or deleted them, also once they are restored', async () => {
    const nodes = await addNodes(['stopped', 'deleted', 'wanted']);
    const [stopped, deleted] = nodes;
    await live().resumeList.add(nodes.map(({ node_id }) => node_id));
    await bench.inProject(`POST /nodes/${stopped?.node_id}/stop`);
    const { entry } = live().nodes.get(String(deleted?.node_id));
    await bench.inProject(`DELETE /nodes/${entry.node_id}`);
    await live().nodes.restore(entry);
    await startAgain(live(), { atOnce: 4 });
    assert.deepEqual(await running(), ['wanted']);
    assert.deepEqual(await listed(bench.project.path), []);
  });

  it('are started when they were stopped to be moved, unless their users stop them after that', async () => {
    const nodes = await addNodes(['moved', 'stopped', 'elsewhere', 'idle']);
    const [moved, stopped, elsewhere, idle] = nodes.map(({ node_id }) => node_id);
    const { local } = bench.controller.computes;
    for (const id of [moved, stopped, elsewhere]) await bench.inProject(`POST /nodes/${id}/start`);
    for (const id of [moved, stopped, idle]) await live().nodes.halt(String(id), local);
    const other = Object.create(local);
    await live().nodes.halt(String(elsewhere), other);
    assert.deepEqual(await running(), ['elsewhere'], 'its user has moved it meanwhile');
    await bench.inProject(`POST /nodes/${stopped}/stop`);
    for (const id of [moved, stopped, idle]) await live().nodes.startAgain(String(id));
    assert.deepEqual(await running(), ['elsewhere', 'moved']);
  });

  it('stay stopped when their project was closed, and start with the next server when that was killed', async () => {
    const [node] = await addNodes(['PC1']);
    const id = String(node?.node_id);
    await live().resumeList.add([id]);
    await bench.inProject('POST /close');
    await bench.inProject('POST /open');
    await bench.controller.projects.get(bench.project.project_id).resume(live());
    assert.deepEqual(await running(), []);
    // As a server that is killed leaves it.
    await bench.restart(() => writeResumeList(bench.project.path, [id]));
    await bench.inProject('POST /open');
    await bench.controller.projects.get(bench.project.project_id).resume(live());
    assert.deepEqual(await running(), ['PC1']);
  });
});
