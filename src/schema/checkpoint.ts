/** Checkpoints: snapshots with memory that the server takes on a schedule. Not part of GNS3's API. */
import { named, nullable, strict, Uuid } from './common.ts';
import { type Static, Type } from './type.ts';

export const CheckpointSkipped = Type.Object(
  { at: Type.Integer({ description: 'Seconds since 1970, UTC' }), reason: Type.String() },
  named('CheckpointSkipped'),
);
export type CheckpointSkipped = Readonly<Static<typeof CheckpointSkipped>>;

/** `skipped`: the reason why the last checkpoint that was due was not taken. */
const schedule = {
  next_at: nullable(Type.Integer({ description: 'When the next one is due: seconds since 1970, UTC; null without a schedule' })),
  skipped: nullable(CheckpointSkipped),
};

const bytes = (description: string) => Type.Integer({ minimum: 0, description });

export const CheckpointStatus = Type.Object(
  {
    ...schedule,
    bytes: bytes('Disk space of all checkpoints; a file that several share counts once'),
    sizes: Type.Array(Type.Object({ snapshot_id: Uuid, bytes: bytes('On disk') }, strict), {
      description: 'Disk space of each snapshot, the oldest first',
    }),
  },
  named('CheckpointStatus'),
);
export type CheckpointStatus = Readonly<Static<typeof CheckpointStatus>>;

/** Event of `checkpoints.updated`. `taken`: id of the new checkpoint. */
export const CheckpointsUpdated = Type.Object(
  { ...schedule, project_id: Uuid, taken: nullable(Uuid) },
  named('CheckpointsUpdated'),
);
export type CheckpointsUpdated = Readonly<Static<typeof CheckpointsUpdated>>;
