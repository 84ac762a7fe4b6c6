/** Tells listeners of a project when a node did not get a port or an address that its request wanted. */
import { unmetWish } from '../../../schema/unmet-wish.ts';
import type { LiveProject } from '../../live/live-project.ts';
import type { NodeObject } from '../../model/node.ts';

interface WantedOfNode {
  readonly node_type?: string | undefined;
  readonly console?: number | null | undefined;
  readonly console_type?: string | null | undefined;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
}

/** Key of a node's properties to what it is called. */
const ofProperties: Readonly<Record<string, string>> = { aux: 'auxiliary console port', mac_address: 'MAC address' };

/** Returns the node; listeners are warned of wishes that it does not meet. */
export async function withWarnings(
  live: Pick<LiveProject, 'notify'>,
  wish: WantedOfNode,
  made: Promise<NodeObject>,
): Promise<NodeObject> {
  const node = await made;
  warnOfUnmet(live, wish, node);
  return node;
}

/** Names in a `log.warning` each wish of a request that its node does not meet, and what the node has instead. */
export function warnOfUnmet(live: Pick<LiveProject, 'notify'>, wish: WantedOfNode, node: NodeObject): void {
  const compare = (what: string, wanted: unknown, given: unknown) => {
    if (wanted === undefined || wanted === null || wanted === '' || isSame(wanted, given)) return;
    live.notify('log.warning', { message: unmetWish(node.name, what, wanted, given) });
  };
  // A port for a node without console is ignored, as by GNS3.
  if (node.console_type !== 'none') compare('console port', wish.console, node.console);
  for (const [key, what] of Object.entries(ofProperties)) {
    if (key in node.properties) compare(what, wish.properties?.[key], node.properties[key]);
  }
}

const isSame = (one: unknown, other: unknown) => String(one).toLowerCase() === String(other).toLowerCase();
