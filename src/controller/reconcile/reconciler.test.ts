/** Nodes that run again after a start, a stop, a close, a loss and the end of the server, over a compute that only remembers. */
import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { waitFor } from '../../../test/support/wait-for.ts';
import { withController } from '../../../test/support/with-controller.ts';
import { isFault } from '../../api/faults.ts';
import { readProject } from '../log/project-state.ts';
import type { NodeObject } from '../model/node.ts';

describe('nodes that are wanted', () => {
  const bench = withController();
  const project = () => bench.controller.projects.get(bench.project.project_id);
  const live = () => {
    const found = project().liveNow;
    assert.ok(found);
    return found;
  };
  const running = async () => {
    const nodes = await bench.inProject<NodeObject[]>('GET /nodes');
    return nodes.flatMap(({ name, status }) => (status === 'started' ? [name] : [])).toSorted();
  };
  const until = (...names: string[]) =>
    waitFor(async () => (await running()).join() === names.toSorted().join(), { what: `${names} running`, everyMs: 20 });
  const addNodes = (names: readonly string[]) => Promise.all(names.map((name) => bench.addNode(name)));
  const act = (node: NodeObject | undefined, verb: string) => bench.inProject(`POST /nodes/${node?.node_id}/${verb}`);
  const stored = async () => {
    const { wanted, nodes } = await readProject(project().file);
    return Array.from(wanted, ([id, { run, by }]) => [nodes.get(id)?.name, run, by]).toSorted();
  };
  const starts = () => bench.compute.calls.filter((call) => call.endsWith('/start')).length;
  /** The memory of the compute is lost with its host. */
  const lose = () => {
    for (const node of bench.compute.nodes.values()) Object.assign(node, { status: 'stopped' });
  };

  it('are in the log before they are started, and after they are stopped', async () => {
    const [one, two] = await addNodes(['ONE', 'TWO']);
    await act(one, 'start');
    await act(two, 'start');
    await act(two, 'stop');
    assert.deepEqual(await stored(), [
      ['ONE', 'running', 'client'],
      ['TWO', 'stopped', 'client'],
    ]);
    const { seq } = live();
    await act(one, 'start');
    await act(two, 'stop');
    assert.equal(live().seq, seq, 'nothing is written for what is so already');
  });

  it('are not, where their compute refuses to start them', async () => {
    const [node] = await addNodes(['PC1']);
    bench.compute.refused.add('/start');
    await assert.rejects(act(node, 'start'), (error) => isFault(error));
    assert.deepEqual(await stored(), [['PC1', 'stopped', 'refused']]);
    bench.compute.refused.clear();
    await bench.restart();
    await bench.inProject('POST /open');
    assert.deepEqual(await running(), []);
  });

  it('run with the next server, where they were lost meanwhile; others do not', async () => {
    const [lost, stopped, deleted] = await addNodes(['LOST', 'STOPPED', 'DELETED', 'IDLE']);
    for (const node of [lost, stopped, deleted]) await act(node, 'start');
    await act(stopped, 'stop');
    await bench.inProject(`DELETE /nodes/${deleted?.node_id}`);
    await bench.restart(async () => lose());
    await until('LOST');
    assert.deepEqual((await stored())[0], ['LOST', 'running', 'client']);
  });

  it('have the links released that an earlier server held for their start, also where all of them run already', async () => {
    const [node] = await addNodes(['PC1']);
    await act(node, 'start');
    await bench.restart(async () => void bench.compute.calls.splice(0));
    await waitFor(() => bench.compute.calls.some((call) => call.endsWith('/links/release')), { what: 'the release', everyMs: 20 });
    assert.equal(starts(), 0);
    assert.deepEqual(await running(), ['PC1']);
  });

  it('are not wanted any more when they end by themselves', async () => {
    const [node] = await addNodes(['PC1']);
    await act(node, 'start');
    bench.compute.tell(String(node?.node_id), { status: 'stopped' });
    await waitFor(async () => (await stored())[0]?.[1] === 'stopped', { what: 'what is wanted', everyMs: 20 });
    assert.deepEqual(await stored(), [['PC1', 'stopped', 'guest']]);
    assert.equal(starts(), 1);
    await bench.restart();
    await bench.inProject('POST /open');
    assert.deepEqual(await running(), []);
  });

  it('are started again when they were lost with their lease, later and later while that fails', async () => {
    const [node] = await addNodes(['PC1']);
    await act(node, 'start');
    bench.compute.refused.add('/start');
    bench.compute.tell(String(node?.node_id), { status: 'stopped', interrupted: true });
    const failure = () => live().nodes.get(String(node?.node_id)).failedStart;
    await waitFor(() => failure() !== undefined, { what: 'a start that fails', everyMs: 20 });
    assert.equal(failure()?.count, 1);
    await waitFor(() => bench.seen.some(({ action }) => action === 'log.error'), { what: 'a notice to listeners', everyMs: 20 });
    const [shown] = await bench.inProject<NodeObject[]>('GET /nodes');
    assert.match(String(shown?.command_line), /^Not started: .* UTC, tried once\)$/);
    bench.compute.refused.clear();
    await until('PC1');
    assert.equal(failure(), undefined);
  });

  it('are those that another program has started', async () => {
    const [node] = await addNodes(['PC1']);
    bench.compute.tell(String(node?.node_id), { status: 'started' });
    await waitFor(async () => (await stored())[0]?.[1] === 'running', { what: 'what is wanted', everyMs: 20 });
    assert.deepEqual(await stored(), [['PC1', 'running', 'adopted']]);
  });

  it('are none of a project that was closed, and all of one with auto_start', async () => {
    const [node] = await addNodes(['PC1', 'PC2']);
    await act(node, 'start');
    await bench.inProject('POST /close');
    assert.deepEqual(await stored(), [['PC1', 'stopped', 'closed']]);
    await bench.inProject('POST /open');
    assert.deepEqual(await running(), []);
    await bench.inProject('PUT ', { auto_start: true });
    await bench.inProject('POST /close');
    await bench.inProject('POST /open');
    await until('PC1', 'PC2');
  });

  it('are not started while they are stopped to be moved', async () => {
    const [node] = await addNodes(['PC1']);
    await act(node, 'start');
    const open = live().nodes.get(String(node?.node_id));
    open.isLeaving = true;
    await live().runs.halt(open.id, bench.controller.computes.local);
    assert.deepEqual([open.live.status, open.wanted.run], ['stopped', 'running']);
    await bench.controller.projects.get(bench.project.project_id).change(async () => undefined);
    assert.equal(starts(), 1);
  });

  it('are those of the list of an earlier version, which is kept beside', async () => {
    const [node] = await addNodes(['LISTED', 'OTHER']);
    const list = join(bench.project.path, '.patchbay-resume.json');
    await bench.restart(() => writeFile(list, JSON.stringify([node?.node_id, 'nonsense'])));
    await until('LISTED');
    await assert.rejects(stat(list), { code: 'ENOENT' });
    await stat(`${list}.backup`);
  });

  it('are brought to their end where an earlier version was moving them, and the note of that is kept beside', async () => {
    const [node] = await addNodes(['MOVED']);
    const node_id = String(node?.node_id);
    const note = join(bench.project.path, `.patchbay-move-${node_id}-${crypto.randomUUID()}.json`);
    const move = { node_id, node_type: 'qemu', from: 'gone', to: 'local' };
    await bench.restart(() => writeFile(note, JSON.stringify(move)));
    const isThere = (path: string) =>
      stat(path).then(
        () => true,
        () => false,
      );
    await waitFor(() => isThere(`${note}.backup`), { what: 'the record in the log' });
    assert.equal(await isThere(note), false);
    assert.match(await readFile(`${project().file}.log`, 'utf8'), /"move":\{"from":"gone","to":"local"\}/);
    await waitFor(() => live().nodes.get(node_id).wanted.move === undefined, { what: 'the end of the move' });
  });
});
