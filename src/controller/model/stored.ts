/** Schemas of the stored forms of a project, its nodes, links and drawings: in its file, and in the records of its log. */
import { nullable, strict, Uuid } from '../../schema/common.ts';
import { DrawingInput } from '../../schema/drawing.ts';
import { LinkEnd, LinkInput, LinkMirror } from '../../schema/link.ts';
import { NodeCreate } from '../../schema/node.ts';
import { ProjectCreate } from '../../schema/project.ts';
import { LinkSchedule } from '../../schema/schedule.ts';
import { Type } from '../../schema/type.ts';

const { path: _path, ...projectFields } = ProjectCreate.properties;

/** The project's own fields. A name may be longer than one that a client can give. */
export const storedProjectFields = { ...projectFields, name: Type.String({ minLength: 1 }), project_id: Uuid };
export const StoredProject = Type.Object(storedProjectFields, strict);
export const StoredNode = Type.Object({ ...NodeCreate.properties, node_id: Uuid }, strict);
export const StoredLink = Type.Object(
  {
    ...LinkInput.properties,
    link_id: Uuid,
    nodes: Type.Array(LinkEnd, { minItems: 2, maxItems: 2 }),
    schedule: Type.Optional(nullable(LinkSchedule)),
    mirror: Type.Optional(nullable(LinkMirror)),
  },
  strict,
);
/** `svg` is absent in a change that leaves the picture as it is. */
export const StoredDrawing = Type.Object({ ...DrawingInput.properties, drawing_id: Uuid }, strict);
