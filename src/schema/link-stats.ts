/** Counters of links, as computes and the controller report them: frames carried, lost and held. */
import { named, nullable, oneOf, Uuid } from './common.ts';
import type { Filters } from './filter.ts';
import { type Static, Type } from './type.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });
const since = Type.String({ description: 'ISO 8601, UTC: since when is counted' });

/** Frames sent, averaged over the time that the key names. */
const Rate = Type.Object({ frames_per_second: Type.Number(), bits_per_second: Type.Number() }, named('Rate'));
export type Rate = Static<typeof Rate>;

/** Histogram of delays behind schedule. The counts only grow: a reader subtracts its previous reading. */
export const LateCounts = Type.Array(
  Type.Object(
    { ms: Type.Number({ description: 'Upper bound of the bucket, milliseconds' }), count: Type.Integer({ minimum: 0 }) },
    named('LateCount'),
  ),
);
export type LateCountList = Static<typeof LateCounts>;

const direction = {
  received_frames: count('Sent by the node into the link'),
  received_bytes: count('Sent by the node into the link'),
  frames: count('Delivered by the link to the other node'),
  bytes: count('Delivered by the link to the other node'),
  last_second: Rate,
  last_minute: Rate,
  dropped: Type.Record(Type.String(), Type.Integer(), {
    description: "Frames lost by cause: a filter's type, suspend, queue_full, no_peer (no receiver), oversized, not_admitted",
  }),
  queued_frames: count('Waiting in the link now'),
  queued_bytes: count('Waiting in the link now'),
  delay: nullable(
    Type.Object(
      { median_ms: Type.Number(), p99_ms: Type.Number() },
      { description: 'How long frames that were held really waited, over the last seconds; null when none was' },
    ),
  ),
  late: Type.Optional(
    nullable({
      ...LateCounts,
      description: 'How much later than due frames that were held left, since the link came up; null when none was',
    }),
  ),
};
/** Counters of one direction of a link, since the link came up. */
const DirectionFigures = Type.Object(direction, named('DirectionFigures'));
export type DirectionFigures = Static<typeof DirectionFigures>;

/** A running capture. */
const CaptureFigures = Type.Object(
  {
    capture_id: nullable(Type.String({ description: 'Null for the one that start_capture started' })),
    file_name: Type.String(),
    side: oneOf(['before', 'after'], { description: 'Side of the filters on which frames are captured' }),
    frames: count('Frames taken since it started, or since the fabric was started again'),
    bytes: count('Length of its file'),
    missed_frames: count('Frames that passed and are not in the file, because the disk was slower'),
    ended: nullable(Type.String({ description: 'Why it ended by itself; null while it runs' })),
  },
  named('CaptureFigures'),
);
export type CaptureFigures = Static<typeof CaptureFigures>;

/** State of a running schedule. */
const ScheduleFigures = Type.Object(
  {
    started_at: Type.Integer({ description: 'Milliseconds since 1970' }),
    elapsed: Type.Integer({ description: 'Milliseconds since then; negative before it' }),
    filters: Type.Unsafe<Filters>(
      Type.Record(Type.String(), Type.Array(Type.Union([Type.Number(), Type.String()])), {
        description: 'Filters that act now, of the link and of the schedule',
      }),
    ),
    suspend: Type.Boolean({ description: 'The link drops every frame now' }),
  },
  named('ScheduleFigures'),
);
export type ScheduleFigures = Static<typeof ScheduleFigures>;

/** Counters of a port to which a link is mirrored. */
const MirrorFigures = Type.Object(
  {
    node_id: Uuid,
    adapter_number: Type.Integer(),
    port_number: Type.Integer(),
    frames: Type.Integer({ description: 'Frames that it was sent, of both directions' }),
    queued_frames: Type.Integer(),
    dropped: Type.Record(Type.String(), Type.Integer(), {
      description: 'Frames that it was not sent, by cause: queue_full, no_peer, oversized',
    }),
  },
  named('MirrorFigures'),
);

const carriers = ['kernel', 'fabric', 'stream', 'udp'] as const;
/** Transport of frames from one end of a link to the other. */
export type Carrier = (typeof carriers)[number];
const howCarried =
  'kernel: from one container to the other, not through the fabric; fabric: both ends are on one compute; ' +
  'stream, udp: over TCP, or as datagrams, to another one';

const path = {
  via: oneOf(['direct', 'relay'], { description: 'relay: through the controller, as neither compute reaches the other' }),
  rtt_ms: nullable(
    Type.Number({ description: 'Round trip between the computes, the shortest of the last seconds; null: not measured yet' }),
  ),
};
/** State of a stream between two computes. Half of its round trip is subtracted from the link's delay. */
const PortPath = Type.Object(path, named('PortPath'));
const LinkPathFigures = Type.Object(
  {
    ...path,
    excess_ms: nullable(
      Type.Number({
        description: 'Time by which one direction exceeds the smaller delay of the link; 0: both are exact',
      }),
    ),
  },
  named('LinkPathFigures'),
);

const storm = {
  since,
  broadcast_frames: count('Broadcasts of both directions since the link came up'),
  broadcasts_per_second: Type.Number(),
  returned_frames: count(
    'Frames since the link came up that a switch was to flood although their sender was last seen behind another of its ports',
  ),
  returned_per_second: Type.Number(),
  in_loop: Type.Boolean({ description: 'Frames return over this link; false: it carries the broadcasts of a loop elsewhere' }),
};
/** Storm of a link, as a compute reports it. */
const PortStorm = Type.Object(
  { ...storm, vlan: nullable(Type.Integer({ description: "VLAN of an access port at the link's ends" })) },
  named('PortStorm'),
);
export type PortStorm = Static<typeof PortStorm>;
/** Storm of a link, as the controller reports it. */
const LinkStorm = Type.Object(
  {
    ...storm,
    closes_loop: Type.Boolean({
      description: 'The link to suspend: other links of the loop join its ends. A loop of n links has one such link',
    }),
  },
  named('LinkStorm'),
);
export type LinkStorm = Static<typeof LinkStorm>;

const whyNotKernel = 'Why the kernel does not carry a link that its rules allow it to carry';

/** Counters of a node's port whose link carries frames, as the compute reports them. */
export const PortStats = Type.Object(
  {
    node_id: Uuid,
    adapter_number: Type.Integer(),
    port_number: Type.Integer(),
    fabric_link: Type.String({ description: 'Ports of one compute that have the same link are its two ends' }),
    carrier: oneOf(carriers, { description: howCarried }),
    carrier_reason: Type.Optional(Type.String({ description: whyNotKernel })),
    path: Type.Optional(PortPath),
    since,
    from_node: DirectionFigures,
    to_node: DirectionFigures,
    captures: Type.Array(CaptureFigures),
    schedule: Type.Optional(ScheduleFigures),
    mirrors: Type.Optional(Type.Array(MirrorFigures, { description: 'Ports to which the link is mirrored' })),
    storm: Type.Optional(PortStorm),
  },
  named('PortStats'),
);
export type PortStats = Static<typeof PortStats>;

const DirectionCounters = Type.Object(
  { ...direction, from_node_id: Uuid, from_node: Type.String(), to_node_id: Uuid, to_node: Type.String() },
  named('LinkDirection'),
);
export type DirectionCounters = Static<typeof DirectionCounters>;

/** Counters of a link, as the controller reports them; also the `event` of `link.stats`. */
export const LinkStats = Type.Object(
  {
    project_id: Uuid,
    link_id: Uuid,
    running: Type.Boolean({ description: 'Whether the link can carry frames; if not, reason explains why, and all figures are 0' }),
    reason: nullable(Type.String()),
    carrier: nullable(oneOf(carriers, { description: howCarried })),
    carrier_reason: Type.Optional(Type.String({ description: whyNotKernel })),
    path: Type.Optional(LinkPathFigures),
    since: nullable(since),
    directions: Type.Unsafe<[DirectionCounters, DirectionCounters]>(
      Type.Array(DirectionCounters, {
        minItems: 2,
        maxItems: 2,
        description: "From the first of the link's nodes to the second, and back",
      }),
    ),
    captures: Type.Array(CaptureFigures),
    schedule: Type.Optional(ScheduleFigures),
    mirrors: Type.Optional(Type.Array(MirrorFigures, { description: 'Ports to which the link is mirrored' })),
    storm: Type.Optional({ ...LinkStorm, description: 'A storm of broadcasts, or a loop; left out while there is none' }),
  },
  named('LinkStats'),
);
export type LinkStats = Static<typeof LinkStats>;
