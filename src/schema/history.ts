/** History, undo and redo of a project. Not part of GNS3's API. */
import { named, nullable } from './common.ts';
import { type Static, Type } from './type.ts';

const Step = Type.Integer({
  minimum: 1,
  description: 'The changes of one request are one step, named for the seq of the first of them',
});

/** Bounds of what an entry says about its change. */
export const fieldLimits = { fields: 12, characters: 200 } as const;

const value = (description: string) => Type.Unknown({ description });
export const FieldChange = Type.Object(
  {
    field: Type.String({ description: 'Name of the field; of an object the member too: properties.ram, filters.delay' }),
    from: value('Value before; null: none. Of a long text, list or object the beginning of it, or of its JSON'),
    to: value('Value after, likewise'),
  },
  named('FieldChange'),
);
export type FieldChange = Static<typeof FieldChange>;

export const HistoryEntry = Type.Object(
  {
    action: Type.String({ description: 'Action as in notifications: node.created, link.updated, …' }),
    at: Type.String({ description: 'ISO 8601, UTC' }),
    by: nullable(Type.String({ description: 'The requester: X-Patchbay-Client, else the user, else the User-Agent' })),
    fields: Type.Array(FieldChange, {
      description: `Changed fields of an update, at most ${fieldLimits.fields}; empty for other actions`,
    }),
    id: Type.String({ description: 'Id of the node, link, drawing or project' }),
    inverts: nullable(Type.Integer({ description: 'The step that this one reverted' })),
    name: nullable(Type.String({ description: 'Name of the node or project' })),
    seq: Type.Integer({ minimum: 1 }),
    step: nullable(Step),
  },
  named('HistoryEntry'),
);
export type HistoryEntry = Static<typeof HistoryEntry>;

const count = (description: string) => Type.Integer({ minimum: 0, description });

/** The changes that undoing or redoing a step would make, so that the page can ask first. */
export const StepPreview = Type.Object(
  {
    step: Step,
    at: Type.String({ description: 'When the step was made: ISO 8601, UTC' }),
    by: nullable(Type.String({ description: 'Who made the step' })),
    nodes: count('Nodes that are deleted, restored or changed'),
    links: count('Links that are deleted, restored or changed'),
    drawings: count('Drawings that are deleted, restored or changed'),
    deletes: count('Objects that are deleted'),
    restores: count('Objects that are restored'),
    running: count('Running nodes that are deleted: their memory is lost; without nodes that always run'),
  },
  named('StepPreview'),
);
export type StepPreview = Static<typeof StepPreview>;

const upcoming = {
  undo: nullable(Type.Integer({ description: 'The step that undo reverts; null: none' })),
  redo: nullable(Type.Integer({ description: 'The step that redo reverts; null: none' })),
  preview: Type.Object(
    { undo: nullable(StepPreview), redo: nullable(StepPreview) },
    { ...named('UndoPreview'), description: 'Changes that the next undo and redo would make; null: none' },
  ),
};
const undoable = Type.Array(Step, { description: 'Steps of these entries that undo can revert, the last first' });
const redoable = Type.Array(Step, { description: 'Steps of these entries that redo can revert, the last first' });
export const History = Type.Object({ entries: Type.Array(HistoryEntry), undoable, redoable, ...upcoming }, named('History'));
export type History = Static<typeof History>;

const only = Type.Integer({
  minimum: 1,
  description: 'Reverts this step, which need not be the last: all that was changed since stays, and nothing of that may need it',
});
const choice = { step: Type.Optional(Step), only: Type.Optional(only) };
export const UndoRequest = Type.Object(choice, named('UndoRequest'));
export type UndoRequest = Static<typeof UndoRequest>;

const until = Type.Integer({
  minimum: 0,
  description: 'Reverts all steps after this one, the last first, if all of them can be reverted; 0: every step',
});
export const UndoUntilRequest = Type.Object({ ...choice, until: Type.Optional(until) }, named('UndoUntilRequest'));
export type UndoUntilRequest = Static<typeof UndoUntilRequest>;

export const Undone = Type.Object(
  { step: Type.Integer({ description: 'The step that was reverted' }), changes: Type.Array(HistoryEntry), ...upcoming },
  named('Undone'),
);
export type Undone = Static<typeof Undone>;

/** Entries of one answer: default and maximum. */
export const historyLimit = { usual: 100, most: 1_000 } as const;
