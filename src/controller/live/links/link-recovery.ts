/** Makes links on their computes that are in the project already: when it is opened, and when a compute is back. */
import { isDeepStrictEqual } from 'node:util';
import { concurrency, forEachBounded } from '../../../lib/bounded.ts';
import type { Problem } from '../../../schema/problem.ts';
import type { Compute } from '../../computes/compute.ts';
import type { UdpPorts } from '../../log/records.ts';
import type { ProjectHost } from '../host/project-host.ts';
import type { OpenLink } from './link.ts';
import type { Wiring } from './wiring.ts';

/** The project's links, as far as this is concerned. */
export interface MendedLinks {
  all(): Iterable<OpenLink>;
  find(linkId: string): OpenLink | undefined;
  /** @throws `link_not_found` */
  open(linkId: string): OpenLink;
  /** Nothing else is done with the link meanwhile. */
  exclusively<T>(linkId: string, fn: (link: OpenLink) => Promise<T>): Promise<T>;
  idsOn(nodeId: string): string[];
}

interface Parts {
  readonly wiring: Wiring;
  /** Takes a link in place of the one with this id. */
  readonly put: (link: OpenLink) => void;
}

export class LinkMending {
  readonly #host: ProjectHost;
  readonly #links: MendedLinks;
  readonly #parts: Parts;

  constructor(host: ProjectHost, links: MendedLinks, parts: Parts) {
    this.#host = host;
    this.#links = links;
    this.#parts = parts;
  }

  /**
   * Makes a link that was taken up on its computes; listeners are told why it cannot be. `udpPorts`: those it had. Those it has now
   * are for the caller to make durable.
   */
  async restore(linkId: string, udpPorts?: UdpPorts): Promise<void> {
    if (!this.#links.find(linkId)) return;
    await this.#links.exclusively(linkId, async (link) => {
      if (!link.udpPorts && areThere(link)) await this.#join(link, udpPorts);
    });
  }

  /** The node exists on its compute now: its links that do not are made. */
  async rewire(nodeId: string): Promise<void> {
    for (const linkId of this.#links.idsOn(nodeId)) {
      if (this.#links.open(linkId).udpPorts) continue;
      await this.restore(linkId);
      await this.#keepPorts(linkId);
    }
  }

  /** A compute is back, and may have lost what it knew: links with an end there are said again, which changes nothing when they are. */
  async rejoin(compute: Compute): Promise<void> {
    const hasEnd = ({ nodes }: OpenLink) => nodes.some((node) => node.compute === compute);
    const ids = Array.from(this.#links.all()).flatMap((link) => (hasEnd(link) ? link.entry.link_id : []));
    await forEachBounded(ids, concurrency, (linkId) =>
      this.#links.exclusively(linkId, async (link) => {
        if (!areThere(link)) return;
        await this.#join(link, link.udpPorts);
        if (!isDeepStrictEqual(this.#links.open(linkId).udpPorts, link.udpPorts)) await this.#keepPorts(linkId);
      }),
    );
  }

  /** Links that are not there although their nodes are. */
  problems(): Problem[] {
    return Array.from(this.#links.all()).flatMap((link) =>
      link.problem === undefined ? [] : [{ kind: 'link', id: link.entry.link_id, name: namesOf(link), message: link.problem }],
    );
  }

  /** @param udpPorts those it may still have */
  async #join(link: OpenLink, udpPorts: UdpPorts | undefined): Promise<void> {
    const { problem: _problem, ...sound } = link;
    const { entry, nodes } = link;
    const { wiring, put } = this.#parts;
    try {
      const joined = udpPorts ? await wiring.joinAgain(entry, nodes, udpPorts) : await wiring.join(entry, nodes);
      put({ ...sound, udpPorts: joined });
    } catch (error) {
      const problem = (error as Error).message;
      put({ ...link, problem });
      this.#host.notify('log.error', { message: `The link between ${namesOf(link)} is not usable: ${problem}` });
    }
  }

  async #keepPorts(linkId: string): Promise<void> {
    const { entry, object, udpPorts } = this.#links.open(linkId);
    if (udpPorts) await this.#host.commit({ action: 'link.updated', event: object, was: entry, udpPorts }, () => undefined);
  }
}

function areThere({ nodes }: OpenLink): boolean {
  return nodes.every((node) => node.isPresent && node.problem === undefined);
}

function namesOf({ nodes }: OpenLink): string {
  return nodes.map(({ entry }) => entry.name).join(' and ');
}
