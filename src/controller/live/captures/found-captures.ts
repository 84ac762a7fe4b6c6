/** Captures as computes tell of them, and the links they are on. */

import { concurrency, forEachBounded } from '../../../lib/bounded.ts';
import type { CaptureEntry } from '../../../schema/capture.ts';
import type { Compute } from '../../computes/compute.ts';
import type { ProjectHost } from '../host/project-host.ts';
import { endOf, type OpenLink } from '../links/link.ts';

/** The project's links, as far as finding them is concerned. */
export interface LinksOnNodes {
  /** @throws `link_not_found` */
  open(linkId: string): OpenLink;
  idsOn(nodeId: string): string[];
}

export interface FoundEnd {
  readonly link: OpenLink;
  readonly end: 0 | 1;
}

export interface FoundCapture extends FoundEnd {
  readonly entry: CaptureEntry;
}

const listKey = 'GET /v2/compute/projects/{project_id}/captures';

export class FoundCaptures {
  readonly #host: ProjectHost;
  readonly #links: LinksOnNodes;

  constructor(host: ProjectHost, links: LinksOnNodes) {
    this.#host = host;
    this.#links = links;
  }

  /** Those that the compute has. @throws what it says */
  async on(compute: Compute): Promise<FoundCapture[]> {
    const path = { project_id: this.#host.projectId };
    const { body } = await compute.transport.call<CaptureEntry[]>(listKey, { path });
    return body.flatMap((entry) => {
      const found = this.find(entry);
      return found ? [{ ...found, entry }] : [];
    });
  }

  /** Computes that do not answer, or are of another make and have no such list, are left out. */
  async onAll(computes: readonly Compute[]): Promise<FoundCapture[]> {
    const all: FoundCapture[] = [];
    await forEachBounded(computes, concurrency, async (compute) => {
      all.push(...(await this.on(compute)));
    });
    return all;
  }

  /** The end of a link at a port. */
  find({ node_id = '', adapter_number, port_number }: Partial<CaptureEntry>): FoundEnd | undefined {
    for (const linkId of this.#links.idsOn(node_id)) {
      const link = this.#links.open(linkId);
      const end = link.nodes[0].id === node_id ? 0 : 1;
      const { adapter, port } = endOf(link.entry, end);
      if (adapter === adapter_number && port === port_number) return { link, end };
    }
    return undefined;
  }
}
