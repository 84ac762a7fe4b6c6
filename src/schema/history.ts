/** A project's history, undo and redo: ours, beyond the GNS3 API. */
import { named, nullable } from './common.ts';
import { type Static, Type } from './type.ts';

const Step = Type.Integer({
  minimum: 1,
  description: 'What was asked for in one request is one step, named for the seq of its first change',
});

export const HistoryEntry = Type.Object(
  {
    action: Type.String({ description: 'As it was sent to listeners: node.created, link.updated, …' }),
    at: Type.String({ description: 'ISO 8601, UTC' }),
    by: nullable(Type.String({ description: 'The requester: X-Patchbay-Client, else the user, else the User-Agent' })),
    id: Type.String({ description: 'Of the node, link, drawing or project' }),
    inverts: nullable(Type.Integer({ description: 'The step that this one took back' })),
    name: nullable(Type.String({ description: 'Of a node or a project' })),
    seq: Type.Integer({ minimum: 1 }),
    step: nullable(Step),
  },
  named('HistoryEntry'),
);
export type HistoryEntry = Static<typeof HistoryEntry>;

const upcoming = {
  undo: nullable(Type.Integer({ description: 'The step that undo takes back; null: none' })),
  redo: nullable(Type.Integer({ description: 'The step that redo takes back; null: none' })),
};
export const History = Type.Object({ entries: Type.Array(HistoryEntry), ...upcoming }, named('History'));
export type History = Static<typeof History>;

export const UndoRequest = Type.Object({ step: Type.Optional(Step) }, named('UndoRequest'));
export type UndoRequest = Static<typeof UndoRequest>;

export const Undone = Type.Object(
  { step: Type.Integer({ description: 'The step that was taken back' }), changes: Type.Array(HistoryEntry), ...upcoming },
  named('Undone'),
);
export type Undone = Static<typeof Undone>;

/** Entries of one answer: usual, and most. */
export const historyLimit = { usual: 100, most: 1_000 } as const;
