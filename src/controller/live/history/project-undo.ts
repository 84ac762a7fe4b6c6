/** History, undo and redo of an open project. */
import { setImmediate as turn } from 'node:timers/promises';
import { fault, isFault } from '../../../api/faults.ts';
import { asRequester, findRequester } from '../../../api/requester.ts';
import { Mutex } from '../../../lib/mutex.ts';
import type { History, StepPreview, Undone } from '../../../schema/history.ts';
import type { Outlook, RevertTarget } from '../../log/actions/action-rules.ts';
import { conflictOf, invertChange, isMarker } from '../../log/actions/actions.ts';
import { listKept } from '../../log/kept-presents.ts';
import type { LogRecord, ProjectChange } from '../../log/records.ts';
import { areEntangled, reachOf } from '../../log/step-reach.ts';
import { type Step, type Steps, stepsOf, subjectOf, type TouchedThing } from '../../log/steps.ts';
import { findKind, type NodeLive } from '../../model/node.ts';
import type { NodeEntry } from '../../model/topology.ts';
import type { ProjectCaptures } from '../captures/project-captures.ts';
import type { ProjectChanges } from '../host/project-changes.ts';
import { entriesOf } from './history-entries.ts';

interface UndoableProject extends RevertTarget {
  readonly folder: string;
  readonly links: RevertTarget['links'] & { idsOn(nodeId: string): string[] };
  readonly nodes: {
    find(nodeId: string): { readonly entry: NodeEntry; readonly live: NodeLive } | undefined;
  } & RevertTarget['nodes'];
  readonly changes: ProjectChanges;
  readonly captures: Pick<ProjectCaptures, 'keepDuring'>;
  records(): Promise<readonly LogRecord[]>;
}

/** Otherwise the step would stay on top of its pile. */
const nothing: ProjectChange = { action: 'step.empty', event: {}, was: null, undoable: true };

export type UndoDirection = 'undo' | 'redo';

/** A step that is reverted by restoring the present that was kept before it. */
export interface RewindStep {
  readonly step: number;
  /** Time of the rewind: ISO 8601, UTC. */
  readonly at: string;
  /** Name of the snapshot. */
  readonly name: string;
  readonly kept: string | null;
}

/** The step that is to be reverted; absent: the last. */
interface StepChoice {
  /** Only the last step, and only if it is this one. */
  readonly step?: number;
  /** This step, wherever it is: changes since stay. */
  readonly only?: number;
}

export class ProjectUndo {
  readonly #project: UndoableProject;
  /** Serialises undo and redo. */
  readonly #mutex = new Mutex();

  constructor(project: UndoableProject) {
    this.#project = project;
  }

  /** The last changes, the newest first; with `before` only those before this one. */
  async history(limit: number, before = Number.POSITIVE_INFINITY): Promise<History> {
    const records = await this.#project.records();
    const shown = records.filter(({ action, seq }) => !isMarker(action) && seq < before);
    const entries = await entriesOf(shown.slice(-limit).reverse());
    const steps = new Set(entries.map(({ step }) => step));
    const piles = await this.#stepsOf(records);
    const shownOf = (pile: readonly Step[]) => pile.flatMap(({ id }) => (steps.has(id) ? [id] : [])).reverse();
    return { entries, undoable: shownOf(piles.undo), redoable: shownOf(piles.redo), ...this.#upcomingOf(piles) };
  }

  /**
   * The rewind that the next undo or redo would revert; undefined when it would revert other changes.
   * @throws `nothing_to_undo`; `undo_conflict` when it is another step than `expected`
   */
  async findRewind(direction: UndoDirection, expected?: number): Promise<RewindStep | undefined> {
    return rewindOf(await this.#upcoming(direction, expected === undefined ? {} : { step: expected }));
  }

  /** Describes a revert that is done: the step that reverted this one. */
  async describeRevert(step: number): Promise<Undone> {
    return this.#describe([step]);
  }

  /**
   * Reverts the last step, or the last that was undone, or the one that is chosen. Returns undefined, with nothing done, when several
   * things must change, for which no other change may be under way, and a rewind, which is reverted by another one.
   * @throws `nothing_to_undo`; `undo_conflict` with nothing changed; why a node or link cannot be made
   */
  take(direction: UndoDirection, choice: StepChoice): Promise<Undone | RewindStep | undefined> {
    return this.#mutex.run(async () => {
      const step = await this.#upcoming(direction, choice);
      const rewind = rewindOf(step);
      if (rewind) return rewind;
      this.#requireRevertible(step);
      return this.#isOneChange(step) ? this.#answer([step], () => this.#invert(step)) : undefined;
    });
  }

  /** Reverts any step like `take`, but makes all of its changes durable at once. The caller holds the gate. */
  takeAlone(direction: UndoDirection, choice: StepChoice): Promise<Undone> {
    return this.#mutex.run(async () => {
      const step = await this.#upcoming(direction, choice);
      this.#requireRevertible(step);
      return this.#revertWhole([step]);
    });
  }

  /**
   * Reverts all steps after this one, the last first, each as a step of its own, so that redo brings them back one by one. Either
   * all of them are reverted, in one line of the log, or none. `expected`: only if it is the last step. The gate is held.
   */
  takeUntil(until: number, expected?: number): Promise<Undone> {
    return this.#mutex.run(async () => {
      const { undo: all } = await this.#stepsOf(await this.#project.records());
      requireNext('undo', all.at(-1), expected);
      const kept = all.findIndex(({ id }) => id === until);
      if (until > 0 && kept < 0) throw fault('undo_conflict', { reason: `step ${until} is none that undo could revert` });
      const steps = all.slice(kept + 1);
      if (steps.length === 0) throw fault('nothing_to_undo', { what: 'undo' });
      const reason = findConflict(
        steps.flatMap(({ records }) => records),
        this.#project,
      );
      if (reason !== undefined) throw fault('undo_conflict', { reason });
      return this.#revertWhole(steps.toReversed());
    });
  }

  /** @throws undo_conflict */
  #requireRevertible({ records }: Step): void {
    const reason = findConflict(records, this.#project);
    if (reason !== undefined) throw fault('undo_conflict', { reason });
  }

  async #upcoming(direction: UndoDirection, { step: expected, only }: StepChoice): Promise<Step> {
    const pile = (await this.#stepsOf(await this.#project.records()))[direction];
    const place = only === undefined ? pile.length - 1 : pile.findIndex(({ id }) => id === only);
    const step = pile[place];
    if (only !== undefined) {
      const reason = step ? entangledSince(step, pile.slice(place + 1)) : `step ${only} is none that ${direction} could revert`;
      if (reason !== undefined) throw fault('undo_conflict', { reason });
    }
    if (!step) throw fault('nothing_to_undo', { what: direction });
    requireNext(direction, step, expected);
    return step;
  }

  async #stepsOf(records: readonly LogRecord[]): Promise<Steps> {
    const isRewound = records.some(({ action }) => action === 'project.rewound');
    return isRewound ? stepsOf(records, await listKept(this.#project.folder)) : stepsOf(records);
  }

  /** Reverts the steps in this order; all changes become durable at once. */
  #revertWhole(steps: readonly Step[]): Promise<Undone> {
    const revert = (change: ProjectChange) => invertChange(this.#project, change, { isKept: true });
    const { captures, changes } = this.#project;
    const rewired = new Set(steps.flatMap(rewiredIn));
    const invertAll = async () => {
      for (const step of steps) {
        // Other requests have their turn.
        await turn();
        await this.#invert(step);
      }
    };
    return this.#answer(steps, () => captures.keepDuring([...rewired], () => changes.together(invertAll, revert)));
  }

  /** A node is deleted with its links. */
  #isOneChange({ records: [record, ...more] }: Step): boolean {
    if (!record || more.length > 0) return false;
    return record.action !== 'node.created' || this.#project.links.idsOn(record.event.node_id).length === 0;
  }

  async #answer(steps: readonly Step[], revert: () => Promise<void>): Promise<Undone> {
    try {
      await revert();
    } catch (error) {
      if (isFault(error) && error.status === 404) throw fault('undo_conflict', { reason: error.message }, { cause: error });
      throw error;
    }
    return this.#describe(steps.map(({ id }) => id));
  }

  async #describe(reverted: readonly number[]): Promise<Undone> {
    const records = await this.#project.records();
    const inverting = new Map(records.map(({ inverts, step }) => [inverts, step]));
    const ofSteps = Map.groupBy(records, ({ step }) => step);
    const changes = reverted.flatMap((id) => ofSteps.get(inverting.get(id)) ?? []);
    return { step: reverted.at(-1) ?? 0, changes: await entriesOf(changes), ...this.#upcomingOf(await this.#stepsOf(records)) };
  }

  /** Returns the steps that the next undo and redo would revert. */
  #upcomingOf(steps: Steps): Pick<History, UndoDirection | 'preview'> {
    const [undo, redo] = [steps.undo.at(-1), steps.redo.at(-1)];
    const isRunning = (nodeId: string) => {
      const node = this.#project.nodes.find(nodeId);
      return node !== undefined && node.live.status !== 'stopped' && !findKind(node.entry.node_type)?.alwaysRunning;
    };
    const preview = { undo: undo ? previewOf(undo, isRunning) : null, redo: redo ? previewOf(redo, isRunning) : null };
    return { undo: undo?.id ?? null, redo: redo?.id ?? null, preview };
  }

  /** Reverts a step. The changes form a step that names it. */
  #invert({ id, records }: Step): Promise<void> {
    const { changes } = this.#project;
    const subjects = new Set(thingsOf(records).keys());
    return asRequester({ by: null, ...findRequester(), inverts: id }, () =>
      changes.revert(id, subjects, async () => {
        const { effects } = changes;
        await revertRecords(records, this.#project);
        if (changes.effects === effects) await changes.commitAll([{ change: nothing, apply: () => undefined }]);
      }),
    );
  }
}

function rewindOf({ id, records: [record] }: Step): RewindStep | undefined {
  if (record?.action !== 'project.rewound') return undefined;
  const { at, event } = record;
  return { step: id, at, name: event.name, kept: event.kept };
}

/** @throws undo_conflict when the next step is another one than the client expects */
function requireNext(direction: UndoDirection, next: Step | undefined, expected: number | undefined): void {
  if (expected === undefined || expected === next?.id) return;
  throw fault('undo_conflict', { reason: `the next step to ${direction} is ${next?.id ?? 'none'} by now, not ${expected}` });
}

/** Explains which of the later steps is in the way; undefined: none. */
function entangledSince(step: Step, later: readonly Step[]): string | undefined {
  const reach = reachOf(step.records);
  const [record] = later.findLast(({ records }) => areEntangled(reach, reachOf(records)))?.records ?? [];
  return record && `${record.by ?? 'another request'} has changed since what it changed, or what needs that`;
}

/** Links that the step deleted and made anew. */
function rewiredIn({ records }: Step): string[] {
  const deleted = new Set(records.flatMap((record) => (record.action === 'link.deleted' ? [record.event.link_id] : [])));
  return records.flatMap(({ action, event }) => (action === 'link.created' && deleted.has(event.link_id) ? [event.link_id] : []));
}

/** Records that are reverted before other requests have their turn: a moved node waits for nothing else. */
const recordsPerTurn = 100;

/** Explains to people why the changes cannot be reverted in the present state; undefined when they can. */
function findConflict(records: readonly LogRecord[], project: RevertTarget): string | undefined {
  const outlook = outlookOn(project);
  for (const record of records.toReversed()) {
    const reason = conflictOf(outlook, record);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** Follows each change by its opposite, the last one first. `findConflict` must have found none. */
async function revertRecords(records: readonly LogRecord[], project: RevertTarget): Promise<void> {
  for (const [index, record] of records.toReversed().entries()) {
    if (index % recordsPerTurn === recordsPerTurn - 1) await turn();
    await invertChange(project, record);
  }
}

function outlookOn(project: RevertTarget): Outlook {
  const exists = new Map<string, boolean>();
  return {
    project,
    willExist: (id) => exists.get(id),
    expect: (id, will) => exists.set(id, will),
    isSeen: (id) => {
      if (exists.has(id)) return true;
      exists.set(id, true);
      return false;
    },
  };
}

interface Touched {
  readonly sort: TouchedThing['sort'];
  /** Whether the object was created in the step; `isDeleted`: whether it was deleted. */
  readonly isCreated: boolean;
  isDeleted: boolean;
}

/**
 * Counts the objects that reverting a step would change. The first and the last change of the step to an object decide how it
 * counts.
 */
function previewOf({ id, records }: Step, isRunning: (nodeId: string) => boolean): StepPreview {
  const { at = '', by = null } = records[0] ?? {};
  const touched = thingsOf(records);
  const things = [...touched.values()];
  const deleted = deletedBy(touched);
  const count = (matches: (thing: Touched) => boolean) => things.filter(matches).length;
  return {
    ...{ step: id, at, by },
    nodes: count(({ sort }) => sort === 'nodes'),
    links: count(({ sort }) => sort === 'links'),
    drawings: count(({ sort }) => sort === 'drawings'),
    deletes: deleted.length,
    restores: count(({ isCreated, isDeleted }) => isDeleted && !isCreated),
    running: deleted.filter(isRunning).length,
  };
}

/** Ids of those that reverting a step deletes. */
function deletedBy(touched: ReadonlyMap<string, Touched>): string[] {
  return [...touched].flatMap(([thing, { isCreated, isDeleted }]) => (isCreated && !isDeleted ? [thing] : []));
}

/** Nodes, links and drawings that the records changed, by id. */
function thingsOf(records: readonly LogRecord[]): ReadonlyMap<string, Touched> {
  const things = new Map<string, Touched>();
  for (const record of records) {
    const subject = subjectOf(record);
    if (!subject) continue;
    const known = things.get(subject.id);
    const isDeleted = record.action.endsWith('.deleted');
    if (known) known.isDeleted = isDeleted;
    else things.set(subject.id, { sort: subject.sort, isCreated: record.action.endsWith('.created'), isDeleted });
  }
  return things;
}
