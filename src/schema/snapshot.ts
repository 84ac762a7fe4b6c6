/** A snapshot of a project, in the API and in `snapshots/snapshots.conf`. Source: the GNS3 2.2 v2 API. */
import { GivenName, named, oneOf, strict, Text, Uuid } from './common.ts';
import { type Static, Type } from './type.ts';

/** A node whose memory is not in the snapshot. */
export const ColdNode = Type.Object({ node_id: Uuid, name: Type.String(), reason: Type.String() }, named('ColdNode'));
export type ColdNode = Static<typeof ColdNode>;

/** Saved memory of running machines. Not part of GNS3's API. */
export const SnapshotMemory = Type.Object(
  {
    status: oneOf(['saving', 'ready', 'failed']),
    bytes: Type.Integer({ description: 'On disk' }),
    paused_ms: Type.Integer({ description: 'How long the machines were paused, at most' }),
    skew_ms: Type.Number({ description: 'Between the pause of the first machine and that of the last one' }),
    nodes: Type.Array(Uuid, { description: 'Continue where they were' }),
    cold: Type.Array(ColdNode, { description: 'Are started anew' }),
  },
  named('SnapshotMemory'),
);
export type SnapshotMemory = Readonly<Static<typeof SnapshotMemory>>;

export const Snapshot = Type.Object(
  {
    created_at: Type.Integer({ description: 'Seconds since 1970, UTC' }),
    description: Type.String(),
    filename: Type.String({ description: 'File of the snapshot, in the folder snapshots of the project' }),
    name: Type.String(),
    project_id: Uuid,
    snapshot_id: Uuid,
    memory: Type.Optional(SnapshotMemory),
    checkpoint: Type.Optional(
      Type.Literal(true, { description: 'Not in GNS3: the server took the snapshot on a schedule, and may delete it' }),
    ),
  },
  strict,
);
export const SnapshotCreate = Type.Object(
  {
    name: GivenName(),
    description: Type.Optional(Text({ description: 'Without it, or empty: one with name and time' })),
    memory: Type.Optional(Type.Boolean({ description: 'Not in GNS3: with the memory of machines that run' })),
    archive: Type.Optional(
      Type.Boolean({
        description: "Not in GNS3: GNS3's archive, which a stock server can restore, or a folder; default: snapshot_archives",
      }),
    ),
  },
  strict,
);
export const SnapshotFork = Type.Object(
  {
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: 'How many projects. Default 1' })),
    name: Type.Optional(
      GivenName({
        description:
          'Name of the fork; several forks get the first free names with a number. Default: a name made from the parent’s',
      }),
    ),
    uplinks: Type.Optional(
      Type.Boolean({ description: 'Keep links to NAT and cloud nodes; they are suspended otherwise. Default false' }),
    ),
  },
  named('SnapshotFork'),
);
export type SnapshotFork = Static<typeof SnapshotFork>;
export const SnapshotUpdate = Type.Object(
  {
    checkpoint: Type.Literal(false, { description: 'False makes the checkpoint an ordinary snapshot, which no schedule deletes' }),
  },
  named('SnapshotUpdate'),
);
/** Body of a restore; GNS3's clients may send any other key. */
export const SnapshotRestore = Type.Object({
  memory: Type.Optional(Type.Boolean({ description: 'Not in GNS3: false leaves the nodes stopped. Default true' })),
  keep_present: Type.Optional(
    Type.Boolean({ description: 'Not in GNS3: false gives the present up; undo cannot bring it back then. Default true' }),
  ),
});
export type SnapshotRestore = Static<typeof SnapshotRestore>;
export type Snapshot = Readonly<Static<typeof Snapshot>>;
export type SnapshotCreate = Static<typeof SnapshotCreate>;
