/** What a compute lists of a node's files so that its controller can keep a copy of them. */
import { named } from './common.ts';
import { type Static, Type } from './type.ts';

/** Files are compared and sent in blocks of so many bytes; the last one is shorter. QEMU's clusters have the same size. */
export const copyBlockBytes = 65_536;
/** SHA-256 of a block. */
export const copyHashBytes = 32;
/** In the list of the blocks that differ: the number of the block (big-endian), and its hash. */
export const copyEntryBytes = 4 + copyHashBytes;
/** Ranges of blocks in one request, and blocks. */
export const mostCopyRanges = 64;
export const mostCopyBlocks = 512;
/** Of a node. */
export const mostCopiedFiles = 10_000;
/** Of a file: of each of its blocks, both sides hold the hash in memory. */
export const largestCopiedBytes = 2 ** 37;

/** Of the hashes of all blocks of a file, and its size; hexadecimal. */
const Sum = Type.String({ pattern: '^[0-9a-f]{64}$' });

export const NodeFiles = Type.Object(
  {
    files: Type.Array(
      Type.Object(
        {
          path: Type.String({ description: "In the node's folder" }),
          size: Type.Integer({ minimum: 0, maximum: largestCopiedBytes }),
          sum: Sum,
        },
        named('CopiedFile'),
      ),
      { description: 'As they were at one instant', maxItems: mostCopiedFiles },
    ),
  },
  named('NodeFiles'),
);
export type NodeFiles = Static<typeof NodeFiles>;
export type CopiedFile = NodeFiles['files'][number];
