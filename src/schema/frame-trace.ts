/** Traces: the way of a packet from node to node, link by link. */
import { named, nullable, oneOf, strict, Uuid } from './common.ts';
import { type Static, Type } from './type.ts';

/** Start of a trace at a compute. */
export const FrameTraceStart = Type.Object(
  {
    trace_id: Uuid,
    lease_ms: Type.Integer({ minimum: 1, maximum: 120_000, description: 'The trace ends by itself after this time' }),
    marks: Type.Array(Type.String({ pattern: '^(?:[0-9a-f]{2}){4,16}$' }), {
      maxItems: 16,
      description: 'Addresses in hexadecimal: only frames with one of them are noted; without any, all of ARP and ICMP',
    }),
    ports: Type.Array(Type.Object({ link_id: Uuid, node_id: Uuid, adapter_number: Type.Integer(), port_number: Type.Integer() }), {
      description: 'Ports whose links are traced, as far as they carry frames now',
    }),
  },
  strict,
);
export type FrameTraceStart = Static<typeof FrameTraceStart>;

/** A frame at a point of a link, as a compute notes it. */
export const TracedFrameEntry = Type.Object(
  {
    link_id: Type.String(),
    node_id: Type.String(),
    from_node: Type.Boolean({ description: 'Whether the frame has left the node, or goes to it' }),
    point: Type.String({ description: '`in` before the filters, `out` behind them, or the reason for which the link lost it' }),
    at_ms: Type.Number({ description: 'Milliseconds since 1970, by the clock of captures' }),
    frame: Type.String({ description: 'Its first 128 bytes, base64' }),
  },
  named('TracedFrameEntry'),
);
export type TracedFrameEntry = Static<typeof TracedFrameEntry>;

export const PacketTraceStart = Type.Object(
  {
    from_node_id: Uuid,
    to_node_id: Uuid,
    address: Type.Optional(
      nullable(Type.String({ maxLength: 45, description: 'Address of the other node; not needed where that is a PC (VPCS)' })),
    ),
    wait_seconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 60, description: 'Wait for a ping that another node than a PC sends (default 20)' }),
    ),
  },
  { ...named('PacketTraceStart'), additionalProperties: false },
);
export type PacketTraceStart = Static<typeof PacketTraceStart>;

const PacketHop = Type.Object(
  {
    link_id: Uuid,
    from_node_id: Uuid,
    to_node_id: Uuid,
    at_ms: Type.Number({ description: 'When the frame came into the link: milliseconds since 1970' }),
    delay_ms: nullable(Type.Number({ description: 'How long the link took; null when it did not deliver the frame' })),
    lost: nullable(
      Type.String({ description: "Why the link lost it: a filter's type, suspend, queue_full, no_peer, not_admitted" }),
    ),
  },
  named('PacketHop'),
);
export type PacketHop = Static<typeof PacketHop>;

const PacketWay = Type.Object(
  {
    packet: oneOf(['arp', 'echo'], { description: '`arp`: the question for a MAC address (ARP, or neighbour discovery)' }),
    is_answer: Type.Boolean(),
    hops: Type.Array(PacketHop),
    end: oneOf(['arrived', 'lost', 'stopped', 'under_way'], {
      description: '`stopped`: the last node did not send it on; `under_way`: the last link held it when the trace ended',
    }),
  },
  named('PacketWay'),
);
export type PacketWay = Static<typeof PacketWay>;

export const PacketTrace = Type.Object(
  {
    from_node_id: Uuid,
    to_node_id: Uuid,
    address: nullable(Type.String({ description: 'To which the packet was sent; null when none was seen' })),
    answered: Type.Boolean(),
    ways: Type.Array(PacketWay, { description: 'In the order of time; empty: no packet was seen' }),
    failure: nullable(Type.String({ description: 'Why the PC sent nothing, as in the answer of `probe`' })),
    error: nullable(Type.String({ description: 'An ICMP error that the PC received instead' })),
    untraced_links: Type.Array(Uuid, {
      description: 'Links between the nodes whose frames are not seen: they carry none, or their compute does not trace',
    }),
    clocks_differ: Type.Boolean({ description: 'The links are on several computes: times are by the clock of each' }),
  },
  named('PacketTrace'),
);
export type PacketTrace = Static<typeof PacketTrace>;
