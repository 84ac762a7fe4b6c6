import { named, nullable, oneOf, strict, Uuid } from './common.ts';
import type { Filters } from './filter.ts';
import { Label } from './node.ts';
import { type Static, Type } from './type.ts';

export const LinkEnd = Type.Object(
  {
    adapter_number: Type.Integer(),
    label: Type.Optional(Label),
    node_id: Uuid,
    port_number: Type.Integer(),
  },
  named('LinkEnd'),
);
export type LinkEnd = Static<typeof LinkEnd>;

/** A port to which a link's frames are mirrored (SPAN). Not part of GNS3's API. */
export const LinkMirror = Type.Object(
  {
    node_id: Uuid,
    adapter_number: Type.Integer({ minimum: 0 }),
    port_number: Type.Integer({ minimum: 0 }),
  },
  { ...named('LinkMirror'), description: 'A free Ethernet port of another node of the project' },
);
export type LinkMirror = Static<typeof LinkMirror>;

export const MirrorOfLink = Type.Object({ link_id: Uuid, ...LinkMirror.properties }, named('MirrorOfLink'));
export type MirrorOfLink = Static<typeof MirrorOfLink>;

const LinkType = oneOf(['ethernet', 'serial']);

/** Body of link creation and update: all fields of the link, so that clients may send a whole link back. */
export const LinkInput = Type.Object(
  {
    capture_compute_id: Type.Optional(nullable(Type.String())),
    capture_file_name: Type.Optional(nullable(Type.String())),
    capture_file_path: Type.Optional(nullable(Type.String())),
    capturing: Type.Optional(Type.Boolean()),
    filters: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Filter to its values, see available_filters; with _ab or _ba behind its name for one direction only',
      }),
    ),
    link_id: Type.Optional(Uuid),
    link_style: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    link_type: Type.Optional(LinkType),
    nodes: Type.Optional(Type.Array(LinkEnd)),
    project_id: Type.Optional(Uuid),
    suspend: Type.Optional(Type.Boolean()),
  },
  named('LinkInput'),
);
export type LinkInput = Static<typeof LinkInput>;

/** A JSON merge patch (RFC 7396) of a link: one filter is changed without the others. Not part of GNS3's API. */
export const LinkPatch = Type.Object(
  {
    filters: Type.Optional(
      nullable(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'Filter to its values, or to null, which removes it; filters that are not named stay',
        }),
      ),
    ),
    // Only the keys that clients use: what is merged has no other limit.
    link_style: Type.Optional(
      nullable(
        Type.Object(
          {
            color: Type.Optional(nullable(Type.String())),
            type: Type.Optional(nullable(Type.Number())),
            width: Type.Optional(nullable(Type.Number())),
          },
          strict,
        ),
      ),
    ),
    nodes: Type.Optional(Type.Array(LinkEnd)),
    suspend: Type.Optional(Type.Boolean()),
  },
  named('LinkPatch'),
);
export type LinkPatch = Static<typeof LinkPatch>;

/** The two ports of a link, in its order. Not part of GNS3's API. */
export const LinkEnds = Type.Object({ nodes: Type.Array(LinkEnd, { minItems: 2, maxItems: 2 }) }, named('LinkEnds'));

/** The link object of the controller's API. */
export const Link = Type.Object(
  {
    capture_compute_id: nullable(Type.String()),
    capture_file_name: nullable(Type.String()),
    capture_file_path: nullable(Type.String()),
    capturing: Type.Boolean(),
    filters: Type.Unsafe<Filters>(Type.Record(Type.String(), Type.Array(Type.Union([Type.Number(), Type.String()])))),
    link_id: Uuid,
    link_style: Type.Record(Type.String(), Type.Unknown()),
    link_type: LinkType,
    nodes: Type.Array(LinkEnd),
    project_id: Uuid,
    suspend: Type.Boolean(),
  },
  named('Link'),
);
export type Link = Static<typeof Link>;
