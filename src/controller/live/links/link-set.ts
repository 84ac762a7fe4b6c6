/** The links of an open project as they are now: found by id and by node, listed as objects of the API, and which port has which link. */
import { isDeepStrictEqual } from 'node:util';
import { fault } from '../../../api/faults.ts';
import { EventStream } from '../../../lib/event-stream.ts';
import { KeyedMutex } from '../../../lib/mutex.ts';
import type { LinkEnd } from '../../../schema/link.ts';
import type { UdpPorts } from '../../log/records.ts';
import { OccupiedPorts } from '../../model/occupied-ports.ts';
import type { LinkEntry } from '../../model/topology.ts';
import { type LinkObject, linkObject, listed, type OpenLink, type ShownCapture } from './link.ts';

export class LinkSet {
  /** Links by port. A port is reserved before its link exists. */
  readonly ports = new OccupiedPorts();
  /** Ids of links that were deleted. */
  readonly deletions = new EventStream<string>();
  readonly #links = new Map<string, OpenLink>();
  readonly #locks = new KeyedMutex();
  #list: readonly LinkObject[] | undefined;

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

  entries(): LinkEntry[] {
    return Array.from(this.#links.values(), (link) => link.entry);
  }

  find(linkId: string): OpenLink | undefined {
    return this.#links.get(linkId);
  }

  /** @throws `link_not_found` */
  open(linkId: string): OpenLink {
    const link = this.find(linkId);
    if (!link) throw fault('link_not_found', { link_id: linkId });
    return link;
  }

  /** @throws `link_not_found` */
  get(linkId: string): LinkObject {
    return this.open(linkId).object;
  }

  idsOn(nodeId: string): string[] {
    return this.ports.linksOn(nodeId);
  }

  listOn(nodeId: string): LinkObject[] {
    return this.idsOn(nodeId).map((linkId) => listed(this.get(linkId)));
  }

  /** Ports of a node that have a link. */
  endsOn(nodeId: string): { adapter: number; port: number }[] {
    const ends = this.idsOn(nodeId).flatMap((linkId) => this.open(linkId).entry.nodes);
    const mirrors = this.ports.mirroredTo(nodeId).flatMap((linkId) => this.open(linkId).entry.mirror ?? []);
    return [...ends, ...mirrors]
      .filter((end) => end.node_id === nodeId)
      .map(({ adapter_number, port_number }) => ({ adapter: adapter_number, port: port_number }));
  }

  isTaken(end: LinkEnd): boolean {
    return this.ports.isTaken(end);
  }

  /** Returns the UDP ports in use, by link. */
  udpPorts(): Record<string, UdpPorts> {
    const ports: Record<string, UdpPorts> = {};
    for (const [linkId, link] of this.#links) if (link.udpPorts) ports[linkId] = link.udpPorts;
    return ports;
  }

  /** Runs `fn` while no other change of the link runs. @throws `link_not_found` */
  exclusively<T>(linkId: string, fn: (link: OpenLink) => Promise<T>): Promise<T> {
    this.open(linkId);
    return this.#locks.run(linkId, () => fn(this.open(linkId)));
  }

  /** Runs `fn` like `exclusively`, unless the link does not exist any more. */
  async ifPresent(linkId: string, fn: (link: OpenLink) => Promise<void>): Promise<void> {
    await this.#locks.run(linkId, async () => {
      const link = this.#links.get(linkId);
      if (link) await fn(link);
    });
  }

  /** Adds a link whose ports are reserved already. */
  put(link: OpenLink): void {
    this.#links.set(link.entry.link_id, link);
    this.#list = undefined;
    this.ports.attach(link.entry);
  }

  remove({ entry }: OpenLink): void {
    this.#links.delete(entry.link_id);
    this.ports.free(entry);
    this.#list = undefined;
  }

  /** Sets the capture that clients see from now on. Returns undefined when they saw the same before. */
  showCapture(linkId: string, capture: ShownCapture): LinkObject | undefined {
    const before = this.open(linkId);
    if (isDeepStrictEqual(before.capture, capture)) return undefined;
    const { link_type: linkType, project_id: projectId } = before.object;
    const object = linkObject({ ...before, capture }, linkType, projectId);
    this.put({ ...before, capture, object });
    return object;
  }
}
