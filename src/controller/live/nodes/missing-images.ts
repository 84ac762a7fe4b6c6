/**
 * Retries a request that a compute refused for lack of an image, once this server has sent its copy of the image there. A compute gets only
 * images that the node names: its answers are not trusted to choose among those of this server.
 */
import { isFault } from '../../../api/faults.ts';
import { findKind } from '../../model/node.ts';
import { imageProperties, namesImage } from '../../model/node-images.ts';
import type { ProjectContext } from '../host/project-context.ts';
import type { OpenNode } from './open-node.ts';

/** A node has so many properties that name images, and more. */
const maxSent = 16;

/**
 * `sent`: properties that the node gets by this call.
 * @throws what `call` throws; `image_missing` when this server has not got the image either, or another one of that name
 */
export async function withImages<T>(
  host: Pick<ProjectContext, 'computes' | 'notify'>,
  node: OpenNode,
  call: () => Promise<T>,
  sent: Readonly<Record<string, unknown>> = {},
): Promise<T> {
  const compute = node.requireCompute();
  const { node_type } = node.entry;
  const wantedNode = node.withProperties(sent);
  const tried = new Set<string>();
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const image = isFault(error, 'image_missing') ? error.extra.image : undefined;
      const canSend = typeof image === 'string' && !compute.isLocal && findKind(node_type)?.images !== undefined;
      if (!canSend || !namesImage(wantedNode, image) || tried.has(image) || tried.size >= maxSent) throw error;
      tried.add(image);
      const wanted = { compute, nodeType: node_type, image, md5sum: expectedSum(node, image) };
      if (!(await host.computes.images.send(wanted, (action, event) => host.notify(action, event)))) throw error;
    }
  }
}

/** Returns the checksum that the project has for the image: another image of the same name has another one. */
function expectedSum({ entry }: OpenNode, image: string): string | undefined {
  const key = imageProperties(entry).find((property) => entry.properties[property] === image);
  const sum = key === undefined ? undefined : entry.properties[`${key}_md5sum`];
  return typeof sum === 'string' && sum !== '' ? sum : undefined;
}
