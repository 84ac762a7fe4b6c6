/** The links of an open project, and which port has which link. A port is taken before anything else happens, so that two requests at once never get the same. */
import { isDeepStrictEqual } from 'node:util';
import { fault } from '../api/faults.ts';
import { KeyedMutex } from '../lib/mutex.ts';
import type { LinkEnd, LinkInput } from '../schema/link.ts';
import { canonical } from './canonical.ts';
import {
  availableFilters,
  checkFilters,
  type LinkCapture,
  type LinkObject,
  linkObject,
  type OpenLink,
  portsToJoin,
  relabelled,
  type Two,
  twoEnds,
  withLabel,
} from './link.ts';
import { type CapturedLinks, LinkCaptures } from './link-captures.ts';
import type { OpenNode } from './open-node.ts';
import type { LinksOfNodes, ProjectHost } from './project-host.ts';
import type { ProjectNodes } from './project-nodes.ts';
import type { UdpPorts } from './project-state.ts';
import type { LinkEntry } from './topology.ts';
import { UdpPortsOfProject } from './udp-ports.ts';
import { Wiring } from './wiring.ts';

export class ProjectLinks implements LinksOfNodes, CapturedLinks {
  readonly captures: LinkCaptures;
  readonly #host: ProjectHost;
  readonly #nodes: ProjectNodes;
  readonly #wiring: Wiring;
  readonly #links = new Map<string, OpenLink>();
  /** `node/adapter/port` to link. */
  readonly #ports = new Map<string, string>();
  readonly #byNode = new Map<string, Set<string>>();
  readonly #locks = new KeyedMutex();
  #list: readonly LinkObject[] | undefined;

  constructor(host: ProjectHost, nodes: ProjectNodes) {
    this.#host = host;
    this.#nodes = nodes;
    this.captures = new LinkCaptures(host, this);
    this.#wiring = new Wiring(new UdpPortsOfProject(host.projectId));
  }

  get size(): number {
    return this.#links.size;
  }

  list(): readonly LinkObject[] {
    this.#list ??= Object.freeze(Array.from(this.#links.values(), (link) => link.object));
    return this.#list;
  }

  /** @throws `link_not_found` */
  get(linkId: string): LinkObject {
    return this.open(linkId).object;
  }

  listOn(nodeId: string): LinkObject[] {
    this.#nodes.get(nodeId);
    return this.idsOn(nodeId).map((linkId) => this.get(linkId));
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
    return availableFilters(this.open(linkId).nodes);
  }

  async create(body: LinkInput): Promise<LinkObject> {
    const ends = twoEnds(body.nodes);
    const filters = checkFilters(body.filters ?? {});
    const [one, other] = [this.#nodes.get(ends[0].node_id), this.#nodes.get(ends[1].node_id)];
    if (one === other) throw fault('link_itself', { name: one.entry.name });
    return this.#withNodes(one.id, other.id, async (nodes) => {
      const [port] = portsToJoin(ends, nodes);
      const entry = canonical<LinkEntry>({
        filters,
        link_id: crypto.randomUUID(),
        link_style: body.link_style ?? {},
        nodes: ends.map(withLabel),
        suspend: body.suspend ?? false,
      });
      this.#occupy(entry);
      try {
        const udpPorts = await this.#wiring.join(entry, nodes);
        const parts = { entry, nodes, udpPorts };
        const link: OpenLink = { ...parts, object: linkObject({ ...parts, linkType: port.link_type, project: this.#host }) };
        await this.#commitCreated(link, udpPorts);
        return link.object;
      } catch (error) {
        this.#free(entry);
        throw error;
      }
    });
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
        await this.#host.commit({ action: 'link.updated', event: object, was: before }, () => {
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
    if (!one || !other || one === other || entry.nodes.some((end) => this.#ports.has(portKey(end)))) return false;
    this.#occupy(entry);
    const [end] = entry.nodes;
    const type = (end && one.findPort(end.adapter_number, end.port_number)?.link_type) ?? 'ethernet';
    const parts = { entry, nodes: [one, other] as const };
    this.#put({ ...parts, object: linkObject({ ...parts, linkType: type, project: this.#host }) });
    return true;
  }

  /**
   * Makes a link that was taken up on its computes; listeners are told why it cannot be. `udpPorts`: those it had. Those it has now
   * are for the caller to make durable.
   */
  restore(linkId: string, udpPorts?: UdpPorts): Promise<void> {
    return this.#locks.run(linkId, async () => {
      const link = this.#links.get(linkId);
      if (!link || link.udpPorts || link.nodes.some((node) => !node.isPresent)) return;
      try {
        const { entry, nodes } = link;
        const joined = udpPorts ? await this.#wiring.joinAgain(entry, nodes, udpPorts) : await this.#wiring.join(entry, nodes);
        this.#put({ ...link, udpPorts: joined });
      } catch (error) {
        const names = link.nodes.map((node) => node.entry.name).join(' and ');
        this.#host.notify('log.error', { message: `The link between ${names} is not usable: ${(error as Error).message}` });
      }
    });
  }

  async rewire(nodeId: string): Promise<void> {
    for (const linkId of this.idsOn(nodeId)) {
      if (this.open(linkId).udpPorts) continue;
      await this.restore(linkId);
      const { entry, object, udpPorts } = this.open(linkId);
      if (udpPorts) await this.#host.commit({ action: 'link.updated', event: object, was: entry, udpPorts }, () => undefined);
    }
  }

  async #delete(link: OpenLink, evenIfUnreachable: boolean): Promise<void> {
    const { entry, nodes, object, udpPorts } = link;
    if (udpPorts) {
      await this.#wiring.part(entry, nodes).catch((error: unknown) => {
        if (!evenIfUnreachable) throw error;
      });
    }
    try {
      await this.#host.commit({ action: 'link.deleted', event: object, was: entry, ...(udpPorts && { udpPorts }) }, () => {
        this.#links.delete(entry.link_id);
        this.#free(entry);
        this.#list = undefined;
        return object;
      });
    } catch (error) {
      if (udpPorts) await this.#wiring.joinAgain(entry, nodes, udpPorts).catch(() => undefined);
      throw error;
    }
  }

  async #commitCreated(link: OpenLink, udpPorts: UdpPorts): Promise<void> {
    try {
      await this.#host.commit({ action: 'link.created', event: link.object, was: null, udpPorts }, () => {
        this.#put(link);
        return link.object;
      });
    } catch (error) {
      await this.#wiring.part(link.entry, link.nodes).catch(() => undefined);
      throw error;
    }
  }

  exclusively<T>(linkId: string, fn: (link: OpenLink) => Promise<T>): Promise<T> {
    this.open(linkId);
    return this.#locks.run(linkId, () => fn(this.open(linkId)));
  }

  setCapture(link: OpenLink, capture: LinkCapture): LinkObject {
    const object = this.#objectOf({ ...link, capture });
    this.#put({ ...link, capture, object });
    return object;
  }

  idsOn(nodeId: string): string[] {
    return [...(this.#byNode.get(nodeId) ?? [])];
  }

  nodeChanged(node: OpenNode): void {
    this.captures.nodeChanged(node);
  }

  #objectOf(link: OpenLink): LinkObject {
    return linkObject({ ...link, linkType: link.object.link_type, project: this.#host });
  }

  open(linkId: string): OpenLink {
    const link = this.#links.get(linkId);
    if (!link) throw fault('link_not_found', { link_id: linkId });
    return link;
  }

  /** Nothing else is done with the two nodes meanwhile. Always in the same order: two links at once never wait for each other. */
  #withNodes<T>(one: string, other: string, fn: (nodes: Two<OpenNode>) => Promise<T>): Promise<T> {
    const [first, second] = one < other ? [one, other] : [other, one];
    const both = () => fn([this.#nodes.get(one), this.#nodes.get(other)]);
    return this.#nodes.locks.run(first, () => this.#nodes.locks.run(second, both));
  }

  #put(link: OpenLink): void {
    const { link_id, nodes } = link.entry;
    this.#links.set(link_id, link);
    this.#list = undefined;
    for (const { node_id } of nodes) {
      const links = this.#byNode.get(node_id) ?? new Set();
      this.#byNode.set(node_id, links.add(link_id));
    }
  }

  #occupy(entry: LinkEntry): void {
    for (const end of entry.nodes) {
      if (!this.#ports.has(portKey(end))) continue;
      const { name } = this.#nodes.get(end.node_id).entry;
      throw fault('port_taken', { adapter_number: end.adapter_number, port_number: end.port_number, name });
    }
    for (const end of entry.nodes) this.#ports.set(portKey(end), entry.link_id);
  }

  #free(entry: LinkEntry): void {
    for (const end of entry.nodes) {
      if (this.#ports.get(portKey(end)) === entry.link_id) this.#ports.delete(portKey(end));
      const links = this.#byNode.get(end.node_id);
      links?.delete(entry.link_id);
      if (links?.size === 0) this.#byNode.delete(end.node_id);
    }
  }
}

function portKey({ node_id, adapter_number, port_number }: LinkEnd): string {
  return `${node_id}/${adapter_number}/${port_number}`;
}
