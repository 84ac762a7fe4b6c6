/** A kept state of a project, as clients see it and as it stands in `snapshots/snapshots.conf`. Source: the GNS3 2.2 v2 API. */
import { GivenName, strict, Text, Uuid } from './common.ts';

import { type Static, Type } from './type.ts';

export const Snapshot = Type.Object(
  {
    created_at: Type.Integer({ description: 'Seconds since 1970, UTC' }),
    description: Type.String(),
    filename: Type.String({ description: 'What holds it, in the folder snapshots of the project' }),
    name: Type.String(),
    project_id: Uuid,
    snapshot_id: Uuid,
  },
  strict,
);
export const SnapshotCreate = Type.Object(
  {
    name: GivenName(),
    description: Type.Optional(Text({ description: 'Without it, or empty: one with name and time' })),
    archive: Type.Optional(
      Type.Boolean({
        description: "Ours: GNS3's archive, which a stock server can restore, or a folder; default: snapshot_archives",
      }),
    ),
  },
  strict,
);
export type Snapshot = Readonly<Static<typeof Snapshot>>;
export type SnapshotCreate = Static<typeof SnapshotCreate>;
