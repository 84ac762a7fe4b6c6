/** Makes links of a project again on their computes: when it is opened, when a compute is connected again, and after a change that failed. */
import { isDeepStrictEqual } from 'node:util';
import { fault, isFault } from '../../../api/faults.ts';
import { concurrency, forEachBounded } from '../../../lib/bounded.ts';
import { EventStream } from '../../../lib/event-stream.ts';
import type { Problem } from '../../../schema/problem.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import type { UdpPorts } from '../../log/records.ts';
import { type LinkEntry, withoutExtras } from '../../model/topology.ts';
import type { ProjectContext } from '../host/project-context.ts';
import { isOfCompute, mayPass } from '../nodes/node-verbs.ts';
import type { OpenNode } from '../nodes/open-node.ts';
import type { LinkObject, OpenLink, Two } from './link.ts';
import type { LinkSet } from './link-set.ts';
import { isOnSlice, type LinkWiring } from './link-wiring.ts';

interface Refused {
  readonly reason: unknown;
}

interface LeftLink {
  readonly entry: LinkEntry;
  readonly nodes: Two<OpenNode>;
  readonly udpPorts: UdpPorts | undefined;
}

export class LinkRecovery {
  readonly #context: ProjectContext;
  readonly #links: LinkSet;
  readonly #wiring: LinkWiring;
  /** Links that were refused, and that their computes still have. Their ports are not free. */
  readonly #left = new Set<LeftLink>();
  /** Emits when a link may not be on its computes as the project has it: `retry` has to be called. */
  readonly doubts = new EventStream<void>();

  constructor(context: ProjectContext, links: LinkSet, wiring: LinkWiring) {
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

  /** Makes a link that has a problem on its computes; one without stays as it is. @throws what its computes answer, `link_failed` */
  reconnect(linkId: string): Promise<LinkObject> {
    return this.#links.exclusively(linkId, async (link) => {
      if (link.problem === undefined) return link.object;
      const away = link.nodes.find((node) => !isUsable(node));
      if (away)
        throw fault('link_failed', { reason: `${away.entry.name} cannot be used: ${away.problem ?? 'it is not made yet'}` });
      const refused = await this.#connectAndKeep(link);
      if (refused) throw refused.reason;
      return this.#links.get(linkId);
    });
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

  /**
   * Filters of a link, or the link itself (`all`), were refused half-way: brings its computes to what the project has, or has `retry` do so.
   * The link's lock is held. Never rejects.
   */
  async revert(linkId: string, what: 'filters' | 'all'): Promise<void> {
    const link = this.#links.open(linkId);
    const { entry, nodes, udpPorts } = link;
    // Links of nodes that are not usable are connected when these are.
    if (!udpPorts || !areUsable(link)) return;
    const wiring = this.#wiring;
    try {
      const isChanged = what === 'filters' && (await succeeds(wiring.change(entry, nodes, udpPorts)));
      if (isChanged) return;
      const connected = await wiring.reconnect(link, udpPorts);
      this.#connected(link, connected);
      if (!isDeepStrictEqual(connected, udpPorts)) await this.#keepPorts(linkId);
      await wiring.mirror(entry, nodes, connected);
    } catch (error) {
      this.#failed(this.#links.open(linkId), error);
      this.doubts.emit();
    }
  }

  /** Removes a link that was refused from its computes, or has `retry` do so; its ports are free then. Never rejects. */
  async remove(entry: LinkEntry, nodes: Two<OpenNode>, udpPorts?: UdpPorts): Promise<void> {
    try {
      await this.#removeLeft({ entry, nodes, udpPorts });
    } catch (error) {
      if (!isShortOfSpace(error)) return this.#links.ports.free(entry);
      this.#left.add({ entry, nodes, udpPorts });
      this.doubts.emit();
    }
  }

  async #removeLeft({ entry, nodes, udpPorts }: LeftLink): Promise<void> {
    await this.#wiring.unmirror(entry, nodes, udpPorts);
    await this.#wiring.disconnect(entry, nodes);
    this.#links.ports.free(entry);
  }

  /**
   * Links of slices that could not be connected although their nodes exist, those that lacked something, and those that were refused.
   * @returns whether none is left
   */
  async retry(): Promise<boolean> {
    for (const left of this.#left) {
      await this.#retryRemoval(left);
      if (this.#left.has(left)) break;
    }
    const isLeft = (link: OpenLink) => link.problem !== undefined && link.nodes.some(isOnSlice) && areUsable(link);
    await forEachBounded(this.#idsOf(isLeft), concurrency, (linkId) => this.#reconnectOne(linkId));
    const isLacking = (link: OpenLink) => link.mayPass === true && areUsable(link);
    // Where one finds no port or space, the others would look for it in vain.
    for (const linkId of this.#idsOf(isLacking)) {
      await this.#reconnectOne(linkId);
      if (this.#links.find(linkId)?.mayPass) break;
    }
    return this.#left.size === 0 && !Array.from(this.#links.all()).some((link) => isLeft(link) || isLacking(link));
  }

  /** Nodes that are gone have taken their ends along. */
  async #retryRemoval(left: LeftLink): Promise<void> {
    const failed = (error: unknown) => (isShortOfSpace(error) ? undefined : this.#links.ports.free(left.entry));
    await this.#removeLeft(left).catch(failed);
    if (!left.entry.nodes.some((end) => this.#links.isTaken(end))) this.#left.delete(left);
  }

  #idsOf(isWanted: (link: OpenLink) => boolean): string[] {
    return Array.from(this.#links.all()).flatMap((link) => (isWanted(link) ? link.entry.link_id : []));
  }

  /** Nothing happens to a link that has been deleted meanwhile. */
  async #reconnectOne(linkId: string): Promise<void> {
    await this.#links.ifPresent(linkId, async (link) => {
      if (areUsable(link)) await this.#connectAndKeep(link);
    });
  }

  /** @returns why it could not be connected */
  async #connectAndKeep(link: OpenLink, options: { readonly mayLeadElsewhere?: boolean } = {}): Promise<Refused | undefined> {
    const { link_id } = link.entry;
    const refused = await this.#connect(link, link.udpPorts, options);
    if (!isDeepStrictEqual(this.#links.open(link_id).udpPorts, link.udpPorts)) await this.#keepPorts(link_id);
    return refused;
  }

  /** A node stays where it is: the other ends of its links may have been joined to where it was to move. Never rejects. */
  async rejoin(nodeId: string): Promise<void> {
    for (const linkId of this.#links.idsOn(nodeId)) {
      await this.#links
        .ifPresent(linkId, async (link) => {
          if (link.udpPorts && areUsable(link)) await this.#connectAndKeep(link, { mayLeadElsewhere: true });
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

  /** @param udpPorts those it may still have. @returns why it could not be connected */
  async #connect(link: OpenLink, udpPorts: UdpPorts | undefined, { mayLeadElsewhere = false } = {}): Promise<Refused | undefined> {
    const { entry, nodes, problem } = link;
    const wiring = this.#wiring;
    const isUnsure = mayLeadElsewhere || problem !== undefined;
    try {
      const connected = udpPorts
        ? await wiring.reconnect(link, udpPorts, { mayLeadElsewhere: isUnsure })
        : await wiring.connect(entry, nodes);
      this.#connected(link, connected);
      await this.#mirror(this.#links.open(entry.link_id));
      return undefined;
    } catch (error) {
      this.#failed(link, error);
      return { reason: error };
    }
  }

  #connected({ problem, mayPass: _mayPass, ...link }: OpenLink, udpPorts: UdpPorts): void {
    this.#links.put({ ...link, udpPorts });
    if (problem !== undefined) this.#context.notify('failure.ended', { link_id: link.entry.link_id });
  }

  #failed(link: OpenLink, error: unknown): void {
    const { message } = error as Error;
    this.#links.put({ ...link, problem: message, mayPass: isFault(error, 'ports_exhausted') || mayPass(error) });
    if (message === link.problem) return;
    reportLink(this.#context, link.entry, error);
    this.#context.notify('log.error', { message: `The link between ${namesOf(link)} is not usable: ${message}` });
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

function succeeds(request: Promise<void>): Promise<boolean> {
  return request.then(
    () => true,
    () => false,
  );
}

/** Whether a compute keeps a link for want of space. One that is away is no reason to keep the ports of other computes. */
function isShortOfSpace(error: unknown): boolean {
  return mayPass(error) && !isOfCompute(error);
}

function areUsable({ nodes }: OpenLink): boolean {
  return nodes.every(isUsable);
}

function isUsable(node: OpenNode): boolean {
  return node.isPresent && node.problem === undefined;
}

/** Sends all who have the project open why a link could not be made at its computes. The code is that of `docs/errors.md`, or empty. */
export function reportLink(project: Pick<ProjectContext, 'notify'>, { link_id, nodes }: LinkEntry, error: unknown): void {
  const ends = nodes.map(({ node_id, adapter_number, port_number }) => ({ node_id, adapter_number, port_number }));
  const code = isFault(error) ? error.code : '';
  project.notify('failure.reported', { link_id, nodes: ends, message: (error as Error).message, code });
}

function namesOf({ nodes }: OpenLink): string {
  return nodes.map(({ entry }) => entry.name).join(' and ');
}
