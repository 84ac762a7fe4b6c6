/** Records of drawings. `drawing.updated` comes without the picture when that did not change. */
import { Type } from '../../../schema/type.ts';
import { StoredDrawing } from '../../model/stored.ts';
import { toDrawingEntry } from '../../model/topology.ts';
import type { Payloads } from '../records.ts';
import { type ActionRules, differing, isAsLeft, lockOf, type NoticeView, type Outlook, type StoredState } from './action-rules.ts';

type DrawingAction = 'drawing.created' | 'drawing.updated' | 'drawing.deleted';
interface DrawingChange {
  readonly event: Payloads[DrawingAction]['event'];
}

function put({ drawings }: StoredState, { event }: DrawingChange): void {
  drawings.set(event.drawing_id, toDrawingEntry({ ...drawings.get(event.drawing_id), ...event }));
}

async function notice(source: NoticeView, { event }: DrawingChange): Promise<object> {
  return withPicture(source, event);
}

/** Replaces the name of a picture's file by the picture itself. */
async function withPicture<T extends { readonly svg?: string }>(
  pictures: { picture(stored: string): Promise<string> },
  drawing: T,
): Promise<T> {
  return drawing.svg === undefined ? drawing : { ...drawing, svg: await pictures.picture(drawing.svg) };
}

const exists = ({ project, willExist }: Outlook, { drawing_id }: { readonly drawing_id: string }) =>
  willExist(drawing_id) ?? project.drawings.findEntry(drawing_id) !== undefined;
const missing = 'the drawing does not exist any more';

export const drawingRules: { [A in DrawingAction]: ActionRules<A> } = {
  'drawing.created': {
    schema: { event: StoredDrawing, was: Type.Null() },
    apply: put,
    conflict: (outlook, { event }) => {
      const { project, expect, willExist } = outlook;
      if (!exists(outlook, event)) return missing;
      const isLocked = willExist(lockOf(event.drawing_id)) ?? project.drawings.findEntry(event.drawing_id)?.locked === true;
      expect(event.drawing_id, false);
      return isLocked ? 'the drawing is locked: unlock it first' : undefined;
    },
    invert: ({ drawings }, { event }) => drawings.delete(event.drawing_id),
    notice,
  },
  'drawing.updated': {
    schema: { event: StoredDrawing, was: StoredDrawing },
    apply: put,
    conflict: (outlook, { event, was }) => {
      const { project, expect, isSeen } = outlook;
      if (!exists(outlook, event)) return missing;
      const drawing = project.drawings.findEntry(event.drawing_id);
      const wanted = differing(was, event);
      const isAlike = isSeen(event.drawing_id) || !drawing || isAsLeft(drawing, toDrawingEntry({ ...drawing, ...event }), wanted);
      if ('locked' in wanted) expect(lockOf(event.drawing_id), wanted.locked === true);
      return isAlike ? undefined : 'the drawing was changed since';
    },
    invert: async ({ drawings }, { event, was }) =>
      drawings.update(event.drawing_id, await withPicture(drawings, differing(was, event))),
    notice,
  },
  'drawing.deleted': {
    schema: { event: StoredDrawing, was: StoredDrawing },
    apply: ({ drawings }, { event }) => {
      drawings.delete(event.drawing_id);
    },
    conflict: (outlook, { event }) => {
      if (exists(outlook, event)) return 'the drawing exists again';
      outlook.expect(event.drawing_id, true);
      outlook.expect(lockOf(event.drawing_id), false);
      return undefined;
    },
    invert: async ({ drawings }, { was }) => drawings.create(await withPicture(drawings, was)),
    notice,
  },
};
