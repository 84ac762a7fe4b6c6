/** Transfers an image from one compute to another. */
import { Name, named, nullable, oneOf, TcpPort, Uuid } from './common.ts';
import { nodeTypes } from './node.ts';
import { type Static, Type } from './type.ts';

/** 256 bits, lower-case hexadecimal. */
const Hex256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Bytes = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Longest piece of an image in one request. */
const longestPieceBytes = 2 ** 26;
const PieceBytes = Type.Integer({ minimum: 1, maximum: longestPieceBytes });

export const ImageChoice = Type.Object({ node_type: oneOf(nodeTypes), filename: Name({ maxLength: 255 }) }, named('ImageChoice'));

export const ImageDeparture = Type.Object(
  {
    departure_id: Uuid,
    secret: Type.String({ description: 'With which the bytes of this image, and of no other, are read until the transfer ends' }),
    filesize: Bytes,
    sha256: Hex256,
  },
  named('ImageDeparture'),
);

export const ImagePiece = Type.Object({ secret: Hex256, from: Bytes, bytes: PieceBytes }, named('ImagePiece'));

export const ImageArrivalStart = Type.Object(
  { node_type: oneOf(nodeTypes), filename: Name({ maxLength: 1024 }), filesize: Bytes, sha256: Hex256 },
  named('ImageArrivalStart'),
);

export const ImageArrival = Type.Object(
  {
    arrival_id: Uuid,
    received: Type.Integer({ minimum: 0, description: 'Bytes from its beginning; those of an earlier attempt count' }),
    problem: nullable(Type.String({ description: 'Why no more came' })),
  },
  named('ImageArrival'),
);

/** A name or an IP address, without brackets and without characters of other URL parts. */
const Host = Name({ maxLength: 253, pattern: '^(?:[0-9A-Za-z_.-]+|[0-9A-Fa-f:.]+)$' });

export const ImageFetch = Type.Object(
  { protocol: oneOf(['http', 'https']), host: Host, port: TcpPort, departure_id: Uuid, secret: Hex256, bytes: PieceBytes },
  named('ImageFetch'),
);

export const ImagePlaced = Type.Object(
  {
    placed: Type.Boolean({ description: 'False: its SHA-256 is another one; what had arrived is removed' }),
  },
  named('ImagePlaced'),
);

export type ImageChoice = Static<typeof ImageChoice>;
export type ImageDeparture = Static<typeof ImageDeparture>;
export type ImagePiece = Static<typeof ImagePiece>;
export type ImageArrivalStart = Static<typeof ImageArrivalStart>;
export type ImageArrival = Static<typeof ImageArrival>;
export type ImageFetch = Static<typeof ImageFetch>;
