/** The links of an open project, and which port has which link. A port is taken before anything else happens, so that two requests at once never get the same. */
import { isDeepStrictEqual } from 'node:util';
import { fault } from '../../../api/faults.ts';
import { EventStream } from '../../../lib/event-stream.ts';
import { KeyedMutex } from '../../../lib/mutex.ts';
import type { LinkEnd, LinkInput } from '../../../schema/link.ts';
import type { Change, UdpPorts } from '../../log/records.ts';
import { canonical } from '../../model/canonical.ts';
import { OccupiedPorts } from '../../model/occupied-ports.ts';
import type { LinkEntry } from '../../model/topology.ts';
import { commitPrepared, type Prepared } from '../host/prepared.ts';
import type { LinksOfNodes, ProjectHost } from '../host/project-host.ts';
import type { OpenNode } from '../nodes/open-node.ts';
import type { ProjectNodes } from '../nodes/project-nodes.ts';
import {
  availableFilters,
  checkFilters,
  type LinkObject,
  linkObject,
  listed,
  type OpenLink,
  portsToJoin,
  relabelled,
  type ShownCapture,
  type Two,
  twoEnds,
  withLabel,
} from './link.ts';
import { LinkMending } from './link-recovery.ts';
import { type CountedLinks, LinkStatsReader } from './link-stats.ts';
import { UdpPortsOfProject } from './udp-ports.ts';
import { Wiring } from './wiring.ts';

export class ProjectLinks implements LinksOfNodes, CountedLinks {
  /** Ids of links that were deleted. */
  readonly deletions = new EventStream<string>();
  readonly stats: LinkStatsReader;
  readonly mending: LinkMending;
  readonly #host: ProjectHost;
  readonly #nodes: ProjectNodes;
  readonly #wiring: Wiring;
  readonly #links = new Map<string, OpenLink>();
  readonly #ports = new OccupiedPorts();
  readonly #locks = new KeyedMutex();
  #list: readonly LinkObject[] | undefined;

  constructor(host: ProjectHost, nodes: ProjectNodes) {
    this.#host = host;
    this.#nodes = nodes;
    this.stats = new LinkStatsReader(host, this);
    this.#wiring = new Wiring(new UdpPortsOfProject(host.projectId));
    this.mending = new LinkMending(host, this, { wiring: this.#wiring, put: (link) => this.#put(link) });
  }

  get size(): number {
    return this.#links.size;
  }

  list(): readonly LinkObject[] {
    this.#list ??= Object.freeze(Array.from(this.#links.values(), (link) => listed(link.object)));
    return this.#list;
  }

  all(): Iterable<OpenLink> {
    return this.#links.values();
  }

  /** @throws `link_not_found` */
  get(linkId: string): LinkObject {
    return this.open(linkId).object;
  }

  listOn(nodeId: string): LinkObject[] {
    this.#nodes.get(nodeId);
    return this.idsOn(nodeId).map((linkId) => listed(this.get(linkId)));
  }

  entries(): LinkEntry[] {
    return Array.from(this.#links.values(), (link) => link.entry);
  }

  /** Where frames of the links go now. */
  udpPorts(): Record<string, UdpPorts> {
    const ports: Record<string, UdpPorts> = {};
    for (const [linkId, link] of this.#links) if (link.udpPorts) ports[linkId] = link.udpPorts;
    return ports;
  }

  availableFilters(linkId: string): readonly object[] {
    return availableFilters(this.open(linkId));
  }

  /** An id in the body is not looked at. @throws `link_id_taken` and the refusals of ports */
  async create(body: LinkInput, linkId?: string): Promise<LinkObject> {
    const ends = twoEnds(body.nodes);
    checkFilters(body.filters ?? {});
    const [one, other] = [this.#nodes.get(ends[0].node_id), this.#nodes.get(ends[1].node_id)];
    if (one === other) throw fault('link_itself', { name: one.entry.name });
    return this.#nodes.locks.runAll([one.id, other.id], async () => {
      const prepared = await this.prepare(body, [this.#nodes.get(one.id), this.#nodes.get(other.id)], linkId);
      await commitPrepared(this.#host, [prepared]);
      return prepared.result();
    });
  }

  /** Makes a link on its computes; the locks of its nodes are held. */
  async prepare(body: LinkInput, nodes: Two<OpenNode>, link_id: string = crypto.randomUUID()): Promise<Prepared<LinkObject>> {
    const ends = twoEnds(body.nodes);
    const filters = checkFilters(body.filters ?? {});
    if (this.#links.has(link_id)) throw fault('link_id_taken', { link_id });
    const [port] = portsToJoin(ends, nodes);
    const { link_style = {}, suspend = false } = body;
    const entry = canonical<LinkEntry>({ filters, link_id, link_style, nodes: ends.map(withLabel), suspend });
    this.#ports.occupy(entry, (nodeId) => nodes.find((node) => node.id === nodeId)?.entry.name ?? nodeId);
    const udpPorts = await this.#wiring.join(entry, nodes).catch((error: unknown) => {
      this.#ports.free(entry);
      throw error;
    });
    const parts = { entry, nodes, udpPorts };
    const link: OpenLink = {
      ...parts,
      object: linkObject({ ...parts, linkType: port.link_type, projectId: this.#host.projectId }),
    };
    const apply = () => {
      this.#put(link);
      return link.object;
    };
    const revert = async () => {
      this.#ports.free(entry);
      await this.#wiring.part(entry, nodes).catch(() => undefined);
    };
    const change: Change = { action: 'link.created', event: link.object, was: null, udpPorts, undoable: true };
    return { commit: { change, apply }, revert, result: () => link.object };
  }

  /** Filters, style, suspension, and labels of the ends; other keys are not looked at. */
  async update(linkId: string, body: LinkInput): Promise<LinkObject> {
    const filters = body.filters && checkFilters(body.filters);
    return this.exclusively(linkId, async (link) => {
      const before = link.entry;
      const after = canonical<LinkEntry>({
        ...before,
        ...(filters && { filters }),
        ...(body.link_style && { link_style: body.link_style }),
        ...(body.suspend !== undefined && { suspend: body.suspend }),
        ...(body.nodes && { nodes: relabelled(before.nodes, body.nodes) }),
      });
      if (isDeepStrictEqual(before, after)) return link.object;
      const isOtherTraffic = before.suspend !== after.suspend || !isDeepStrictEqual(before.filters, after.filters);
      const { nodes, udpPorts } = link;
      if (isOtherTraffic && udpPorts) await this.#wiring.change(before, after, nodes, udpPorts);
      const object = this.#objectOf({ ...link, entry: after });
      try {
        await this.#host.commit({ action: 'link.updated', event: object, was: before, undoable: true }, () => {
          this.#put({ ...link, entry: after, object });
          return object;
        });
      } catch (error) {
        if (isOtherTraffic && udpPorts) await this.#wiring.change(after, before, nodes, udpPorts).catch(() => undefined);
        throw error;
      }
      return object;
    });
  }

  delete(linkId: string): Promise<void> {
    return this.exclusively(linkId, (link) => this.#delete(link, false));
  }

  endsOn(nodeId: string): { adapter: number; port: number }[] {
    const ends = this.idsOn(nodeId).flatMap((linkId) => this.open(linkId).entry.nodes);
    return ends
      .filter((end) => end.node_id === nodeId)
      .map(({ adapter_number, port_number }) => ({ adapter: adapter_number, port: port_number }));
  }

  async deleteOn(nodeId: string): Promise<void> {
    for (const linkId of this.idsOn(nodeId)) {
      await this.#locks.run(linkId, async () => {
        const link = this.#links.get(linkId);
        if (link) await this.#delete(link, true);
      });
    }
  }

  /** Takes up a link of the project file; false when its ends are not there, or a port has a link already. */
  add(entry: LinkEntry): boolean {
    const [one, other] = entry.nodes.map((end) => this.#nodes.find(end.node_id));
    if (!one || !other || one === other || entry.nodes.some((end) => this.#ports.isTaken(end))) return false;
    this.#ports.occupy(entry, (nodeId) => this.#nodes.get(nodeId).entry.name);
    const [end] = entry.nodes;
    const type = (end && one.findPort(end.adapter_number, end.port_number)?.link_type) ?? 'ethernet';
    const parts = { entry, nodes: [one, other] as const };
    this.#put({ ...parts, object: linkObject({ ...parts, linkType: type, projectId: this.#host.projectId }) });
    return true;
  }

  rewire(nodeId: string): Promise<void> {
    return this.mending.rewire(nodeId);
  }

  async #delete(link: OpenLink, evenIfUnreachable: boolean): Promise<void> {
    const { entry, nodes, object, udpPorts } = link;
    if (udpPorts) {
      await this.#wiring.part(entry, nodes).catch((error: unknown) => {
        if (!evenIfUnreachable) throw error;
      });
    }
    try {
      await this.#host.commit(
        { action: 'link.deleted', event: object, was: entry, undoable: true, ...(udpPorts && { udpPorts }) },
        () => {
          this.#links.delete(entry.link_id);
          this.#ports.free(entry);
          this.#list = undefined;
          return object;
        },
      );
    } catch (error) {
      if (udpPorts) await this.#wiring.joinAgain(entry, nodes, udpPorts).catch(() => undefined);
      throw error;
    }
    this.deletions.emit(entry.link_id);
  }

  exclusively<T>(linkId: string, fn: (link: OpenLink) => Promise<T>): Promise<T> {
    this.open(linkId);
    return this.#locks.run(linkId, () => fn(this.open(linkId)));
  }

  /** What clients see of its capture from now on; returns undefined when that is what they saw before. */
  showCapture(linkId: string, capture: ShownCapture): LinkObject | undefined {
    const before = this.open(linkId);
    if (isDeepStrictEqual(before.capture, capture)) return undefined;
    const present = { ...before, capture };
    const object = this.#objectOf(present);
    this.#put({ ...present, object });
    return object;
  }

  isTaken(end: LinkEnd): boolean {
    return this.#ports.isTaken(end);
  }

  find(linkId: string): OpenLink | undefined {
    return this.#links.get(linkId);
  }

  idsOn(nodeId: string): string[] {
    return this.#ports.linksOn(nodeId);
  }

  #objectOf(link: OpenLink): LinkObject {
    return linkObject({ ...link, linkType: link.object.link_type, projectId: this.#host.projectId });
  }

  open(linkId: string): OpenLink {
    const link = this.find(linkId);
    if (!link) throw fault('link_not_found', { link_id: linkId });
    return link;
  }

  #put(link: OpenLink): void {
    this.#links.set(link.entry.link_id, link);
    this.#list = undefined;
    this.#ports.attach(link.entry);
  }
}
