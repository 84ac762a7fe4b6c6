/** Files of nodes as their controller copies them: lists, hashes of blocks, and blocks. Ours. */
import { computeRoute, Stream } from '../../api/route.ts';
import { NodeFiles } from '../../schema/node-copy.ts';
import type { ComputeRouteContext } from './route-context.ts';

export function nodeCopyRoutes({ moves: { files } }: ComputeRouteContext) {
  const place = '/v2/compute/projects/{project_id}/node_copies/{node_type}/{node_id}' as const;
  const replyType = 'application/octet-stream';
  return [
    computeRoute(
      `POST ${place}`,
      { summary: 'List the files of a node, of a running machine as they are at one instant', reply: NodeFiles, own: true },
      ({ path }) => files.list(path),
    ),
    computeRoute(
      `GET ${place}/hashes/{known}/{path:.+}`,
      { summary: 'Numbers and hashes of the blocks of a listed file that differ from what had that sum', replyType, own: true },
      ({ path }) => new Stream(replyType, files.hashes(path, path.path, path.known)),
    ),
    computeRoute(
      `GET ${place}/blocks/{ranges}/{path:.+}`,
      { summary: 'Blocks of a listed file, by first block and count', replyType, own: true },
      ({ path }) => new Stream(replyType, files.blocks(path, path.path, path.ranges)),
    ),
  ];
}
