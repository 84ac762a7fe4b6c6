/** Makes, changes and removes the two NIOs of a link. Afterwards either both ends are as requested, or both are as before. */
import { isFault } from '../../../api/faults.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import type { UdpPorts } from '../../log/records.ts';
import type { LinkEntry } from '../../model/topology.ts';
import type { OpenNode } from '../nodes/open-node.ts';
import { canFilter, endOf, type LinkRoute, niosOf, type Two } from './link.ts';
import { linkAddresses } from './link-addresses.ts';
import { LinkStreams } from './link-streams.ts';
import { UdpPortsOfProject } from './udp-ports.ts';

const ends = [0, 1] as const;

export class LinkWiring {
  readonly #ports: UdpPortsOfProject;
  readonly #streams = new LinkStreams();

  readonly #replicates: () => boolean;

  /** `replicates`: whether guests are to see that the node at the other end of a link does not run. */
  constructor(projectId: string, replicates: () => boolean) {
    this.#replicates = replicates;
    this.#ports = new UdpPortsOfProject(projectId);
  }

  /** Joins the two ports; returns the UDP ports that were taken for it. */
  async connect(entry: LinkEntry, nodes: Two<OpenNode>): Promise<UdpPorts> {
    const reach = await this.#reach(entry, nodes);
    const computes = computesOf(nodes);
    const ports = await this.#ports.takePair(computes);
    const nios = niosOf(entry, nodes, { ...reach, ports });
    const results = await Promise.allSettled(ends.map((end) => nodes[end].bindNio(endOf(entry, end), nios[end])));
    const refused = results.find((result) => result.status === 'rejected');
    if (!refused) return ports;
    for (const end of ends) {
      // A NIO that goes takes its UDP port along; one that never was leaves it to us.
      if (results[end]?.status === 'rejected') this.#ports.keep(computes[end], ports[end]);
      else await nodes[end].unbindNio(endOf(entry, end)).catch(() => undefined);
    }
    throw refused.reason;
  }

  /** As `connect`, for a link that may still exist: the same NIOs again change nothing, and frames keep flowing. */
  async reconnect(entry: LinkEntry, nodes: Two<OpenNode>, ports: UdpPorts): Promise<UdpPorts> {
    try {
      const nios = niosOf(entry, nodes, { ...(await this.#reach(entry, nodes)), ports });
      for (const end of ends) {
        await nodes[end].changeNio(endOf(entry, end), nios[end]).catch(async (error: unknown) => {
          if (!isFault(error)) throw error;
          await nodes[end].bindNio(endOf(entry, end), nios[end]);
        });
      }
      return ports;
    } catch {
      await this.disconnect(entry, nodes).catch(() => undefined);
      return this.connect(entry, nodes);
    }
  }

  /** Filters and suspension take effect. Ends of kinds that cannot filter have no request for it. */
  async change(before: LinkEntry, after: LinkEntry, nodes: Two<OpenNode>, ports: UdpPorts): Promise<void> {
    const route = { ...(await this.#reach(after, nodes)), ports };
    const done: (0 | 1)[] = [];
    const send = (entry: LinkEntry, end: 0 | 1) => nodes[end].changeNio(endOf(entry, end), niosOf(entry, nodes, route)[end]);
    try {
      for (const end of ends) {
        if (!canFilter(nodes[end])) continue;
        done.push(end);
        await send(after, end);
      }
    } catch (error) {
      for (const end of done) await send(before, end).catch(() => undefined);
      throw error;
    }
  }

  /** Takes both NIOs away; one that is not there is no error. */
  async disconnect(entry: LinkEntry, nodes: Two<OpenNode>): Promise<void> {
    const results = await Promise.allSettled(ends.map((end) => nodes[end].unbindNio(endOf(entry, end))));
    for (const result of results) {
      if (result.status === 'rejected' && !isGone(result.reason)) throw result.reason;
    }
  }

  async #reach({ link_id }: LinkEntry, nodes: Two<OpenNode>): Promise<Omit<LinkRoute, 'ports'>> {
    const computes = computesOf(nodes);
    const replicates = this.#replicates();
    return { addresses: await linkAddresses(...computes), streams: this.#streams.of(link_id, computes), replicates };
  }
}

function computesOf([one, other]: Two<OpenNode>): Two<RegisteredCompute> {
  return [one.requireCompute(), other.requireCompute()];
}

function isGone(error: unknown): boolean {
  return isFault(error) && (error.status === 404 || error.code === 'nio_missing');
}
