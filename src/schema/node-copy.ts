/** Lists a node's files at its compute, so that the controller can keep a copy of them. */
import { named } from './common.ts';
import { type Static, Type } from './type.ts';

/** Size of the blocks in which files are compared and sent; the last block is shorter. It equals QEMU's cluster size. */
export const copyBlockBytes = 65_536;
/** SHA-256 of a block. */
export const copyHashBytes = 32;
/** Entry in a list of differing blocks: the block's number (big-endian) and its hash. */
export const copyEntryBytes = 4 + copyHashBytes;
/** Most ranges of blocks, and most blocks, in one request. */
export const mostCopyRanges = 64;
export const mostCopyBlocks = 512;
/** Most files of a node. */
export const mostCopiedFiles = 10_000;
/** Largest file that is copied: both sides hold the hashes of all its blocks in memory. */
export const largestCopiedBytes = 2 ** 37;

/** SHA-256 over the hashes of all blocks and the size of a file; hexadecimal. */
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
      { description: 'The node’s files, all as of one instant', maxItems: mostCopiedFiles },
    ),
  },
  named('NodeFiles'),
);
export type NodeFiles = Static<typeof NodeFiles>;
export type CopiedFile = NodeFiles['files'][number];
