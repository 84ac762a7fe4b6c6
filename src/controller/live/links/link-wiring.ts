/** Makes, changes and removes the two NIOs of a link. Afterwards either both ends are as requested, or both are as before. */
import { fault, isFault } from '../../../api/faults.ts';
import type { NioUdp } from '../../../schema/nio.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import type { UdpPorts } from '../../log/records.ts';
import type { LinkEntry } from '../../model/topology.ts';
import type { OpenNode } from '../nodes/open-node.ts';
import { canFilter, endOf, type LinkRoute, niosOf, type Two } from './link.ts';
import { linkAddresses } from './link-addresses.ts';
import { LinkStreams } from './link-streams.ts';
import { UdpPortsOfProject } from './udp-ports.ts';

const ends = [0, 1] as const;

/** What the links of a project need of it. */
export interface WiredProject {
  /** Whether guests are to see that the node at the other end of a link does not run. */
  readonly replicates: () => boolean;
  readonly findNode: (nodeId: string) => OpenNode | undefined;
}

export class LinkWiring {
  readonly #ports: UdpPortsOfProject;
  readonly #streams = new LinkStreams();

  readonly #project: WiredProject;

  constructor(projectId: string, project: WiredProject) {
    this.#project = project;
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

  /** Sends the frames of a link that exists to the port of its mirror as well, if the node of that exists. @throws `mirror_unsupported` */
  async mirror(entry: LinkEntry, nodes: Two<OpenNode>, ports: UdpPorts): Promise<void> {
    const { mirror } = entry;
    const node = mirror && this.#project.findNode(mirror.node_id);
    if (!mirror || !node?.isPresent) return;
    const compute = node.requireCompute();
    const source = ports[mirroringEnd(entry, nodes, node)];
    const lport = await this.#ports.take(compute);
    const nio: NioUdp = {
      type: 'nio_udp',
      lport,
      rhost: '127.0.0.1',
      rport: lport,
      filters: {},
      suspend: false,
      mirror_of: source,
    };
    await node.bindNio({ adapter: mirror.adapter_number, port: mirror.port_number }, nio).catch((error: unknown) => {
      this.#ports.keep(compute, lport);
      throw error;
    });
  }

  /** One that is not there is no error. */
  async unmirror({ mirror }: LinkEntry): Promise<void> {
    const node = mirror && this.#project.findNode(mirror.node_id);
    if (!mirror || !node?.isPresent) return;
    await node.unbindNio({ adapter: mirror.adapter_number, port: mirror.port_number }).catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
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
    const replicates = this.#project.replicates();
    return { addresses: await linkAddresses(...computes), streams: this.#streams.of(link_id, computes), replicates };
  }
}

/** The end whose compute mirrors. @throws `mirror_unsupported` */
export function mirroringEnd({ link_id }: LinkEntry, nodes: Two<OpenNode>, to: OpenNode): 0 | 1 {
  const end = ends.find((each) => nodes[each].compute === to.compute);
  if (end === undefined || !to.compute?.hasLinkFeature('mirrors'))
    throw fault('mirror_unsupported', { link_id, name: to.entry.name });
  return end;
}

function computesOf([one, other]: Two<OpenNode>): Two<RegisteredCompute> {
  return [one.requireCompute(), other.requireCompute()];
}

function isGone(error: unknown): boolean {
  return isFault(error) && (error.status === 404 || error.code === 'nio_missing');
}
