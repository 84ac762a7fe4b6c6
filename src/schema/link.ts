import { nullable, oneOf, strict, Uuid } from './common.ts';
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
  strict,
);
export type LinkEnd = Static<typeof LinkEnd>;

export const LinkType = oneOf(['ethernet', 'serial']);

/** Body of link creation and update: all fields of the link, so that clients may send a whole link back. */
export const LinkInput = Type.Object(
  {
    capture_compute_id: Type.Optional(nullable(Type.String())),
    capture_file_name: Type.Optional(nullable(Type.String())),
    capture_file_path: Type.Optional(nullable(Type.String())),
    capturing: Type.Optional(Type.Boolean()),
    filters: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'Filter type to its values, see available_filters' }),
    ),
    link_id: Type.Optional(Uuid),
    link_style: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    link_type: Type.Optional(LinkType),
    nodes: Type.Optional(Type.Array(LinkEnd)),
    project_id: Type.Optional(Uuid),
    suspend: Type.Optional(Type.Boolean()),
  },
  strict,
);
export type LinkInput = Static<typeof LinkInput>;

/** The link object of the controller's API. */
export interface Link {
  capture_compute_id: string | null;
  capture_file_name: string | null;
  capture_file_path: string | null;
  capturing: boolean;
  filters: Filters;
  link_id: string;
  link_style: Record<string, unknown>;
  link_type: 'ethernet' | 'serial';
  nodes: LinkEnd[];
  project_id: string;
  suspend: boolean;
}
