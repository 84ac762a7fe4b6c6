/** Patchbay's own messages in the notification streams; all other actions are GNS3's. */
import { named, nullable, oneOf } from './common.ts';
import { type Static, Type } from './type.ts';

const Seq = Type.Integer({ minimum: 0, description: 'Number of the last change of the project: the token to resume with' });

export const Notification = Type.Object(
  {
    action: Type.String({ description: 'ping, node.updated, …' }),
    event: Type.Unknown({ description: 'The thing that changed, whole' }),
    seq: Type.Optional(Seq),
  },
  named('Notification'),
);
export type Notification = Static<typeof Notification>;

/** Action sent after the first ping to a client that resumes: the missed changes follow, then new ones. */
export const resumedAction = 'stream.resumed';
export const StreamResumed = Type.Object({ since: Seq, seq: Seq }, named('StreamResumed'));
export type StreamResumed = Static<typeof StreamResumed>;

/** Action sent to a client that cannot resume: it must read the project again. */
export const resetAction = 'stream.reset';
const resetReasons = ['too_old', 'unknown', 'closed'] as const;
export const StreamReset = Type.Object(
  {
    since: Seq,
    reason: oneOf(resetReasons, {
      description: 'The change is no longer remembered; there was no such change; the project is not open',
    }),
  },
  named('StreamReset'),
);
export type StreamReset = Static<typeof StreamReset>;

/** Action of the last message, when too many bytes waited for the client. */
export const endedAction = 'stream.ended';
export const StreamEnded = Type.Object(
  {
    reason: oneOf(['too_slow'], { description: 'Too much waited for the client, in all its streams together' }),
    seq: nullable({ ...Seq, description: 'Number of the last change that was sent: the token to resume with' } as typeof Seq),
  },
  named('StreamEnded'),
);
export type StreamEnded = Static<typeof StreamEnded>;

/** Query parameter of a project's streams. */
export const since = Type.Integer({
  minimum: 0,
  description: 'The last `seq` that was seen: what was missed comes first, or `stream.reset` when that is no longer known',
});

/** Query parameter of a project's streams. */
export const linkStats = Type.Boolean({ description: 'Whether `link.stats` is sent too, once a second for each link' });

/** Query parameter of a project's streams. */
export const linkStatsChanged = Type.Boolean({
  description: 'Like link_stats, but without links whose figures have not changed since they were last sent',
});

/** Action sent when accounts or rights changed: what the client may see and do may have changed. */
export const accessUpdated = 'access.updated';

/** Query parameter of the server's WebSocket. */
export const access = Type.Boolean({
  description: 'Whether `access.updated` is sent when accounts or rights change: the lists and rights are to be read again',
});
