/** Moves a running machine from one compute to another. */
import { named, nullable, strict, Uuid } from './common.ts';
import { NioUdp } from './nio.ts';
import { Node } from './node.ts';
import { type Static, Type } from './type.ts';

const Text = Type.String({ maxLength: 65_536 });
/** A machine type of QEMU. It becomes an argument: a comma would begin another option, such as a file to write. */
const MachineType = Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$' });

/** The machine's hardware: the other compute must start the same machine, to continue it. */
export const MoveOffer = Type.Object(
  {
    machine: Type.Object(
      {
        program: Text,
        release: Text,
        accelerator: Type.Union([Type.Literal('kvm'), Type.Literal('tcg')]),
        cpu: Text,
        machine: MachineType,
        ramId: Text,
        ramBytes: Type.Integer({ minimum: 0 }),
        uuid: Text,
        arguments: Type.Array(Text, { maxItems: 10_000 }),
        suspended: Type.Boolean(),
      },
      strict,
    ),
    drives: Type.Array(
      Type.Object({ name: Type.String({ pattern: '^drive[0-3]$' }), bytes: Type.Integer({ minimum: 0 }) }, strict),
      { maxItems: 4, description: 'Disks whose content follows' },
    ),
    images: Type.Array(Type.Object({ path: Text, checksum: Text }, strict), {
      maxItems: 256,
      description: 'Files that must be the same on both computes',
    }),
  },
  named('MoveOffer'),
);
export type MoveOffer = Static<typeof MoveOffer>;

const secret = Type.Optional(
  Type.String({
    pattern: '^[0-9a-f]{64}$',
    description:
      'Seals the streams of this move, the same at both computes. Only for computes whose capabilities have sealed_moves',
  }),
);
export const MoveBegin = Type.Object({ secret }, { title: 'MoveBegin', ...strict });
/** The offer of the compute that sends the machine, for the compute that takes it. */
export const MoveArrival = Type.Object({ ...MoveOffer.properties, secret }, named('MoveArrival'));

/** Names of a move's streams, besides the disks' drive names. */
export const memoryStream = 'memory';
export const consoleStream = 'console';

export function streamsOf({ drives }: MoveOffer): string[] {
  return [...drives.map(({ name }) => name), consoleStream, memoryStream];
}

/** The sender's report that all of the machine's state has been sent. */
export const MoveSent = Type.Object(
  { paused_ms: Type.Number({ description: 'How long its guest has been paused, at most' }) },
  named('MoveSent'),
);

const port = { node_id: Uuid, adapter_number: Type.Integer({ minimum: 0 }), port_number: Type.Integer({ minimum: 0 }) };

/** A port whose peer is paused and moves to another compute. */
export const MovedPort = Type.Object(port, named('MovedPort'));
export const PortMove = Type.Object({ ...port, nio: NioUdp }, named('PortMove'));
export const HeldFrames = Type.Object({ held: Type.Integer({ description: 'Frames that were in the link' }) }, named('HeldFrames'));

export const NodeMigrate = Type.Object(
  { compute_id: Type.String({ minLength: 1, maxLength: 255 }) },
  { title: 'NodeMigrate', ...strict },
);

/** Result for one link of the machine. */
export const MovedLink = Type.Object(
  {
    link_id: Uuid,
    held: nullable(
      Type.Integer({
        description:
          'Frames in the link when it was moved: they left it later. Null: the compute of its other end cannot hold them, and they are lost',
      }),
    ),
  },
  named('MovedLink'),
);
export type MovedLink = Static<typeof MovedLink>;

export const NodeMigration = Type.Object(
  {
    node: Node,
    live: Type.Boolean({
      description: 'Whether the machine ran all the time; if not, it was stopped first, and its files were copied',
    }),
    paused_ms: Type.Integer({ description: 'How long its guest was paused, at most' }),
    total_ms: Type.Integer({ description: 'How long the move took' }),
    links: Type.Array(MovedLink),
  },
  named('NodeMigration'),
);
export type NodeMigration = Static<typeof NodeMigration>;
