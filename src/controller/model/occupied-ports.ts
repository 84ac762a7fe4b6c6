/** Indexes the links of a project by port and by node. */
import { fault } from '../../api/faults.ts';
import type { LinkEnd, LinkMirror } from '../../schema/link.ts';
import type { LinkEntry } from './topology.ts';

export class OccupiedPorts {
  /** `node/adapter/port` to link. */
  readonly #ports = new Map<string, string>();
  readonly #byNode = new Map<string, Set<string>>();
  /** Node to the links that are mirrored to one of its ports. */
  readonly #mirrored = new Map<string, Set<string>>();

  isTaken(end: LinkEnd): boolean {
    return this.#ports.has(portKey(end));
  }

  /** Takes all ports of a link, or none. `nameOf` a node, for people. @throws `port_taken` */
  occupy({ link_id, nodes, mirror }: LinkEntry, nameOf: (nodeId: string) => string): void {
    for (const end of mirror ? [...nodes, mirror] : nodes) {
      const { adapter_number, port_number, node_id } = end;
      if (this.isTaken(end)) throw fault('port_taken', { adapter_number, port_number, name: nameOf(node_id) });
    }
    for (const end of nodes) this.#ports.set(portKey(end), link_id);
    if (mirror) this.occupyMirror(link_id, mirror, nameOf);
  }

  /** Takes the port to which a link is mirrored. @throws `port_taken` */
  occupyMirror(linkId: string, mirror: LinkMirror, nameOf: (nodeId: string) => string): void {
    const { adapter_number, port_number, node_id } = mirror;
    if (this.isTaken(mirror)) throw fault('port_taken', { adapter_number, port_number, name: nameOf(node_id) });
    this.#ports.set(portKey(mirror), linkId);
    this.#mirrored.set(node_id, (this.#mirrored.get(node_id) ?? new Set()).add(linkId));
  }

  freeMirror(linkId: string, mirror: LinkMirror): void {
    if (this.#ports.get(portKey(mirror)) !== linkId) return;
    this.#ports.delete(portKey(mirror));
    const links = this.#mirrored.get(mirror.node_id);
    if (links?.delete(linkId) && links.size === 0) this.#mirrored.delete(mirror.node_id);
  }

  /** The link exists from now on. */
  attach({ link_id, nodes }: LinkEntry): void {
    for (const { node_id } of nodes) {
      const links = this.#byNode.get(node_id) ?? new Set();
      this.#byNode.set(node_id, links.add(link_id));
    }
  }

  free({ link_id, nodes, mirror }: LinkEntry): void {
    if (mirror) this.freeMirror(link_id, mirror);
    for (const end of nodes) {
      if (this.#ports.get(portKey(end)) === link_id) this.#ports.delete(portKey(end));
      const links = this.#byNode.get(end.node_id);
      links?.delete(link_id);
      if (links?.size === 0) this.#byNode.delete(end.node_id);
    }
  }

  /** Ids of the links that exist on a node. */
  linksOn(nodeId: string): string[] {
    return [...(this.#byNode.get(nodeId) ?? [])];
  }

  /** Ids of the links that are mirrored to a port of a node. */
  mirroredTo(nodeId: string): string[] {
    return [...(this.#mirrored.get(nodeId) ?? [])];
  }
}

function portKey({ node_id, adapter_number, port_number }: LinkEnd): string {
  return `${node_id}/${adapter_number}/${port_number}`;
}
