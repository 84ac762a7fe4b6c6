import { named, Uuid } from './common.ts';
import { type Static, Type } from './type.ts';

/** Body of drawing creation and update. `project_id` is accepted, so that clients may send a drawing back, and ignored. */
export const DrawingInput = Type.Object(
  {
    drawing_id: Type.Optional(Uuid),
    locked: Type.Optional(Type.Boolean()),
    project_id: Type.Optional(Uuid),
    rotation: Type.Optional(Type.Integer({ minimum: -359, maximum: 360 })),
    svg: Type.Optional(Type.String()),
    x: Type.Optional(Type.Integer()),
    y: Type.Optional(Type.Integer()),
    z: Type.Optional(Type.Integer()),
  },
  named('DrawingInput'),
);
export type DrawingInput = Static<typeof DrawingInput>;

/** The drawing object of the controller's API. */
export const Drawing = Type.Object(
  {
    drawing_id: Uuid,
    locked: Type.Boolean(),
    project_id: Uuid,
    rotation: Type.Integer(),
    svg: Type.String(),
    x: Type.Integer(),
    y: Type.Integer(),
    z: Type.Integer(),
  },
  named('Drawing'),
);
export type Drawing = Static<typeof Drawing>;
