import { GivenName, Name, named, nullable, oneOf, strict, Text, Uuid } from './common.ts';
import { type Static, Type } from './type.ts';

const Supplier = Type.Object({ logo: Type.Optional(Text()), url: Type.Optional(Text()) }, named('Supplier'));
export const Variables = Type.Array(Type.Object({ name: Name(), value: Type.Optional(Text()) }, strict));

const size = (description: string) => Type.Optional(Type.Integer({ minimum: -1_000_000, maximum: 1_000_000, description }));
const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

/** Settings of a project that a client may change at any time. */
const settings = {
  auto_close: flag('Close the project some time after the last listener of its notifications has left'),
  auto_open: flag('Open the project when the server starts'),
  auto_start: flag('Start all nodes when the project is opened'),
  checkpoint_bytes: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Not in GNS3: most disk space of all checkpoints; the oldest are deleted first. Default 10 GiB',
    }),
  ),
  checkpoint_minutes: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 10_080,
      description:
        'Not in GNS3: minutes between checkpoints, snapshots with memory that the server takes while nodes run. Default 0: none',
    }),
  ),
  drawing_grid_size: size('Grid size for drawings, pixels'),
  grid_size: size('Grid size for nodes, pixels'),
  on_close: Type.Optional(
    oneOf(['stop', 'freeze'], {
      description: 'Not in GNS3: `freeze` keeps the memory of machines when the project is closed or the server ends. Default stop',
    }),
  ),
  path: Type.Optional(nullable(Name({ description: 'Folder of the project, absolute' }))),
  replicate_link_state: flag(
    'Not in GNS3: guests see a link down while the link is suspended, or deleted, or its other node does not run. Default false',
  ),
  scene_height: size('Height of the drawing area, pixels'),
  scene_width: size('Width of the drawing area, pixels'),
  show_grid: flag('Show the grid'),
  show_interface_labels: flag('Show interface labels'),
  show_layers: flag('Show layers'),
  snap_to_grid: flag('Snap to grid'),
  supplier: Type.Optional(nullable(Supplier)),
  variables: Type.Optional(nullable(Variables)),
  zoom: size('Zoom of the drawing area, percent'),
};

export const ProjectCreate = Type.Object(
  { ...settings, name: GivenName(), project_id: Type.Optional(nullable(Uuid)) },
  named('ProjectCreate'),
);
export const ProjectUpdate = Type.Object({ ...settings, name: Type.Optional(GivenName()) }, named('ProjectUpdate'));
export const ProjectDuplicate = Type.Object(
  {
    ...settings,
    name: nullable(GivenName()),
    project_id: Type.Optional(nullable(Uuid)),
    reset_mac_addresses: Type.Optional(Type.Boolean({ description: 'Give the nodes of the copy new MAC addresses' })),
  },
  named('ProjectDuplicate'),
);
export type ProjectCreate = Static<typeof ProjectCreate>;
export type ProjectUpdate = Static<typeof ProjectUpdate>;
export type ProjectDuplicate = Static<typeof ProjectDuplicate>;

/** The origin of a fork. The parent project may have been deleted. Not part of GNS3's API. */
export const ForkedFrom = Type.Object({ project_id: Uuid, name: Type.String(), snapshot_id: Uuid }, named('ForkedFrom'));
export type ForkedFrom = Readonly<Static<typeof ForkedFrom>>;

export const Project = Type.Object(
  {
    auto_close: Type.Boolean(),
    auto_open: Type.Boolean(),
    auto_start: Type.Boolean(),
    checkpoint_bytes: Type.Optional(Type.Integer({ description: 'Not in GNS3: absent without checkpoints' })),
    checkpoint_minutes: Type.Optional(Type.Number({ description: 'Not in GNS3: absent without checkpoints' })),
    drawing_grid_size: Type.Integer(),
    filename: nullable(Type.String()),
    forked_from: Type.Optional(ForkedFrom),
    grid_size: Type.Integer(),
    name: nullable(Type.String()),
    on_close: Type.Optional(Type.Literal('freeze', { description: 'Not in GNS3: absent when machines are stopped' })),
    path: nullable(Type.String()),
    project_id: Uuid,
    replicate_link_state: Type.Optional(Type.Literal(true, { description: 'Not in GNS3: absent when it is off' })),
    scene_height: Type.Integer(),
    scene_width: Type.Integer(),
    show_grid: Type.Boolean(),
    show_interface_labels: Type.Boolean(),
    show_layers: Type.Boolean(),
    snap_to_grid: Type.Boolean(),
    status: oneOf(['opened', 'closed']),
    supplier: nullable(Supplier),
    variables: nullable(Variables),
    zoom: Type.Integer(),
  },
  named('Project'),
);
export type Project = Static<typeof Project>;

/** Patchbay's own project fields; a field that is not set is absent in a project's object. */
export type OwnProjectFields = {
  readonly checkpoint_bytes: number;
  readonly checkpoint_minutes: number;
  readonly on_close: 'stop' | 'freeze';
  readonly replicate_link_state: boolean;
};
type NotStored = 'filename' | 'forked_from' | 'name' | 'path' | 'project_id' | 'status' | keyof OwnProjectFields;
/** Defaults of a new project. Source: GNS3. */
export const projectDefaults: Readonly<Omit<Project, NotStored> & OwnProjectFields> = Object.freeze({
  auto_close: true,
  auto_open: false,
  auto_start: false,
  checkpoint_bytes: 10 * 2 ** 30,
  checkpoint_minutes: 0,
  drawing_grid_size: 25,
  grid_size: 75,
  on_close: 'stop',
  replicate_link_state: false,
  scene_height: 1000,
  scene_width: 2000,
  show_grid: false,
  show_interface_labels: false,
  show_layers: false,
  snap_to_grid: false,
  supplier: null,
  variables: null,
  zoom: 100,
});
