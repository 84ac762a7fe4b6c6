import { Name, named, nullable, oneOf, strict, TcpPort, Uuid } from './common.ts';
import { LinkSchedule } from './schedule.ts';
import { type Static, Type } from './type.ts';

/** A TCP stream between computes, for those with the capability `link_streams`. Not part of GNS3's API. */
const NioStream = Type.Object(
  {
    role: oneOf(['accept', 'connect'], { description: 'Listens at TCP port lport, or connects to rport' }),
    secret: Type.String({ minLength: 32, maxLength: 128, description: 'Secret of this link, the same at both ends' }),
    encryption: Type.Optional(
      oneOf(['preferred', 'required'], {
        description:
          'TLS from the secret; required: no frame goes in the clear. Only for computes whose capabilities have link_encryption',
      }),
    ),
    probes: Type.Optional(
      Type.Boolean({ description: 'Both ends measure the round trip. Only for computes whose link features have paths' }),
    ),
    relay: Type.Optional(
      Type.Object(
        { host: Name({ maxLength: 253 }), port: TcpPort, ticket: Type.String({ pattern: '^[0-9a-f]{64}$' }) },
        {
          ...strict,
          description: 'Where both ends meet when neither reaches the other. Only for computes whose link features have paths',
        },
      ),
    ),
  },
  { ...strict, description: 'Frames go over TCP, and as datagrams while there is no connection' },
);
export type NioStream = Static<typeof NioStream>;

/** A mirror on another compute, for those with the link feature `remote_mirrors`. Not part of GNS3's API. */
const NioMirror = Type.Object(
  {
    node_id: Uuid,
    adapter_number: Type.Integer({ minimum: 0 }),
    port_number: Type.Integer({ minimum: 0 }),
    lport: TcpPort,
    rhost: Name(),
    rport: TcpPort,
    stream: Type.Optional(NioStream),
  },
  {
    ...strict,
    description:
      'The frames of the link are sent to this port of a node of another compute as well, from lport to rport there; null ends it, and without it it stays',
  },
);
export type NioMirror = Static<typeof NioMirror>;

/** Connects a node's port to a link, in GNS3's format. Frames travel as UDP payload, one frame per datagram. */
export const NioUdp = Type.Object(
  {
    type: Type.Literal('nio_udp'),
    lport: TcpPort,
    rhost: Name(),
    rport: TcpPort,
    filters: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Filters like those of a link; _ab is for frames that leave the node of this NIO',
      }),
    ),
    suspend: Type.Optional(Type.Boolean()),
    stream: Type.Optional(NioStream),
    schedule: Type.Optional(LinkSchedule),
    mirror_of: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 65_535,
        description: 'Not in GNS3: mirrors the link whose NIO on this compute has this lport; frames from the port are dropped',
      }),
    ),
    mirror_to: Type.Optional(nullable(NioMirror)),
    /**
     * Outage steps of a schedule that the compute at the other end runs, for computes with the link feature `outages`. This end
     * only switches the port's carrier with them. Not part of GNS3's API.
     */
    outages: Type.Optional(LinkSchedule),
    peer_stopped: Type.Optional(
      Type.Boolean({ description: 'Not in GNS3: the node at the other end, on another compute, does not run' }),
    ),
  },
  named('NioUdp'),
);
export type NioUdp = Static<typeof NioUdp>;

/** Builds the schema of a NIO that GNS3 has and no node type supports yet: the node answers 409. */
const other = (type: string, keys: string[]) =>
  Type.Object({ type: Type.Literal(type), ...Object.fromEntries(keys.map((key) => [key, Name()])) }, strict);

export const Nio = Type.Union(
  [
    NioUdp,
    other('nio_ethernet', ['ethernet_device']),
    other('nio_generic_ethernet', ['ethernet_device']),
    other('nio_linux_ethernet', ['ethernet_device']),
    other('nio_tap', ['tap_device']),
    other('nio_nat', []),
    other('nio_unix', ['local_file', 'remote_file']),
    other('nio_vde', ['control_file', 'local_file']),
    other('nio_vmnet', ['vmnet']),
    other('nio_null', []),
  ],
  { title: 'Nio' },
);
export type Nio = Static<typeof Nio>;
