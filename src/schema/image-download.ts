/** An image that the server downloads from a URL to a compute. */
import { Name, named, oneOf } from './common.ts';
import { nodeTypes } from './node.ts';
import { type Static, Type } from './type.ts';

export const ImageDownload = Type.Object(
  {
    node_type: oneOf(nodeTypes, { description: 'Kind of node that the image is for' }),
    url: Name({ maxLength: 2048, description: 'https or http, without user and password; its host is one of GET /v2/image_hosts' }),
    filename: Name({ maxLength: 255, description: 'Name of the image on the compute, which no other image has' }),
    filesize: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Bytes that it must have' })),
    md5sum: Type.Optional(Type.String({ pattern: '^[0-9a-fA-F]{32}$', description: 'Checksum that it must have' })),
    sha256: Type.Optional(Type.String({ pattern: '^[0-9a-fA-F]{64}$', description: 'Checksum that it must have' })),
  },
  named('ImageDownload'),
);

export type ImageDownload = Static<typeof ImageDownload>;
