/** Traffic flows between stations inside the fabric. Not part of GNS3's API. */
import { named, nullable, oneOf } from './common.ts';
import { Type } from './type.ts';

const ipv4 = (description: string) =>
  Type.String({ pattern: '^(25[0-5]|2[0-4]\\d|1?\\d?\\d)(\\.(25[0-5]|2[0-4]\\d|1?\\d?\\d)){3}$', description });
const strict = { additionalProperties: false } as const;
const vlan = Type.Optional(Type.Integer({ minimum: 1, maximum: 4094, description: 'Default 1' }));

/** Longest flow, from the first datagram to the last. */
export const longestTrafficMs = 600_000;
/** Most datagrams of a flow; the longest list of datagrams has as many. */
export const mostDatagrams = 40_000;
/** Most flows of one fabric at a time. */
export const mostTrafficFlows = 64;
/** Bytes of a frame without its checksum. */
export const trafficSizes = { minimum: 60, maximum: 1514 } as const;

/** Returns the duration of a flow, from the first datagram to the last, ms. */
export function trafficDurationMs(gapsUs: readonly number[]): number {
  return gapsUs.reduce((sum, gap) => sum + gap, 0) / 1000;
}

const Station = {
  address: ipv4('IPv4 address of the station'),
  next_hop: ipv4('The router that it sends to, or the other station in the same network'),
  vlan,
};

export const TrafficStart = Type.Object(
  {
    source: Type.Object(Station, { ...strict, description: 'Station at the switch of this request' }),
    sink: Type.Object(
      { node_id: Type.String({ format: 'uuid' }), ...Station },
      { ...strict, description: 'Station at a switch of the same compute' },
    ),
    gaps_us: Type.Array(Type.Integer({ minimum: 0, maximum: 600_000_000 }), {
      minItems: 1,
      maxItems: mostDatagrams,
      description: 'Time before each datagram, microseconds',
    }),
    sizes: Type.Array(Type.Integer(trafficSizes), {
      minItems: 1,
      maxItems: mostDatagrams,
      description: 'Bytes of the frames, used in turn',
    }),
  },
  { ...named('TrafficStart'), ...strict },
);

const ms = Type.Number({ minimum: 0 });
const count = Type.Integer({ minimum: 0 });
export const TrafficFlowFigures = Type.Object(
  {
    traffic_id: Type.String(),
    state: oneOf(['resolving', 'running', 'ended', 'failed']),
    problem: nullable(Type.String({ description: 'Why it failed' })),
    sent: count,
    received: count,
    duplicates: count,
    reordered: Type.Integer({ minimum: 0, description: 'Arrived after one that was sent later' }),
    longest_gap_ms: Type.Number({ minimum: 0, description: 'Longest time without an arrival' }),
    delay_ms: nullable(Type.Object({ p50: ms, p99: ms, worst: ms })),
  },
  named('TrafficFigures'),
);
