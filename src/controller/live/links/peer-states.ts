/**
 * Whether the nodes at the other ends of links run. A compute knows that of its own nodes; of those on other computes it is sent it
 * here, in projects that replicate the state of links.
 */
import type { OpenNode } from '../nodes/open-node.ts';
import type { ProjectNodes } from '../nodes/project-nodes.ts';
import type { LinkParts } from './delete-links.ts';
import { isStopped, type OpenLink } from './link.ts';

export class PeerStates {
  readonly #parts: LinkParts;
  readonly #replicates: () => boolean;
  /** States of the ends that were sent last, by link. */
  readonly #sent = new Map<string, string>();

  constructor(parts: LinkParts, nodes: ProjectNodes, replicates: () => boolean) {
    this.#parts = parts;
    this.#replicates = replicates;
    nodes.changes.subscribe((node) => {
      if (replicates()) for (const linkId of parts.links.idsOn(node.id)) void this.#send(linkId);
    });
    parts.links.deletions.subscribe((linkId) => this.#sent.delete(linkId));
  }

  /** The setting was changed. */
  sendAll(): void {
    this.#sent.clear();
    for (const { entry } of this.#parts.links.all()) void this.#send(entry.link_id);
  }

  /** A compute that does not answer is sent it when its links are connected again. */
  #send(linkId: string): Promise<void> {
    const { links, wiring } = this.#parts;
    const send = async (link: OpenLink): Promise<void> => {
      const { entry, nodes, udpPorts } = link;
      if (!udpPorts || nodes[0].compute === nodes[1].compute) return;
      const states = this.#replicates() ? nodes.map(stateOf).join() : '';
      if (this.#sent.get(linkId) === states) return;
      await wiring.change(entry, nodes, udpPorts);
      this.#sent.set(linkId, states);
    };
    return links.ifPresent(linkId, send).catch(() => undefined);
  }
}

function stateOf(node: OpenNode): string {
  return isStopped(node) ? 'stopped' : 'running';
}
