import assert from 'node:assert/strict';
import { cp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, mock } from 'node:test';
import { makeChance } from '../../../../test/durability/random.ts';
import { type AskProject, UndoWalk } from '../../../../test/support/undo-walk.ts';
import { waitFor } from '../../../../test/support/wait-for.ts';
import { end, refusal, withController } from '../../../../test/support/with-controller.ts';
import { fault, isFault } from '../../../api/faults.ts';
import { asRequester } from '../../../api/requester.ts';
import { Journal } from '../../../lib/journal.ts';
import type { History, Undone } from '../../../schema/history.ts';
import type { Link } from '../../../schema/link.ts';
import type { NodeObject } from '../../model/node.ts';

const bench = withController();

/** Runs `fn` as a request would: all that is done for it is one step. */
const request = <T>(fn: () => Promise<T>, by = 'requester') => asRequester({ by }, fn);
const undo = (body = {}) => request(() => bench.inProject<Undone>('POST /undo', body), 'undoer');
const redo = (body = {}) => request(() => bench.inProject<Undone>('POST /redo', body));
const history = () => bench.inProject<History>('GET /history');
const addNode = (name: string, more = {}) => request(() => bench.addNode(name, more));
const change = (line: string, body = {}) => request(() => bench.inProject<Record<string, unknown>>(line, body));

/** All that is stored of the project, whatever the order. */
async function content(): Promise<unknown> {
  const nodes = await bench.inProject<NodeObject[]>('GET /nodes');
  const links = await bench.inProject<Link[]>('GET /links');
  const drawings = await bench.inProject<{ drawing_id: string }[]>('GET /drawings');
  const lasting = nodes.map(({ command_line: _line, node_directory: _folder, ...node }) => node);
  const sorted = (list: object[]) => list.map((each) => JSON.stringify(each)).sort();
  return [sorted(lasting), sorted(links), sorted(drawings)];
}

describe('undo and redo', () => {
  it('go back step by step to the empty project, and forth again', async () => {
    const states = [await content()];
    const step = async (fn: () => Promise<unknown>) => {
      await fn();
      states.push(await content());
    };
    let [one, other] = [] as NodeObject[];
    let link: Link | undefined;
    let drawing: Record<string, unknown> = {};
    await step(async () => {
      one = await addNode('A', { console: 5100, properties: { colour: 'red' } });
    });
    await step(async () => {
      other = await addNode('B');
    });
    await step(async () => {
      link = (await change('POST /links', { nodes: [end(one as NodeObject), end(other as NodeObject)] })) as unknown as Link;
    });
    await step(() => change(`PUT /nodes/${one?.node_id}`, { x: 10, y: 20, name: 'C', properties: { colour: 'blue' } }));
    await step(() => change(`PUT /links/${link?.link_id}`, { filters: { latency: [5] }, suspend: true }));
    await step(async () => {
      drawing = await change('POST /drawings', { svg: `<svg>${'y'.repeat(2000)}</svg>` });
    });
    await step(() => change(`PUT /drawings/${drawing.drawing_id}`, { x: 7, svg: '<svg><g/></svg>' }));
    await step(() => change(`DELETE /drawings/${drawing.drawing_id}`));
    await step(() => change(`DELETE /nodes/${one?.node_id}`));
    for (let n = states.length - 2; n >= 0; n--) {
      await undo();
      assert.deepEqual(await content(), states[n], `after ${states.length - 1 - n} undos`);
    }
    assert.equal(bench.compute.nodes.size, 0);
    await assert.rejects(undo(), refusal('nothing_to_undo'));
    for (let n = 1; n < states.length; n++) {
      await redo();
      assert.deepEqual(await content(), states[n], `after ${n} redos`);
    }
    await assert.rejects(redo(), refusal('nothing_to_undo'));
  });

  it('take a deleted node and its links as one step, and tell listeners', async () => {
    const nodes = [await addNode('A'), await addNode('B'), await addNode('C')] as const;
    await change('POST /links', { nodes: [end(nodes[0]), end(nodes[1])], filters: { latency: [9] } });
    const before = await content();
    await change(`DELETE /nodes/${nodes[0].node_id}`);
    bench.seen = [];
    const undone = await undo();
    assert.deepEqual(bench.actions(), ['node.created', 'link.created']);
    assert.deepEqual(
      undone.changes.map(({ action, by }) => [action, by]),
      [
        ['node.created', 'undoer'],
        ['link.created', 'undoer'],
      ],
    );
    assert.deepEqual(await content(), before);
    const { entries } = await history();
    assert.deepEqual([entries[0]?.inverts, entries[0]?.by], [undone.step, 'undoer']);
    await redo();
    assert.equal((await bench.inProject<unknown[]>('GET /links')).length, 0);
  });

  it('of several changes are one line of the log: whole, or absent', async () => {
    const nodes = [await addNode('A'), await addNode('B'), await addNode('C')] as const;
    await change('POST /links', { nodes: [end(nodes[0]), end(nodes[1])] });
    const before = await content();
    await change(`DELETE /nodes/${nodes[0].node_id}`);
    const without = await content();
    const folder = bench.project.path;
    const log = join(folder, `${bench.project.filename}.log`);
    await undo();
    await cp(folder, `${folder}-whole`, { recursive: true });
    const lines = (await readFile(log, 'utf8')).trimEnd().split('\n');
    const last = JSON.parse(lines.at(-1)?.slice(9) ?? '') as { action: string }[];
    assert.deepEqual(
      last.map(({ action }) => action),
      ['node.created', 'link.created'],
    );
    // A crash leaves the file from before, and a log whose last line is torn.
    await bench.restart(async () => {
      await rm(folder, { recursive: true });
      await rename(`${folder}-whole`, folder);
      await writeFile(log, `${lines.join('\n').slice(0, -10)}`);
    });
    assert.deepEqual(await content(), without);
    await undo();
    assert.deepEqual(await content(), before);
  });

  it('of several changes are announced only when the line is on disk, and nothing is left when it cannot be', async () => {
    const nodes = [await addNode('A'), await addNode('B')] as const;
    await change('POST /links', { nodes: [end(nodes[0]), end(nodes[1])] });
    await change(`DELETE /nodes/${nodes[0].node_id}`);
    const before = await content();
    bench.seen = [];
    const append = Journal.prototype.append;
    Journal.prototype.append = () => Promise.reject(new Error('ENOSPC'));
    try {
      await assert.rejects(undo(), refusal('storage_failed'));
    } finally {
      Journal.prototype.append = append;
    }
    assert.deepEqual(await content(), before);
    assert.equal(bench.compute.nodes.size, 1);
    assert.deepEqual([...bench.compute.kept], [nodes[0].node_id]);
    assert.deepEqual(bench.actions(), []);
    await undo();
    assert.deepEqual(bench.actions(), ['node.created', 'link.created']);
    assert.equal(bench.compute.kept.size, 0);
  });

  it('of settings of the project, open or closed', async () => {
    const project = () => bench.inProject<Record<string, unknown>>('GET ');
    const before = await project();
    await change('PUT ', { name: 'another', auto_start: true, variables: [{ name: 'V', value: '1' }] });
    await change('PUT ', { auto_start: false });
    await undo();
    assert.equal((await project()).auto_start, true);
    await undo();
    assert.deepEqual(await project(), before);
    await redo();
    assert.deepEqual([(await project()).name, (await project()).auto_start], ['another', true]);
    await change('POST /close');
    await change('PUT ', { auto_open: true });
    await change('POST /open');
    assert.equal((await project()).auto_open, true);
    await undo();
    assert.equal((await project()).auto_open, false);
    await bench.inProject('PUT ', { auto_start: false });
    await assert.rejects(undo(), (error) => refusal('undo_conflict')(error) && /settings/.test((error as Error).message));
    const { entries } = await history();
    assert.deepEqual(
      [entries[0]?.action, entries[0]?.id, entries[0]?.name],
      ['project.updated', bench.project.project_id, 'another'],
    );
    await bench.restart();
    assert.equal((await project()).auto_start, false);
  });

  it('leave the view of the project as it is: zoom, sizes, what is shown', async () => {
    const view = { zoom: 50, scene_width: 3000, scene_height: 3000, grid_size: 20, drawing_grid_size: 5 };
    const shown = { show_grid: true, show_interface_labels: true, show_layers: true, snap_to_grid: true };
    const project = () => bench.inProject<Record<string, unknown>>('GET ');
    const { name } = await project();
    await change('PUT ', { name: 'another', zoom: 200 });
    await addNode('A');
    await undo();
    const piles = await history();
    await change('PUT ', { ...view, ...shown });
    const [entry] = (await history()).entries;
    assert.deepEqual([entry?.action, entry?.step], ['project.updated', null]);
    await change('POST /close');
    await change('PUT ', { zoom: 60 });
    await change('POST /open');
    const { undo: undoable, redo: redoable } = await history();
    assert.deepEqual([undoable, redoable], [piles.undo, piles.redo]);
    await redo();
    await undo();
    await undo();
    assert.deepEqual(await project(), { ...(await project()), name, ...view, ...shown, zoom: 60 });
    await assert.rejects(undo(), refusal('nothing_to_undo'));
  });

  it('a new step leaves nothing to redo of the same requester', async () => {
    await addNode('A');
    await undo();
    assert.ok((await history()).redo);
    await request(() => bench.addNode('B'), 'undoer');
    await assert.rejects(redo(), refusal('nothing_to_undo'));
  });

  it('live across restarts and snapshots', async () => {
    const node = await addNode('A');
    await change(`PUT /nodes/${node.node_id}`, { x: 9 });
    await undo();
    await bench.restart();
    await change('GET /nodes');
    const { undo: toUndo, redo: toRedo, entries } = await history();
    assert.ok(toUndo && toRedo);
    assert.deepEqual(
      entries
        .map(({ action }) => action)
        .reverse()
        .slice(0, 3),
      ['node.created', 'node.updated', 'node.updated'],
    );
    await redo();
    assert.equal((await bench.inProject<NodeObject>(`GET /nodes/${node.node_id}`)).x, 9);
  });

  it('what was changed since, or has another owner, is a conflict and stays', async () => {
    const [a, b, c] = [await addNode('A'), await addNode('B'), await addNode('C')];
    const link = await change('POST /links', { nodes: [end(a), end(b)] });
    await change(`DELETE /links/${link.link_id}`);
    // No request asked for these: they are on no undo stack.
    await bench.addLink(b, c);
    const before = await content();
    await assert.rejects(undo(), (error) => refusal('undo_conflict')(error) && /port 0\/0 of B/.test((error as Error).message));
    await bench.inProject(`PUT /nodes/${a.node_id}`, { x: 1 });
    assert.notDeepEqual(await content(), before);
  });

  it('only what a change changed must be as it left it', async () => {
    const node = await addNode('A');
    const place = () => bench.inProject<NodeObject>(`GET /nodes/${node.node_id}`);
    await change(`PUT /nodes/${node.node_id}`, { x: 5 });
    await bench.inProject(`PUT /nodes/${node.node_id}`, { y: 8 });
    await undo();
    assert.deepEqual([(await place()).x, (await place()).y], [0, 8]);
    await redo();
    await bench.inProject(`PUT /nodes/${node.node_id}`, { x: 6 });
    await assert.rejects(undo(), (error) => refusal('undo_conflict')(error) && /changed since/.test((error as Error).message));
    assert.equal((await place()).x, 6);
  });

  it('a name that has another owner is a conflict', async () => {
    const node = await addNode('A');
    await change(`DELETE /nodes/${node.node_id}`);
    await bench.addNode('A');
    await assert.rejects(undo(), (error) => refusal('undo_conflict')(error) && /the name A/.test((error as Error).message));
  });

  it('what fails half-way is as before, and can be tried again', async () => {
    const nodes = [await addNode('A'), await addNode('B')] as const;
    await change('POST /links', { nodes: [end(nodes[0]), end(nodes[1])] });
    await change(`DELETE /nodes/${nodes[0].node_id}`);
    const before = await content();
    const piles = await history();
    bench.compute.refused.add('/nio');
    await assert.rejects(undo(), refusal('node_failed'));
    assert.deepEqual(await content(), before);
    assert.equal(bench.compute.nodes.size, 1);
    const after = await history();
    assert.deepEqual([after.undo, after.redo], [piles.undo, piles.redo]);
    bench.compute.refused.clear();
    await undo();
    assert.equal((await bench.inProject<unknown[]>('GET /links')).length, 1);
  });

  it('goes back to a step in one request, and redo brings each step after it back', async () => {
    const node = await addNode('A');
    const { undo: step } = await history();
    const kept = await content();
    const other = await addNode('B');
    await change('POST /links', { nodes: [end(node), end(other)] });
    for (const x of [50, 55]) await change(`PUT /nodes/${node.node_id}`, { x });
    const last = await content();
    const { undoable } = await history();
    assert.deepEqual([undoable.length, undoable.at(-1)], [5, step]);
    await assert.rejects(undo({ until: (step ?? 0) + 1_000 }), refusal('undo_conflict'));
    // Another user has changed something since this client looked.
    await assert.rejects(undo({ until: step, step: undoable[1] }), refusal('undo_conflict'));
    // The compute refuses the last of them.
    bench.compute.refused.add('/nodes/{node_id}');
    await assert.rejects(undo({ until: step }), refusal('node_failed'));
    bench.compute.refused.clear();
    assert.deepEqual(await content(), last);
    assert.deepEqual((await history()).undoable, undoable);
    // A crash while they are written: the file from before, and a log whose last line is torn.
    const folder = bench.project.path;
    await cp(folder, `${folder}-before`, { recursive: true });
    await undo({ until: step });
    const log = await readFile(join(folder, `${bench.project.filename}.log`));
    await bench.restart(async () => {
      await rm(folder, { recursive: true });
      await rename(`${folder}-before`, folder);
      await writeFile(join(folder, `${bench.project.filename}.log`), log.subarray(0, -10));
    });
    assert.deepEqual(await content(), last);
    assert.deepEqual((await history()).undoable, undoable);
    const undone = await undo({ until: step, step: undoable[0] });
    assert.deepEqual(await content(), kept);
    assert.deepEqual([undone.undo, undone.changes.length, undone.changes[0]?.by], [step, 4, 'undoer']);
    await assert.rejects(undo({ until: step }), refusal('nothing_to_undo'));
    for (let count = 0; count < 4; count++) await redo();
    assert.deepEqual(await content(), last);
    // A change that is on no pile is in the way: nothing is reverted.
    await bench.inProject(`PUT /nodes/${node.node_id}`, { x: 60 });
    const changed = await content();
    await assert.rejects(undo({ until: 0 }), refusal('undo_conflict'));
    assert.deepEqual(await content(), changed);
  });

  it('reverts one step alone, and leaves what others changed since', async () => {
    const of = (by: string) => ({
      move: (node: NodeObject, x: number) => request(() => bench.inProject(`PUT /nodes/${node.node_id}`, { x }), by),
      revert: (verb: string, only: number) => request(() => bench.inProject<Undone>(`POST /${verb}`, { only }), by),
      add: (name: string) => request(() => bench.addNode(name), by),
    });
    const [ann, ben] = [of('Ann'), of('Ben')];
    const place = async (node: NodeObject) => (await bench.inProject<NodeObject>(`GET /nodes/${node.node_id}`)).x;
    const lastOf = async (by: string) => (await history()).entries.find((entry) => entry.by === by)?.step ?? 0;
    const [a, b] = [await ann.add('A'), await ben.add('B')];
    const made = await lastOf('Ann');
    await ann.move(a, 5);
    const moved = await lastOf('Ann');
    await ben.move(b, 7);
    const undone = await ann.revert('undo', moved);
    assert.deepEqual([undone.step, await place(a), await place(b)], [moved, 0, 7]);
    // Another user's change of another thing leaves what can be redone.
    await ben.move(b, 8);
    const [redoable = 0] = (await history()).redoable;
    await ann.revert('redo', redoable);
    assert.deepEqual([await place(a), await place(b)], [5, 8]);
    const before = await content();
    await assert.rejects(
      ann.revert('undo', 1_000_000),
      (error) => refusal('undo_conflict')(error) && /none that/.test(String(error)),
    );
    await assert.rejects(undo({ only: moved, until: 0 }), refusal('invalid_request'));
    // The node takes another user's link along.
    await request(() => bench.inProject('POST /links', { nodes: [end(a), end(b)] }), 'Ben');
    const linked = await content();
    await assert.rejects(
      ann.revert('undo', made),
      (error) => refusal('undo_conflict')(error) && /Ben has changed since/.test(String(error)),
    );
    assert.deepEqual(await content(), linked);
    await ben.revert('undo', await lastOf('Ben'));
    assert.deepEqual(await content(), before);
  });

  it('goes back over links that were deleted, made again at the same port, and moved to another', async () => {
    const [one, other, third] = [await addNode('A'), await addNode('B'), await addNode('C')];
    const { undo: step } = await history();
    const before = await content();
    const join = () => change('POST /links', { nodes: [end(one), end(other)] }) as Promise<Link>;
    const first = await join();
    await change(`DELETE /links/${first.link_id}`);
    const { link_id } = await join();
    await change(`PUT /links/${link_id}/ends`, { nodes: [end(one), end(third)] });
    const last = await content();
    await undo({ until: step });
    assert.deepEqual(await content(), before);
    for (let count = 0; count < 4; count++) await redo();
    assert.deepEqual(await content(), last);
  });

  it('only the step that is expected', async () => {
    await addNode('A');
    const { undo: step } = await history();
    await addNode('B');
    await assert.rejects(undo({ step }), refusal('undo_conflict'));
    await undo();
    assert.equal((await undo({ step })).step, step);
  });
});

describe('an undo that begins while another request changes the same thing', () => {
  it('reverts nothing, and leaves nothing that can never be reverted', async () => {
    const [one, other] = [await addNode('A'), await addNode('B')];
    const before = await content();
    const { link_id } = (await change('POST /links', { nodes: [end(one), end(other)] })) as unknown as Link;
    // The change has the link's lock, for which the undo of the creation waits.
    const transport = bench.controller.projects.get(bench.project.project_id).liveNow?.nodes.get(one.node_id).transport;
    assert.ok(transport);
    const answer = Promise.withResolvers<void>();
    const sent = mock.method(transport, 'send', async () => answer.promise);
    const changed = change(`PUT /links/${link_id}`, { filters: { latency: [5] } });
    await waitFor(() => sent.mock.callCount() > 0, { what: 'the request to the compute' });
    const undone = undo();
    // Meanwhile the undo has chosen its step.
    await history();
    sent.mock.restore();
    answer.resolve();
    await changed;
    await assert.rejects(undone, refusal('undo_conflict'));
    const [link] = await bench.inProject<Link[]>('GET /links');
    assert.deepEqual(link?.filters, { latency: [5] });
    await undo();
    await undo();
    assert.deepEqual(await content(), before);
  });
});

describe('undo and redo on a lost compute', () => {
  it('lead to the same topology after a walk at random, and change nothing while they are refused', async (t) => {
    const chance = makeChance();
    t.diagnostic(`seed ${chance.seed}`);
    const ask: AskProject = (line, body) => request(() => bench.inProject(line, body));
    const steps = new UndoWalk(ask, chance, ['vpcs', 'qemu']);
    await steps.begin();
    for (let n = 0; n < 60; n++) await steps.step();
    const all = steps.undoable;
    let refused = 0;
    for (const turn of ['undo', 'redo'] as const) {
      for (let n = 0; n < all; n++) {
        // Every request ends like this.
        bench.compute.refused.add('');
        const isRefused = await steps[turn]().then(
          () => false,
          (error: unknown) => {
            if (!isFault(error)) throw error;
            return true;
          },
        );
        bench.compute.refused.clear();
        if (!isRefused) continue;
        refused += 1;
        await steps.expectSame(`${turn} that was refused`);
        await steps[turn]();
      }
    }
    assert.ok(refused > 10, `${refused} were refused`);
  });
});

describe('undo and redo of a long step', () => {
  it('are possible as often as one likes, also when the history is trimmed between', async () => {
    const nodes = Array.from({ length: 1_300 }, (_, n) => ({ name: `N${n}`, node_type: 'vpcs', compute_id: 'local' }));
    await addNode('first');
    const before = await content();
    await change('POST /bulk', { nodes });
    const made = await content();
    for (let round = 0; round < 3; round++) {
      // Changes in the log move to the history.
      await bench.restart();
      await bench.inProject('GET /nodes');
      await undo();
      assert.deepEqual(await content(), before);
      await bench.restart();
      await bench.inProject('GET /nodes');
      await redo();
      assert.deepEqual(await content(), made);
    }
  });
});

describe('a bulk of moves', () => {
  it('is one step and one line of the log, and undone as one', async () => {
    const nodes = await Promise.all(Array.from({ length: 29 }, (_, n) => addNode(`N${n}`)));
    const { drawing_id } = await change('POST /drawings', { svg: '<svg/>' });
    const before = await content();
    const { entries } = await history();
    bench.seen = [];
    const label = { text: 'ignored', x: 3, y: 4 };
    const moves = nodes.map(({ node_id }, n) => ({ node_id, x: n + 1, y: 7, ...(n === 0 && { label }) }));
    await change('PUT /bulk', { nodes: moves, drawings: [{ drawing_id, x: 9, rotation: 45 }] });
    // Many are sent in turns.
    await waitFor(() => bench.seen.length >= 30, { what: 'all notifications' });
    assert.deepEqual(new Set(bench.actions()), new Set(['node.updated', 'drawing.updated']));
    assert.equal(bench.seen.length, 30);
    const after = await content();
    const moved = await bench.inProject<NodeObject>(`GET /nodes/${nodes[0]?.node_id}`);
    assert.deepEqual([moved.x, moved.y, moved.z, moved.label], [1, 7, 1, { ...label, text: 'N0' }]);
    const { entries: later, preview } = await history();
    assert.equal(new Set(later.slice(0, later.length - entries.length).map(({ step }) => step)).size, 1);
    assert.deepEqual(preview.undo, { ...preview.undo, nodes: 29, links: 0, drawings: 1, deletes: 0, restores: 0 });
    const log = await readFile(join(bench.project.path, `${bench.project.filename}.log`), 'utf8');
    assert.equal((JSON.parse(log.trimEnd().split('\n').at(-1)?.slice(9) ?? '') as object[]).length, 30);
    await undo();
    assert.deepEqual(await content(), before);
    await redo();
    assert.deepEqual(await content(), after);
  });

  it('changes nothing when one thing does not exist, is named twice, or stays where it is', async () => {
    const node = await addNode('A');
    const { node_id } = node;
    const before = await history();
    const missing = { node_id: bench.project.project_id, x: 5 };
    const moves = change('PUT /bulk', { nodes: [{ node_id, x: 5 }, missing] });
    await assert.rejects(moves, (error) => refusal('node_not_found')(error) && /^nodes\[1\]/.test((error as Error).message));
    const drawings = [{ drawing_id: bench.project.project_id, x: 5 }];
    await assert.rejects(change('PUT /bulk', { nodes: [{ node_id, x: 5 }], drawings }), refusal('drawing_not_found'));
    const twice = [
      { node_id, x: 5 },
      { node_id, x: 6 },
    ];
    await assert.rejects(change('PUT /bulk', { nodes: twice }), refusal('invalid_request'));
    await change('PUT /bulk', { nodes: [{ node_id, x: node.x }] });
    await change('PUT /bulk', {});
    assert.deepEqual(await bench.inProject(`GET /nodes/${node_id}`), node);
    assert.deepEqual(await history(), before);
  });
});

describe('an undo, while another request is written', () => {
  /** Has the log write nothing until `release` is called; `count` returns how many writes were asked for. */
  function holdLog() {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { append } = Journal.prototype;
    const held = mock.method(
      Journal.prototype,
      'append',
      async function (this: Journal<unknown>, ...given: Parameters<typeof append>) {
        await promise;
        return append.apply(this, given);
      },
    );
    const release = () => {
      held.mock.restore();
      resolve();
    };
    return { release, count: () => held.mock.callCount() };
  }

  /** Undoes the last step while a request is written; then everything. */
  async function undoBeside(request: () => Promise<unknown>): Promise<void> {
    const { release, count } = holdLog();
    const changed = request();
    let isRefused = false;
    const refused = assert.rejects(undo(), refusal('undo_conflict')).finally(() => {
      isRefused = true;
    });
    await waitFor(() => count() >= (isRefused ? 1 : 2), { what: 'the request at the log, and the undo there or refused' });
    release();
    await changed;
    await refused;
    for (let next = (await history()).undo; next !== null; next = (await history()).undo) await undo();
    assert.deepEqual(await content(), [[], [], []]);
  }

  it('reverts no step of a node that the request moves, and both can be undone', async () => {
    const node = await addNode('A');
    await undoBeside(() => change(`PUT /nodes/${node.node_id}`, { x: 5 }));
  });

  it('does not delete a node to which the request mirrors a link', async () => {
    const [one, other] = [await addNode('A'), await addNode('B')];
    const link = await change('POST /links', { nodes: [end(one), end(other)] });
    const { node_id } = await addNode('C');
    mock.method(bench.controller.computes.local, 'hasLinkFeature', () => true);
    await undoBeside(() => change(`PUT /links/${link.link_id}/mirror`, { node_id, adapter_number: 0, port_number: 0 }));
  });
});

describe('a deletion of many', () => {
  it('deletes nothing when the compute of one of them cannot be reached', async () => {
    const [one, other, third] = [await addNode('A'), await addNode('B'), await addNode('C')];
    const link = await change('POST /links', { nodes: [end(one), end(other)] });
    const before = await content();
    const asked = bench.compute.calls.length;
    const { transport } = bench.controller.computes.local;
    const away = mock.method(transport, 'connect', () => Promise.reject(new Error('it is away')));
    const deletion = change('POST /bulk/delete', { nodes: [third.node_id], links: [link.link_id] });
    await assert.rejects(deletion, /it is away/).finally(() => away.mock.restore());
    assert.deepEqual([await content(), bench.compute.calls.slice(asked)], [before, []]);
  });

  it('loses nothing when a compute has no room in the middle of it, and makes all of it there again later', async () => {
    const nodes = [await addNode('A'), await addNode('B')];
    const before = await content();
    const { transport } = bench.controller.computes.local;
    const { send, call } = transport;
    let isFull = false;
    const checked = (key: string) => {
      if (isFull && !key.startsWith('GET ')) throw fault('storage_failed', { reason: 'ENOSPC' });
      if (key.startsWith('DELETE ')) isFull = true;
    };
    const mocks = [
      mock.method(transport, 'send', async (...words: Parameters<typeof send>) => {
        checked(words[0]);
        return send.apply(transport, words);
      }),
      mock.method(transport, 'call', async (...words: Parameters<typeof call>) => {
        checked(words[0]);
        return call.apply(transport, words);
      }),
    ];
    await assert.rejects(change('POST /bulk/delete', { nodes: nodes.map(({ node_id }) => node_id) }), refusal('storage_failed'));
    assert.deepEqual(await content(), before);
    const kept = [...(bench.controller.projects.get(bench.project.project_id).liveNow?.nodes.all() ?? [])];
    assert.deepEqual(
      kept.map(({ isPresent, isUnmade }) => isPresent || isUnmade),
      [true, true],
    );
    for (const each of mocks) each.mock.restore();
    const isMade = () => bench.compute.nodes.size === 2 && bench.compute.kept.size === 0;
    await waitFor(isMade, { what: 'the nodes on the compute, with their files' });
    assert.deepEqual(await content(), before);
  });

  it('loses nothing when a compute ends in the middle of it, and makes all of it there again later', async () => {
    const [one, other, third] = [await addNode('A'), await addNode('B'), await addNode('C')];
    await change('POST /links', { nodes: [end(one), end(other)], filters: { latency: [5] } });
    const before = await content();
    const { transport } = bench.controller.computes.local;
    const { send } = transport;
    let deleted = 0;
    const sent = mock.method(transport, 'send', async (...words: Parameters<typeof send>) => {
      if (deleted === 1) throw fault('compute_unreachable', { name: 'local', request: words[0], reason: 'it ended' });
      const answer = await send.apply(transport, words);
      if (/^DELETE .*\/nodes\/[^/]+$/.test(words[0])) deleted += 1;
      return answer;
    });
    const deletion = change('POST /bulk/delete', { nodes: [one.node_id, other.node_id, third.node_id] });
    await assert.rejects(deletion, refusal('compute_unreachable'));
    assert.equal(deleted, 1);
    assert.deepEqual(await content(), before);
    sent.mock.restore();
    const { nodes, nios, kept } = bench.compute;
    const isAllThere = () => nodes.size === 3 && nios.size === 2 && kept.size === 0;
    await waitFor(isAllThere, { what: 'the nodes and their links on the compute' });
    assert.deepEqual(await content(), before);
    await bench.restart();
    assert.deepEqual(await content(), before);
  });
});

describe('a deletion that does not end', () => {
  it('leaves the files of a node when it cannot be recorded', async () => {
    const one = await addNode('A');
    const before = await content();
    const { append } = Journal.prototype;
    const refusing = mock.method(Journal.prototype, 'append', function (this: Journal<unknown>, record: { action?: string }) {
      return record.action === 'node.deleted' ? Promise.reject(new Error('ENOSPC')) : append.call(this, record);
    });
    await assert.rejects(change(`DELETE /nodes/${one.node_id}`), refusal('storage_failed'));
    refusing.mock.restore();
    assert.deepEqual([await content(), bench.compute.kept.size], [before, 0]);
  });

  it('leaves a node that its compute has no room for, either: it is made again when there is some', async () => {
    const one = await addNode('A');
    const before = await content();
    const { append } = Journal.prototype;
    const { transport } = bench.controller.computes.local;
    const { call } = transport;
    const mocks = [
      mock.method(Journal.prototype, 'append', function (this: Journal<unknown>, record: { action?: string }) {
        return record.action === 'node.deleted' ? Promise.reject(new Error('ENOSPC')) : append.call(this, record);
      }),
      mock.method(transport, 'call', async (...words: Parameters<typeof call>) => {
        if (words[0].startsWith('POST ')) throw fault('storage_failed', { reason: 'ENOSPC' });
        return call.apply(transport, words);
      }),
    ];
    await assert.rejects(change(`DELETE /nodes/${one.node_id}`), refusal('storage_failed'));
    assert.equal(bench.compute.nodes.size, 0);
    for (const each of mocks) each.mock.restore();
    await waitFor(() => bench.compute.nodes.size === 1 && bench.compute.kept.size === 0, { what: 'the node on the compute' });
    assert.deepEqual(await content(), before);
  });

  it('gives the files back that its compute had moved when the server was killed, of one node or of many', async () => {
    const nodes = [await addNode('A'), await addNode('B'), await addNode('C')] as const;
    const before = await content();
    const folder = bench.project.path;
    const live = () => bench.controller.projects.get(bench.project.project_id).liveNow;
    for (const { deleted, isSaved = false } of [
      { deleted: nodes.slice(0, 1) },
      // The log begins anew meanwhile.
      { deleted: nodes.slice(0, 1), isSaved: true },
      { deleted: nodes.slice(1) },
    ]) {
      const { transport } = bench.controller.computes.local;
      const { send } = transport;
      let copied = false;
      const sent = mock.method(transport, 'send', async (...words: Parameters<typeof send>) => {
        const answer = await send.apply(transport, words);
        if (/^DELETE .*\/nodes\/[^/]+$/.test(words[0]) && !copied) {
          copied = true;
          if (isSaved) await live()?.writeSnapshot();
          await cp(folder, `${folder}-then`, { recursive: true });
        }
        return answer;
      });
      const [one] = deleted;
      if (deleted.length === 1) await change(`DELETE /nodes/${one?.node_id}`);
      else await change('POST /bulk/delete', { nodes: deleted.map(({ node_id }) => node_id) });
      sent.mock.restore();
      await bench.restart(async () => {
        await rm(folder, { recursive: true });
        await rename(`${folder}-then`, folder);
      });
      assert.deepEqual([await content(), bench.compute.kept.size], [before, 0]);
    }
  });
});

describe('a redo, while another request makes a change', () => {
  it('can be undone like every other change', async () => {
    const before = await content();
    await addNode('A');
    await undo();
    const { transport } = bench.controller.computes.local;
    const answer = Promise.withResolvers<void>();
    const { send } = transport;
    const sent = mock.method(transport, 'send', async (...words: Parameters<typeof send>) => {
      await answer.promise;
      return send.apply(transport, words);
    });
    const redone = redo();
    await waitFor(() => sent.mock.callCount() > 0, { what: 'the request to the compute' });
    await change('POST /drawings', { svg: '<svg/>' });
    answer.resolve();
    sent.mock.restore();
    await redone;
    await undo();
    await undo();
    assert.deepEqual(await content(), before);
  });
});
