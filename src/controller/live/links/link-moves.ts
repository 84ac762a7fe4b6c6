/**
 * Links of a node that is about to run on another compute. At first they exist twice at the node: at its port here, and at that
 * of the compute to which it goes, where nothing runs yet. Then the other end is joined to the new one; until that is durable it
 * can be joined to the old one again.
 */
import { fault } from '../../../api/faults.ts';
import type { MovedLink } from '../../../schema/move.ts';
import { withoutExtras } from '../../model/topology.ts';
import type { Commit } from '../host/project-context.ts';
import type { OpenNode } from '../nodes/open-node.ts';
import type { LinkParts } from './delete-links.ts';
import type { LinkRoute, OpenLink, Two } from './link.ts';

interface MovingLink {
  readonly linkId: string;
  /** End of the node. */
  readonly end: 0 | 1;
  /** The nodes of the link, with the moved node as it will be. */
  readonly nodes: Two<OpenNode>;
  readonly route: LinkRoute;
  /** The link as it was when the new port was connected to it. */
  readonly bound: OpenLink;
  isSwitched: boolean;
  held: number | null;
}

export class LinkMoves {
  readonly #parts: LinkParts;

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  /** Joins the ports of the node as it is to be (`arriving`), which exists on its compute. @throws why a link cannot be moved */
  async prepare(node: OpenNode, arriving: OpenNode): Promise<NodeLinks> {
    const { links } = this.#parts;
    const ids = links.idsOn(node.id);
    const refuse = (reason: string) => fault('move_refused', { name: node.entry.name, reason });
    const isMirrored = ids.some((id) => links.open(id).entry.mirror) || links.ports.mirroredTo(node.id).length > 0;
    if (isMirrored) throw refuse('one of its links is mirrored: remove the mirror');
    const moving: MovingLink[] = [];
    const prepared = new NodeLinks(this.#parts, moving);
    try {
      for (const linkId of ids) moving.push(...(await this.#prepareLink(linkId, node, arriving)));
      return prepared;
    } catch (error) {
      await prepared.revert();
      throw error;
    }
  }

  async #prepareLink(linkId: string, node: OpenNode, arriving: OpenNode): Promise<MovingLink[]> {
    const { links, wiring } = this.#parts;
    const bound = links.open(linkId);
    const { entry } = bound;
    // A link that does not exist on its computes is created after the node has moved.
    if (!bound.udpPorts) return [];
    const end = bound.nodes[0] === node ? 0 : 1;
    const nodes: Two<OpenNode> = end === 0 ? [arriving, bound.nodes[1]] : [bound.nodes[0], arriving];
    const route = await wiring.plan(entry, nodes);
    await wiring.bindEnd(entry, nodes, route, end).catch((error: unknown) => {
      for (const each of [0, 1] as const) wiring.keepUnused(route, nodes, each);
      throw error;
    });
    return [{ linkId, end, nodes, route, bound, isSwitched: false, held: null }];
  }
}

export class NodeLinks {
  readonly #parts: LinkParts;
  readonly #moving: readonly MovingLink[];

  constructor(parts: LinkParts, moving: readonly MovingLink[]) {
    this.#parts = parts;
    this.#moving = moving;
  }

  /** Joins the other ends to the new ports. A link that was deleted meanwhile is left out. @throws what the computes answer */
  async switch(): Promise<void> {
    const { links, wiring } = this.#parts;
    const results = this.#moving.map((moving) =>
      links.ifPresent(moving.linkId, async ({ entry }) => {
        const { nodes, route, end, bound } = moving;
        moving.isSwitched = true;
        moving.held = await wiring.moveEnd(entry, nodes, route, end === 0 ? 1 : 0);
        if (entry !== bound.entry) await wiring.changeEnd(entry, nodes, route, end);
      }),
    );
    for (const result of await Promise.allSettled(results)) if (result.status === 'rejected') throw result.reason;
  }

  /** Returns the changes of links that must become durable together with the node's. */
  commits(): Commit[] {
    const { links } = this.#parts;
    return this.#moving.flatMap(({ linkId, route }) => {
      const link = links.find(linkId);
      if (!link) return [];
      const { entry, object } = link;
      const apply = () => {
        const now = links.find(linkId);
        if (now) links.put({ ...now, udpPorts: route.ports });
        return undefined;
      };
      return [{ change: { action: 'link.updated', event: object, was: withoutExtras(entry), udpPorts: route.ports }, apply }];
    });
  }

  /** The other ends are joined to the old ports, and what waited leaves for them; the new ones go with their node. Never rejects. */
  async revert(): Promise<void> {
    const { links, wiring } = this.#parts;
    for (const { linkId, isSwitched, route, nodes, end } of this.#moving) {
      const other = end === 0 ? 1 : 0;
      if (!isSwitched) wiring.keepUnused(route, nodes, other);
      else
        await links
          .ifPresent(linkId, async (link) => {
            if (!link.udpPorts) return;
            links.put({ ...link, udpPorts: await wiring.reconnect(link, link.udpPorts, { mayLeadElsewhere: true }) });
          })
          .catch(() => undefined);
    }
    await this.release();
  }

  /** The node runs again: what waited in its links leaves. Never rejects. */
  async release(): Promise<MovedLink[]> {
    const { wiring } = this.#parts;
    await Promise.all(
      this.#moving.map(
        ({ bound, nodes, end, isSwitched }) => isSwitched && wiring.releaseEnd(bound.entry, nodes, end === 0 ? 1 : 0),
      ),
    );
    return this.#moving.map(({ linkId, held }) => ({ link_id: linkId, held }));
  }
}
