/** Makes, changes and removes the two NIOs of a link. `LinkRecovery` restores a link of which a change failed half-way. */
import { fault, isFault } from '../../../api/faults.ts';
import type { LinkMirror } from '../../../schema/link.ts';
import type { NioUdp } from '../../../schema/nio.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import type { UdpPorts } from '../../log/records.ts';
import type { LinkEntry } from '../../model/topology.ts';
import type { LinkRelay } from '../../relay/link-relay.ts';
import { bindNio, changeNio, movePort, releasePort, unbindNio } from '../nodes/node-nios.ts';
import type { OpenNode } from '../nodes/open-node.ts';
import { canFilter, endOf, type LinkRoute, niosOf, type OpenLink, type Two } from './link.ts';
import { linkAddresses } from './link-addresses.ts';
import { LinkStreams } from './link-streams.ts';

const ends = [0, 1] as const;

/** Services of the project that its links need. */
interface WiredProject {
  /** Whether guests are to see that the node at the other end of a link does not run. */
  readonly replicates: () => boolean;
  readonly findNode: (nodeId: string) => OpenNode | undefined;
  /** Relay of links between remote computes. */
  readonly relay: LinkRelay;
}

export class LinkWiring {
  readonly #ports: UdpPortsOfProject;
  readonly #streams = new LinkStreams();

  readonly #project: WiredProject;

  constructor(projectId: string, project: WiredProject) {
    this.#project = project;
    this.#ports = new UdpPortsOfProject(projectId);
  }

  /** A compute may have lost its state. */
  forgetOn(compute: RegisteredCompute): void {
    this.#ports.forget(compute);
  }

  /** Joins the two ports; returns the UDP ports that were taken for it. */
  async connect(entry: LinkEntry, nodes: Two<OpenNode>): Promise<UdpPorts> {
    const reach = await this.#reach(entry, nodes);
    const computes = computesOf(nodes);
    const ports = await this.#ports.takePair(computes);
    const nios = niosOf(entry, nodes, { ...reach, ports });
    const results = await Promise.allSettled(ends.map((end) => bindNio(nodes[end], endOf(entry, end), nios[end])));
    const refused = results.find((result) => result.status === 'rejected');
    if (!refused) return ports;
    for (const end of ends) {
      // A NIO that goes takes its UDP port along; one that never was leaves it to us.
      if (results[end]?.status === 'rejected') this.#ports.keep(computes[end], ports[end]);
      else await unbindNio(nodes[end], endOf(entry, end)).catch(() => undefined);
    }
    throw refused.reason;
  }

  /** Plans the route of a link's frames, and reserves its UDP ports. */
  async plan(entry: LinkEntry, nodes: Two<OpenNode>): Promise<LinkRoute> {
    const reach = await this.#reach(entry, nodes);
    return { ...reach, ports: await this.#ports.takePair(computesOf(nodes)) };
  }

  /** Binds one of the two ports in place of its present NIO. */
  async bindEnd(entry: LinkEntry, nodes: Two<OpenNode>, route: LinkRoute, end: 0 | 1): Promise<void> {
    await bindNio(nodes[end], endOf(entry, end), niosOf(entry, nodes, route)[end]);
  }

  /**
   * Binds an end like `bindEnd` while the node at the other end is paused: frames in the link wait for `releaseEnd`. Returns how
   * many wait, if they can.
   */
  async moveEnd(entry: LinkEntry, nodes: Two<OpenNode>, route: LinkRoute, end: 0 | 1): Promise<number | null> {
    if (nodes[end].requireCompute().hasLiveMoves) return movePort(nodes[end], endOf(entry, end), niosOf(entry, nodes, route)[end]);
    await this.bindEnd(entry, nodes, route, end);
    return null;
  }

  /** Releases held frames. Never rejects: the fabric's lease releases them in any case. */
  async releaseEnd(entry: LinkEntry, nodes: Two<OpenNode>, end: 0 | 1): Promise<void> {
    if (nodes[end].compute?.hasLiveMoves) await releasePort(nodes[end], endOf(entry, end)).catch(() => undefined);
  }

  /** Filters and suspension of one end. */
  async changeEnd(entry: LinkEntry, nodes: Two<OpenNode>, route: LinkRoute, end: 0 | 1): Promise<void> {
    if (canFilter(nodes[end])) await changeNio(nodes[end], endOf(entry, end), niosOf(entry, nodes, route)[end]);
  }

  /** Keeps a reserved port without a NIO for another link. */
  keepUnused({ ports }: LinkRoute, nodes: Two<OpenNode>, end: 0 | 1): void {
    this.#ports.keep(computesOf(nodes)[end], ports[end]);
  }

  /**
   * Connects a link that may still exist: unchanged NIOs have no effect, and frames keep flowing. `mayLeadElsewhere`: an end was
   * about to move; as a change of a NIO keeps its addresses, both ends are bound again. So are ends on slices, which may be on
   * another host.
   */
  async reconnect(
    { entry, nodes }: Pick<OpenLink, 'entry' | 'nodes'>,
    ports: UdpPorts,
    { mayLeadElsewhere = false } = {},
  ): Promise<UdpPorts> {
    try {
      const nios = niosOf(entry, nodes, { ...(await this.#reach(entry, nodes)), ports });
      const binds = mayLeadElsewhere || nodes.some(isOnSlice);
      for (const end of ends) {
        const bind = () => bindNio(nodes[end], endOf(entry, end), nios[end]);
        if (binds) await bind();
        else
          await changeNio(nodes[end], endOf(entry, end), nios[end]).catch(async (error: unknown) => {
            if (!isFault(error)) throw error;
            await bind();
          });
      }
      return ports;
    } catch {
      await this.disconnect(entry, nodes).catch(() => undefined);
      return this.connect(entry, nodes);
    }
  }

  /** Filters and suspension take effect. Ends of kinds that cannot filter have no request for it. @throws when one end may have them already */
  async change(entry: LinkEntry, nodes: Two<OpenNode>, ports: UdpPorts): Promise<void> {
    const route = { ...(await this.#reach(entry, nodes)), ports };
    for (const end of ends) await this.changeEnd(entry, nodes, route, end);
  }

  /** Sends the frames of a link that exists to the port of its mirror as well, if the node of that exists. @throws `mirror_unsupported` */
  async mirror(entry: LinkEntry, nodes: Two<OpenNode>, ports: UdpPorts): Promise<void> {
    const { mirror } = entry;
    const node = mirror && this.#project.findNode(mirror.node_id);
    if (!mirror || !node?.isPresent) return;
    const end = mirroringEnd(entry, nodes, node);
    const compute = node.requireCompute();
    if (nodes[end].compute !== compute) return this.#mirrorAcross({ entry, nodes, ports, mirror, node, end });
    const lport = await this.#ports.take(compute);
    const nio: NioUdp = { ...plainNio({ lport, rhost: '127.0.0.1', rport: lport }), mirror_of: ports[end] };
    await bindNio(node, portOfMirror(mirror), nio).catch((error: unknown) => {
      this.#ports.keep(compute, lport);
      throw error;
    });
  }

  /** The compute of the end sends the frames to the compute of the mirror, where they are a link of that port. */
  async #mirrorAcross({ entry, nodes, ports, mirror, node, end }: RemoteMirror): Promise<void> {
    const computes = [nodes[end].requireCompute(), node.requireCompute()] as const;
    const streams = this.#streams.of(`${entry.link_id}/mirror`, computes);
    const [here, there] = await linkAddresses(...computes);
    const [lport, rport] = await this.#ports.takePair(computes);
    const nio = plainNio({ lport: rport, rhost: here, rport: lport });
    await bindNio(node, portOfMirror(mirror), { ...nio, ...(streams && { stream: streams[1] }) }).catch((error: unknown) => {
      this.#ports.keep(computes[0], lport);
      this.#ports.keep(computes[1], rport);
      throw error;
    });
    const target = { ...mirror, lport, rhost: there, rport, ...(streams && { stream: streams[0] }) };
    await this.#changeMirror({ entry, nodes, ports, end }, target).catch((error: unknown) => {
      this.#ports.keep(computes[0], lport);
      throw error;
    });
  }

  async #changeMirror({ entry, nodes, ports, end }: MirroredEnd, mirror_to: NioUdp['mirror_to']): Promise<void> {
    const nios = niosOf(entry, nodes, { ...(await this.#reach(entry, nodes)), ports });
    await changeNio(nodes[end], endOf(entry, end), { ...nios[end], mirror_to: mirror_to ?? null });
  }

  /** Removes the link's mirror; a missing mirror is no error. `ports`: those of the link, while it exists. */
  async unmirror(entry: LinkEntry, nodes: Two<OpenNode>, ports: UdpPorts | undefined): Promise<void> {
    const { mirror } = entry;
    const node = mirror && this.#project.findNode(mirror.node_id);
    if (!mirror || !node) return;
    const end = findMirroringEnd(nodes, node);
    if (ports && end !== undefined && nodes[end].isPresent && nodes[end].compute !== node.compute) {
      await this.#changeMirror({ entry, nodes, ports, end }, null).catch(ignoreGone);
    }
    if (node.isPresent) await unbindNio(node, portOfMirror(mirror)).catch(ignoreGone);
  }

  /** Takes both NIOs away; one that is not there is no error. */
  async disconnect(entry: LinkEntry, nodes: Two<OpenNode>): Promise<void> {
    const results = await Promise.allSettled(ends.map((end) => unbindNio(nodes[end], endOf(entry, end))));
    for (const result of results) {
      if (result.status === 'rejected' && !isGone(result.reason)) throw result.reason;
    }
    this.#project.relay.forget(entry.link_id);
  }

  async #reach({ link_id }: LinkEntry, nodes: Two<OpenNode>): Promise<Omit<LinkRoute, 'ports'>> {
    const computes = computesOf(nodes);
    const replicates = this.#project.replicates();
    const streams = await this.#streams.relayed(link_id, computes, this.#project.relay);
    return { addresses: await linkAddresses(...computes), streams, replicates };
  }
}

export function isOnSlice({ compute }: OpenNode): boolean {
  return (compute?.epoch ?? null) !== null;
}

/** The mirrored end of a link. */
interface MirroredEnd {
  readonly entry: LinkEntry;
  readonly nodes: Two<OpenNode>;
  readonly ports: UdpPorts;
  readonly end: 0 | 1;
}
interface RemoteMirror extends MirroredEnd {
  readonly mirror: LinkMirror;
  readonly node: OpenNode;
}

/** The end whose compute mirrors. @throws `mirror_unsupported` */
export function mirroringEnd({ link_id }: LinkEntry, nodes: Two<OpenNode>, to: OpenNode): 0 | 1 {
  const end = findMirroringEnd(nodes, to);
  if (end === undefined) throw fault('mirror_unsupported', { link_id, name: to.entry.name });
  return end;
}

/** Rather on the compute of the port itself. */
function findMirroringEnd(nodes: Two<OpenNode>, to: OpenNode): 0 | 1 | undefined {
  const { compute } = to;
  const here = ends.find((end) => nodes[end].compute === compute);
  if (here !== undefined && compute?.hasLinkFeature('mirrors')) return here;
  return ends.find((end) => nodes[end].compute !== compute && nodes[end].compute?.hasLinkFeature('remote_mirrors'));
}

function portOfMirror({ adapter_number, port_number }: LinkMirror): { adapter: number; port: number } {
  return { adapter: adapter_number, port: port_number };
}

function plainNio(route: Pick<NioUdp, 'lport' | 'rhost' | 'rport'>): NioUdp {
  return { type: 'nio_udp', ...route, filters: {}, suspend: false };
}

function ignoreGone(error: unknown): void {
  if (!isGone(error)) throw error;
}

function computesOf([one, other]: Two<OpenNode>): Two<RegisteredCompute> {
  return [one.requireCompute(), other.requireCompute()];
}

function isGone(error: unknown): boolean {
  return isFault(error) && (error.status === 404 || error.code === 'nio_missing');
}

interface SparePort {
  readonly port: number;
  readonly at: number;
}

/** A compute releases a reserved port without a NIO after an hour. */
const spareMs = 1_800_000;

/**
 * UDP ports for the ends of links. A compute releases a port when the NIO that uses it is deleted. A port that was reserved for a
 * NIO that was never created is kept here and used for the next one, because the API has no request to release it.
 */
export class UdpPortsOfProject {
  readonly #projectId: string;
  /** Unused ports by the id of the compute. */
  readonly #spare = new Map<string, SparePort[]>();

  constructor(projectId: string) {
    this.#projectId = projectId;
  }

  /** Reserves a port for each end, always different ones: with equal ports on one machine, frames would loop. */
  async takePair([one, other]: Two<RegisteredCompute>): Promise<UdpPorts> {
    const [ofOne, ofOther] = await Promise.allSettled([this.take(one), this.take(other)]);
    if (ofOne.status === 'fulfilled' && ofOther.status === 'fulfilled') {
      if (ofOne.value !== ofOther.value) return [ofOne.value, ofOther.value];
      const different = await this.take(other);
      this.keep(other, ofOther.value);
      return [ofOne.value, different];
    }
    if (ofOne.status === 'fulfilled') this.keep(one, ofOne.value);
    if (ofOther.status === 'fulfilled') this.keep(other, ofOther.value);
    throw [ofOne, ofOther].find((result) => result.status === 'rejected')?.reason;
  }

  keep(compute: RegisteredCompute, port: number): void {
    const spare = this.#spare.get(compute.id) ?? [];
    this.#spare.set(compute.id, [...spare, { port, at: performance.now() }]);
  }

  /** Forgets the spare ports of a compute that was restarted: it may have assigned them again since. */
  forget({ id }: RegisteredCompute): void {
    this.#spare.delete(id);
  }

  async take(compute: RegisteredCompute): Promise<number> {
    const spare = this.#spare.get(compute.id)?.pop();
    if (spare && performance.now() - spare.at < spareMs) return spare.port;
    const path = { project_id: this.#projectId };
    return (await compute.transport.call('POST /v2/compute/projects/{project_id}/ports/udp', { path })).udp_port;
  }
}
