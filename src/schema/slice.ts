/** Slices: computes that register themselves with their controller and hold a lease from it. */
import { GivenName, Name, named, nullable, oneOf, TcpPort, Text, Uuid } from './common.ts';
import { Finding } from './finding.ts';
import { type Static, Type } from './type.ts';

/** 256 random bits of the slice, lower-case hexadecimal: its password in both directions between compute and controller. */
const Secret = Type.String({ pattern: '^[0-9a-f]{64}$' });

export const SliceInvite = Type.Object(
  {
    name: Type.Optional(
      GivenName({ maxLength: 64, description: 'Name of the slice’s compute; default: slice and the first characters of its id' }),
    ),
    compute_id: Type.Optional(Uuid),
    expires_in: Type.Optional(Type.Integer({ minimum: 60, maximum: 604_800, description: 'Seconds; default 3600' })),
  },
  named('SliceInvite'),
);

export const SliceOrderRequest = Type.Object(
  {
    engine: Type.Optional(Name({ maxLength: 64, description: 'Default: the one of the configuration' })),
    name: Type.Optional(GivenName({ maxLength: 64 })),
    project_id: Type.Optional(nullable(Uuid)),
    cpus: Type.Optional(Type.Number({ minimum: 0.1, maximum: 4096, description: 'Default 1' })),
    memory: Type.Optional(Type.Integer({ minimum: 128, maximum: 67_108_864, description: 'MiB; default 512' })),
    disk: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_073_741_824, description: 'MiB; default 1024' })),
    kvm: Type.Optional(Type.Boolean({ description: 'Its machines use /dev/kvm; default false' })),
  },
  named('SliceOrderRequest'),
);

export const SliceInvitation = Type.Object(
  {
    compute_id: Type.String(),
    name: Type.String(),
    token: Type.String({
      description: 'For PATCHBAY_JOIN in the environment of one patchbay compute --join; it is shown here only',
    }),
    expires_at: Type.String({ description: 'ISO 8601, UTC' }),
  },
  named('SliceInvitation'),
);

/** A name or an IP address, without brackets and without characters of other URL parts. */
const host = Name({ maxLength: 253, pattern: '^(?:[0-9A-Za-z_.-]+|[0-9A-Fa-f:.]+)$' });
/** Address at which the controller reaches a slice. */
export const SliceAddress = Type.Object({ protocol: oneOf(['http', 'https']), host, port: TcpPort }, named('SliceAddress'));

export const SliceJoin = Type.Object(
  {
    token: Text({ maxLength: 200 }),
    secret: Secret,
    address: SliceAddress,
    findings: Type.Optional(Type.Array(Finding, { maxItems: 200 })),
  },
  named('SliceJoin'),
);

export const SliceRenew = Type.Object(
  {
    secret: Secret,
    epoch: Type.Integer({ minimum: 1 }),
    address: SliceAddress,
    ending: Type.Optional(Type.Boolean({ description: 'Whether the slice is about to stop its nodes' })),
    leaving: Type.Optional(
      Type.Boolean({ description: 'The slice ends and its nodes are stopped: nothing has to wait for its lease' }),
    ),
  },
  named('SliceRenew'),
);

export const SliceDrain = Type.Object(
  {
    drain: Type.Optional(
      Type.Boolean({ description: 'false: nodes may be placed on the slice again; moved nodes stay on their new computes' }),
    ),
  },
  named('SliceDrain'),
);

export const SliceLease = Type.Object(
  {
    compute_id: Type.String(),
    epoch: Type.Integer({ description: 'Grows when the lease is lost' }),
    fenced: Type.Boolean({
      description: 'The epoch of the request is over: nothing was renewed. Machines are ended, then this one is confirmed',
    }),
    seconds: Type.Number({ description: 'From the request on: then machines pause; after twice as long they are ended' }),
    asks_engine: Type.Optional(
      Type.Boolean({ description: 'While the controller is away, the word of the engine that it has its place renews its lease' }),
    ),
    moving: Type.Optional(
      Type.Boolean({ description: 'To ending: its nodes are being moved to other slices; it waits, and asks again' }),
    ),
  },
  named('SliceLease'),
);

const sliceStates = ['invited', 'pending', 'joined', 'draining', 'lost', 'left'] as const;
export const SliceObject = Type.Object(
  {
    compute_id: Type.String(),
    name: Type.String(),
    state: oneOf(sliceStates),
    reason: nullable(Type.String({ description: 'Why it is in this state, for people' })),
    epoch: Type.Integer(),
    host: nullable(Type.String({ description: 'Address of the slice, or the host that its engine names' })),
    engine: nullable(Type.String({ description: 'Engine that placed the slice; null: it was started by hand' })),
    project_id: nullable(Type.String({ description: 'For which its engine placed it' })),
    ends_at: nullable(Type.String({ description: 'When its engine will end it, where that is known' })),
    findings: Type.Array(Finding, { description: 'Findings of the slice’s doctor when it joined' }),
  },
  named('Slice'),
);

export type SliceOrderRequest = Static<typeof SliceOrderRequest>;
export type SliceInvite = Static<typeof SliceInvite>;
export type SliceInvitation = Static<typeof SliceInvitation>;
export type SliceAddress = Static<typeof SliceAddress>;
export type SliceJoin = Static<typeof SliceJoin>;
export type SliceRenew = Static<typeof SliceRenew>;
export type SliceLease = Static<typeof SliceLease>;
export type SliceObject = Static<typeof SliceObject>;
