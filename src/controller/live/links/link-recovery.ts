/** Makes links on their computes that are in the project already: when it is opened, and when a compute is back. */
import { isDeepStrictEqual } from 'node:util';
import { isFault } from '../../../api/faults.ts';
import { concurrency, forEachBounded } from '../../../lib/bounded.ts';
import type { Problem } from '../../../schema/problem.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import type { UdpPorts } from '../../log/records.ts';
import { withoutExtras } from '../../model/topology.ts';
import type { ProjectContext } from '../host/project-context.ts';
import type { LinkParts } from './delete-links.ts';
import type { OpenLink } from './link.ts';
import type { LinkSet } from './link-set.ts';
import { isOnSlice, type LinkWiring } from './link-wiring.ts';

export class LinkRecovery {
  readonly #context: ProjectContext;
  readonly #links: LinkSet;
  readonly #wiring: LinkWiring;

  constructor(context: ProjectContext, { links, wiring }: LinkParts) {
    this.#context = context;
    this.#links = links;
    this.#wiring = wiring;
  }

  /**
   * Connects a link of the project file on its computes; on failure listeners are sent the reason. `udpPorts`: those it had. The caller
   * makes those that it has now durable.
   */
  async restore(linkId: string, udpPorts?: UdpPorts): Promise<void> {
    if (!this.#links.find(linkId)) return;
    await this.#links.exclusively(linkId, async (link) => {
      if (!link.udpPorts && areUsable(link)) await this.#connect(link, udpPorts);
    });
  }

  /** The node exists on its compute now, which may have lost its state: its links are made; those that exist stay as they are. */
  async connectOn(nodeId: string): Promise<void> {
    for (const linkId of this.#links.idsOn(nodeId)) await this.#reconnectOne(linkId);
    for (const linkId of this.#links.ports.mirroredTo(nodeId)) await this.#links.ifPresent(linkId, (link) => this.#mirror(link));
  }

  /** A node is to be made on another compute: its links are connected anew then. */
  async release(nodeId: string): Promise<void> {
    for (const linkId of this.#links.idsOn(nodeId)) {
      await this.#links.exclusively(linkId, async (link) => {
        await this.#wiring.disconnect(link.entry, link.nodes).catch(() => undefined);
        const { udpPorts: _ports, ...released } = link;
        this.#links.put(released);
      });
    }
  }

  /** A compute is lost, or back: it may have lost its state. */
  forgetOn(compute: RegisteredCompute): void {
    this.#wiring.forgetOn(compute);
  }

  /** Links of slices, and those that lacked ports, that could not be connected although their nodes exist. @returns whether none is left */
  async retry(): Promise<boolean> {
    const isLeft = (link: OpenLink) => link.problem !== undefined && link.nodes.some(isOnSlice) && areUsable(link);
    await forEachBounded(this.#idsOf(isLeft), concurrency, (linkId) => this.#reconnectOne(linkId));
    const isLacking = (link: OpenLink) => link.lacksPorts === true && areUsable(link);
    // Where one finds no port, the others would look for one in vain.
    for (const linkId of this.#idsOf(isLacking)) {
      await this.#reconnectOne(linkId);
      if (this.#links.find(linkId)?.lacksPorts) break;
    }
    return !Array.from(this.#links.all()).some((link) => isLeft(link) || isLacking(link));
  }

  #idsOf(isWanted: (link: OpenLink) => boolean): string[] {
    return Array.from(this.#links.all()).flatMap((link) => (isWanted(link) ? link.entry.link_id : []));
  }

  /** Nothing happens to a link that has been deleted meanwhile. */
  async #reconnectOne(linkId: string): Promise<void> {
    await this.#links.ifPresent(linkId, async (link) => {
      if (!areUsable(link)) return;
      await this.#connect(link, link.udpPorts);
      if (!isDeepStrictEqual(this.#links.open(linkId).udpPorts, link.udpPorts)) await this.#keepPorts(linkId);
    });
  }

  /** A node stays where it is: the other ends of its links may have been joined to where it was to move. Never rejects. */
  async rejoin(nodeId: string): Promise<void> {
    for (const linkId of this.#links.idsOn(nodeId)) {
      await this.#links
        .ifPresent(linkId, async (link) => {
          if (!link.udpPorts || !areUsable(link)) return;
          await this.#connect(link, link.udpPorts, { mayLeadElsewhere: true });
          if (!isDeepStrictEqual(this.#links.open(linkId).udpPorts, link.udpPorts)) await this.#keepPorts(linkId);
        })
        .catch(() => undefined);
    }
  }

  /** Links that could not be connected although their nodes exist. */
  problems(): Problem[] {
    return Array.from(this.#links.all()).flatMap((link) =>
      link.problem === undefined ? [] : [{ kind: 'link', id: link.entry.link_id, name: namesOf(link), message: link.problem }],
    );
  }

  /** @param udpPorts those it may still have */
  async #connect(link: OpenLink, udpPorts: UdpPorts | undefined, { mayLeadElsewhere = false } = {}): Promise<void> {
    const { problem, lacksPorts: _lacks, ...usable } = link;
    const { entry, nodes } = link;
    const [wiring, links] = [this.#wiring, this.#links];
    const isUnsure = mayLeadElsewhere || problem !== undefined;
    try {
      const connected = udpPorts
        ? await wiring.reconnect(link, udpPorts, { mayLeadElsewhere: isUnsure })
        : await wiring.connect(entry, nodes);
      links.put({ ...usable, udpPorts: connected });
      await this.#mirror(this.#links.open(entry.link_id));
    } catch (error) {
      const { message } = error as Error;
      links.put({ ...link, problem: message, lacksPorts: isFault(error, 'ports_exhausted') });
      if (message === problem) return;
      this.#context.notify('log.error', { message: `The link between ${namesOf(link)} is not usable: ${message}` });
    }
  }

  /** A mirror that cannot be made leaves the link as it is. */
  async #mirror({ entry, nodes, udpPorts }: OpenLink): Promise<void> {
    if (!entry.mirror || !udpPorts) return;
    await this.#wiring.mirror(entry, nodes, udpPorts).catch((error: Error) => {
      const message = `The link between ${nodes.map((node) => node.entry.name).join(' and ')} is not mirrored: ${error.message}`;
      this.#context.notify('log.error', { message });
    });
  }

  async #keepPorts(linkId: string): Promise<void> {
    const { entry, object, udpPorts } = this.#links.open(linkId);
    const was = withoutExtras(entry);
    if (udpPorts) await this.#context.commit({ action: 'link.updated', event: object, was, udpPorts }, () => undefined);
  }
}

function areUsable({ nodes }: OpenLink): boolean {
  return nodes.every((node) => node.isPresent && node.problem === undefined);
}

function namesOf({ nodes }: OpenLink): string {
  return nodes.map(({ entry }) => entry.name).join(' and ');
}
