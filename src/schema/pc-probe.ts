/** Probes of a PC: questions that it answers with numbers. Ours. */
import { named, nullable, oneOf } from './common.ts';
import { type Static, Type } from './type.ts';

const optional = Type.Optional;
const milliseconds = (description: string) => optional(Type.Integer({ minimum: 1, maximum: 60_000, description }));

export const NodeProbe = Type.Object(
  {
    type: oneOf(['ping', 'tcp', 'udp', 'trace', 'resolve', 'arp', 'addresses']),
    to: optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'IPv4 or IPv6 address, or a name; not for `arp` and `addresses`' }),
    ),
    count: optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Packets of a ping (default 5)' })),
    interval_ms: milliseconds('Between the packets of a ping (default 1000)'),
    timeout_ms: milliseconds('For each answer (default 1000)'),
    size: optional(Type.Integer({ minimum: 0, maximum: 65_507, description: 'Bytes of data of `ping` and `udp` (default 64)' })),
    ttl: optional(Type.Integer({ minimum: 1, maximum: 255, description: 'Of a ping (default 64)' })),
    port: optional(Type.Integer({ minimum: 1, maximum: 65_535, description: 'Of `tcp` and `udp`' })),
    hops: optional(Type.Integer({ minimum: 1, maximum: 64, description: 'Most hops of a trace (default 8)' })),
    protocol: optional(oneOf(['icmp', 'udp', 'tcp'])),
  },
  { ...named('NodeProbe'), additionalProperties: false },
);
export type NodeProbe = Static<typeof NodeProbe>;

const ms = nullable(Type.Number({ minimum: 0, description: 'Round trip; null without an answer in time' }));
const address = nullable(Type.String());

export const NodeProbeAnswer = Type.Object(
  {
    type: NodeProbe.properties.type,
    to: nullable(Type.String({ description: 'Address that was used; null where none is known' })),
    failure: nullable(
      oneOf(['no_address', 'no_gateway', 'unreachable', 'unresolved', 'ended', 'busy'], {
        description: 'Why nothing more was sent',
      }),
    ),
    sent: optional(Type.Integer({ minimum: 0 })),
    received: optional(Type.Integer({ minimum: 0 })),
    replies: optional(
      Type.Array(
        Type.Object({
          sequence: Type.Integer(),
          ms,
          ttl: nullable(Type.Integer()),
          from: address,
          error: nullable(Type.String({ description: 'An ICMP error that came instead' })),
        }),
      ),
    ),
    outcome: optional(oneOf(['open', 'refused', 'answered', 'timeout', 'error'])),
    ms: optional(ms),
    error: optional(nullable(Type.String())),
    hops: optional(Type.Array(Type.Object({ hop: Type.Integer(), from: address, ms }))),
    arrived: optional(Type.Boolean()),
    addresses: optional(Type.Array(Type.String(), { description: 'Of `addresses`: with prefixes, as `10.0.0.1/24`' })),
    mtu: optional(Type.Integer({ description: 'Of `addresses`: the largest packet that the PC sends, bytes' })),
    neighbours: optional(Type.Array(Type.Object({ address: Type.String(), mac: Type.String(), expires_ms: Type.Number() }))),
  },
  named('NodeProbeAnswer'),
);
export type NodeProbeAnswer = Static<typeof NodeProbeAnswer>;
