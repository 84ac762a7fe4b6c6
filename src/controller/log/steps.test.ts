import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LogRecord } from './records.ts';
import { keepSteps, stepsOf } from './steps.ts';

const node_id = '00000000-0000-4000-8000-000000000000';

/** Records of steps of these lengths; a step named by another inverts that one. */
function recordsOf(steps: readonly { readonly name: string; readonly length: number; readonly inverts?: string }[]): LogRecord[] {
  const ids = new Map<string, number>();
  const records: LogRecord[] = [];
  for (const { name, length, inverts } of steps) {
    const step = records.length + 1;
    ids.set(name, step);
    for (let n = 0; n < length; n++) {
      const head = { seq: step + n, at: '', by: null, step, ...(inverts !== undefined && { inverts: ids.get(inverts) ?? 0 }) };
      records.push({ ...head, action: 'node.deleting', event: { node_id }, was: null });
    }
  }
  return records;
}

const ids = (records: readonly LogRecord[]) => {
  const { undo, redo } = stepsOf(records);
  return { undo: undo.map(({ id }) => id), redo: redo.map(({ id }) => id) };
};

it('has a redo, which a new step came before, as a new step: undo reverts it', () => {
  const records = recordsOf([
    { name: 'a', length: 1 },
    { name: 'undo a', length: 1, inverts: 'a' },
    { name: 'b', length: 1 },
    { name: 'redo a', length: 1, inverts: 'undo a' },
  ]);
  assert.deepEqual(ids(records), { undo: [3, 4], redo: [] });
  const more = recordsOf([
    { name: 'a', length: 1 },
    { name: 'undo a', length: 1, inverts: 'a' },
    { name: 'b', length: 1 },
    { name: 'redo a', length: 1, inverts: 'undo a' },
    { name: 'undo again', length: 1, inverts: 'redo a' },
  ]);
  assert.deepEqual(ids(more), { undo: [3], redo: [5] });
});

it('keeps what another requester undid when a new step has nothing to do with it', () => {
  const node = (id: string, name = id) => ({ node_id: id, name });
  const record = (seq: number, by: string | null, payload: object) =>
    ({ seq, at: '', by, step: seq, ...payload }) as unknown as LogRecord;
  const moved = (id: string) => ({ action: 'node.updated', event: node(id), was: node(id) });
  const linked = (id: string) => ({
    action: 'link.created',
    event: { link_id: `l${id}`, nodes: [{ node_id: id, adapter_number: 0, port_number: 0 }] },
    was: null,
  });
  const renamed = { action: 'node.updated', event: node('B', 'A'), was: node('B') };
  const [of, restored] = [
    { action: 'node.deleted', event: node('A') },
    { action: 'node.created', event: node('A'), inverts: 1 },
  ];
  const undoneMove = [record(1, 'Ann', moved('A')), record(2, 'Ann', { ...moved('A'), inverts: 1 })];
  const undoneDeletion = [record(1, 'Ann', of), record(2, 'Ann', restored)];
  const left = { undo: [3], redo: [2] };
  const dropped = { undo: [3], redo: [] };
  assert.deepEqual(ids([...undoneMove, record(3, 'Ben', moved('B'))]), left);
  assert.deepEqual(ids([...undoneMove, record(3, 'Ben', linked('A'))]), left);
  assert.deepEqual(ids([...undoneDeletion, record(3, 'Ben', linked('B'))]), left);
  assert.deepEqual(ids([...undoneMove, record(3, 'Ben', moved('A'))]), dropped);
  assert.deepEqual(ids([...undoneMove, record(3, 'Ann', moved('B'))]), dropped);
  assert.deepEqual(ids([...undoneMove, record(3, null, moved('B'))]), dropped);
  assert.deepEqual(ids([...undoneMove, record(3, 'Ben', { action: 'project.rewound', event: {} })]).redo, []);
  assert.deepEqual(ids([...undoneDeletion, record(3, 'Ben', linked('A'))]), dropped);
  assert.deepEqual(ids([...undoneDeletion, record(3, 'Ben', renamed)]), dropped);
  // The deletion of a link was undone before that of its node, so it is redone after it: without the node it cannot be.
  const unlinked = { action: 'link.deleted', event: linked('A').event, inverts: 2 };
  const made = [record(1, 'Ann', { ...restored, inverts: undefined }), record(2, 'Ben', linked('A'))];
  const nothing = [...made, record(3, 'Ben', unlinked), record(4, 'Ann', { ...of, inverts: 1 })];
  assert.deepEqual(ids(nothing).redo, [3, 4]);
  assert.deepEqual(ids([...nothing, record(5, 'Ann', moved('B'))]), { undo: [5], redo: [] });
  assert.deepEqual(ids([...nothing, record(5, 'Ben', moved('B'))]), { undo: [5], redo: [4] });
  const both = [...undoneMove, record(3, 'Ben', moved('B')), record(4, 'Ann', { ...moved('A'), inverts: 2 })];
  assert.deepEqual(ids(both), { undo: [3, 4], redo: [] });
});

it('has the step that changed a thing last above one that changed it meanwhile, so that it is reverted first', () => {
  const link = (link_id: string) => ({ link_id, nodes: [], filters: {}, suspend: false, link_style: {} });
  const record = (seq: number, step: number, action: 'link.updated' | 'link.deleted', id: string) =>
    ({ seq, at: '', by: null, step, action, event: link(id), was: link(id) }) as unknown as LogRecord;
  // A deletion of a node takes its links along, one after the other; another client changes them meanwhile.
  const records = [
    record(1, 1, 'link.deleted', 'a'),
    record(2, 2, 'link.updated', 'b'),
    record(3, 3, 'link.updated', 'c'),
    record(4, 1, 'link.deleted', 'b'),
    record(5, 5, 'link.updated', 'd'),
  ];
  assert.deepEqual(ids(records), { undo: [2, 1, 3, 5], redo: [] });
  assert.deepEqual(ids([...records, record(6, 1, 'link.deleted', 'c')]), { undo: [2, 3, 1, 5], redo: [] });
  // Steps with nothing in common stay in the order in which they began.
  assert.deepEqual(ids([...records, record(6, 1, 'link.deleted', 'e')]), { undo: [2, 1, 3, 5], redo: [] });
});

it('is read in linear time where two large steps ran side by side', () => {
  const count = 1_000;
  let reads = 0;
  const recordOf = (seq: number, step: number, id: string) => ({
    ...{ seq, at: '', by: null, step, action: 'link.deleted', was: null },
    get event() {
      reads += 1;
      return { link_id: id };
    },
  });
  const records = Array.from({ length: count }, (_, at) => [
    recordOf(2 * at + 1, 1, `one ${at}`),
    recordOf(2 * at + 2, 2, `other ${at}`),
  ]).flat() as unknown as LogRecord[];
  assert.deepEqual(ids(records), { undo: [1, 2], redo: [] });
  assert.ok(reads <= 10 * records.length, `${reads} reads of ${records.length} records`);
});

describe('the history that is kept', () => {
  it('begins with a whole step', () => {
    const records = recordsOf([
      { name: 'a', length: 5 },
      { name: 'b', length: 50 },
    ]);
    assert.deepEqual(ids(keepSteps(records, 40, 1_000)), { undo: [6], redo: [] });
    assert.equal(keepSteps(records, 40, 1_000).length, 50);
  });

  it('has the step that was undone, or it could not be redone', () => {
    const records = recordsOf([
      { name: 'a', length: 5 },
      { name: 'b', length: 50 },
      { name: 'undo b', length: 50, inverts: 'b' },
    ]);
    assert.deepEqual(ids(keepSteps(records, 80, 1_000)), { undo: [], redo: [56] });
  });

  it('keeps a step that was redone on the pile of undo when what it redid is forgotten', () => {
    const records = recordsOf([
      { name: 'b', length: 50 },
      { name: 'undo b', length: 50, inverts: 'b' },
      { name: 'redo b', length: 50, inverts: 'undo b' },
    ]);
    const kept = keepSteps(records, 120, 1_000);
    assert.deepEqual([kept.length, ids(kept)], [50, { undo: [101], redo: [] }]);
    const more = recordsOf([
      { name: 'b', length: 50 },
      { name: 'undo b', length: 50, inverts: 'b' },
      { name: 'redo b', length: 50, inverts: 'undo b' },
      { name: 'again', length: 50, inverts: 'redo b' },
    ]);
    const again = keepSteps(more, 180, 1_000);
    assert.deepEqual([again.length, ids(again)], [100, { undo: [], redo: [151] }]);
  });

  it('is no longer than is allowed: a step that is longer is forgotten', () => {
    const records = recordsOf([
      { name: 'b', length: 500 },
      { name: 'c', length: 5 },
    ]);
    assert.deepEqual(ids(keepSteps(records, 400, 200)), { undo: [501], redo: [] });
    assert.equal(keepSteps(records, 400, 200).length, 105);
  });
});
