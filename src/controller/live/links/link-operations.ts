/**
 * Operations of clients on the links of an open project. A port is reserved before anything else happens, so that two concurrent
 * requests never get the same.
 */
import { isDeepStrictEqual } from 'node:util';
import { fault } from '../../../api/faults.ts';
import { checkFilters } from '../../../api/filters.ts';
import { mergePatch } from '../../../lib/merge-patch.ts';
import type { Filters } from '../../../schema/filter.ts';
import type { LinkInput, LinkMirror, LinkPatch, MirrorOfLink } from '../../../schema/link.ts';
import type { LinkSchedule, ScheduleOfLink } from '../../../schema/schedule.ts';
import type { ProjectChange, UdpPorts } from '../../log/records.ts';
import { canonical } from '../../model/canonical.ts';
import { type LinkEntry, type LinkExtras, withoutExtras } from '../../model/topology.ts';
import { commitPrepared, type Prepared } from '../host/prepared.ts';
import type { ProjectContext } from '../host/project-context.ts';
import type { OpenNode } from '../nodes/open-node.ts';
import type { ProjectNodes } from '../nodes/project-nodes.ts';
import { deleteLink, type LinkParts } from './delete-links.ts';
import { desktopFilters, ofDesktop, withUnseen } from './filter-forms.ts';
import {
  filteringEnd,
  type LinkObject,
  linkObject,
  type OpenLink,
  portsToJoin,
  relabelled,
  requireFilter,
  type Two,
  twoEnds,
  withLabel,
} from './link.ts';
import { changeMirror, requireMirror } from './link-mirrors.ts';
import { reportLink } from './link-recovery.ts';
import type { LinkSet } from './link-set.ts';
import type { LinkWiring } from './link-wiring.ts';

/** A client's request with filters that `checkFilters` accepted. */
type CheckedLink = LinkInput & LinkExtras & { readonly filters: Filters };

/** State of a link on its computes: without ports it has yet to be connected. */
type Wired = Pick<OpenLink, 'udpPorts' | 'problem' | 'mayPass'>;

export class LinkOperations {
  readonly #context: ProjectContext;
  readonly #parts: LinkParts;
  readonly #links: LinkSet;
  readonly #wiring: LinkWiring;
  readonly #nodes: ProjectNodes;

  constructor(context: ProjectContext, parts: LinkParts, nodes: ProjectNodes) {
    this.#context = context;
    this.#parts = parts;
    this.#links = parts.links;
    this.#wiring = parts.wiring;
    this.#nodes = nodes;
  }

  /**
   * An id in the body is not looked at. `isKept`: the link is part of the project also when its computes cannot connect it now.
   * @throws `link_id_taken` and the refusals of ports
   */
  async create(body: LinkInput & LinkExtras, linkId?: string, { isKept = false } = {}): Promise<LinkObject> {
    const ends = twoEnds(body.nodes);
    const checked = { ...body, filters: checkFilters(body.filters ?? {}) };
    const [one, other] = [this.#nodes.get(ends[0].node_id), this.#nodes.get(ends[1].node_id)];
    if (one === other) throw fault('link_itself', { name: one.entry.name });
    return this.#nodes.locks.runAll([one.id, other.id], async () => {
      const prepared = await this.prepare(checked, [this.#nodes.get(one.id), this.#nodes.get(other.id)], { linkId, isKept });
      await commitPrepared(this.#context, [prepared]);
      return prepared.result();
    });
  }

  /** Makes a link on its computes; the locks of its nodes are held. */
  async prepare(
    body: CheckedLink,
    nodes: Two<OpenNode>,
    {
      linkId: link_id = crypto.randomUUID(),
      isKept = false,
    }: { readonly linkId?: string | undefined; readonly isKept?: boolean } = {},
  ): Promise<Prepared<LinkObject>> {
    const ends = twoEnds(body.nodes);
    if (this.#links.find(link_id)) throw fault('link_id_taken', { link_id });
    const [port] = portsToJoin(ends, nodes);
    const { filters, link_style = {}, suspend = false, schedule, mirror } = body;
    const fields = { filters, link_id, link_style, nodes: ends.map(withLabel), suspend };
    const entry = canonical<LinkEntry>({ ...fields, ...(schedule && { schedule }), ...(mirror && { mirror }) });
    requireFilter(entry, nodes);
    if (mirror) requireMirror(entry, nodes, { mirror, node: this.#nodes.get(mirror.node_id) });
    this.#links.ports.occupy(entry, (nodeId) => nodes.find((node) => node.id === nodeId)?.entry.name ?? nodeId);
    // A node that its compute does not have is connected when it is made there.
    const isMade = nodes.every(({ isPresent }) => isPresent);
    const { udpPorts, ...later } = isMade ? await (isKept ? this.#wireOrWait(entry, nodes) : this.#wire(entry, nodes)) : {};
    const parts = { entry, nodes, ...(udpPorts && { udpPorts }), ...later };
    const link: OpenLink = {
      ...parts,
      object: linkObject(parts, port.link_type, this.#context.projectId),
    };
    const apply = () => {
      this.#links.put(link);
      if (link.mayPass) this.#parts.recovery.doubts.emit();
      return link.object;
    };
    const revert = async () => {
      if (udpPorts) await this.#parts.recovery.remove(entry, nodes, udpPorts);
      else this.#links.ports.free(entry);
    };
    const event = { ...link.object, ...(entry.schedule && { schedule: entry.schedule }), ...(mirror && { mirror }) };
    const change: ProjectChange = { action: 'link.created', event, was: null, ...(udpPorts && { udpPorts }), undoable: true };
    return { commit: { change, apply }, revert, result: () => link.object };
  }

  /** Joins the ports of a new link and mirrors it; the ports are free again when that fails. */
  async #wire(entry: LinkEntry, nodes: Two<OpenNode>): Promise<Wired> {
    let udpPorts: UdpPorts | undefined;
    try {
      udpPorts = await this.#wiring.connect(entry, nodes);
      await this.#wiring.mirror(entry, nodes, udpPorts);
      return { udpPorts };
    } catch (error) {
      await this.#parts.recovery.remove(entry, nodes, udpPorts);
      reportLink(this.#context, entry, error);
      throw error;
    }
  }

  /** Joins the ports of a link, now or later. */
  async #wireOrWait(entry: LinkEntry, nodes: Two<OpenNode>): Promise<Wired> {
    try {
      const udpPorts = await this.#wiring.connect(entry, nodes);
      await this.#wiring.mirror(entry, nodes, udpPorts);
      return { udpPorts };
    } catch (error) {
      reportLink(this.#context, entry, error);
      return { problem: (error as Error).message, mayPass: true };
    }
  }

  /**
   * Changes filters, style, suspension, labels of the ends, and Patchbay's own fields; other keys are ignored. Filters of the
   * desktop (`isDesktop`) are in the form that it is shown. @throws `schedule_unsupported`
   */
  async update(linkId: string, body: LinkInput & LinkExtras, isDesktop = false): Promise<LinkObject> {
    if (body.mirror !== undefined) return this.setMirror(linkId, body.mirror);
    return this.#change(linkId, ({ filters }) => {
      const given = body.filters && withUnseen(body.filters, isDesktop ? desktopFilters(filters) : filters);
      return given ? { ...body, filters: isDesktop ? ofDesktop(given, filters) : given } : body;
    });
  }

  /** Merges filters and style with those of the link, so that two clients can change one filter each at the same time. */
  patch(linkId: string, { filters, link_style, ...rest }: LinkPatch): Promise<LinkObject> {
    return this.#change(linkId, (before) => ({
      ...rest,
      ...(filters !== undefined && { filters: merged(before.filters, filters) }),
      ...(link_style !== undefined && { link_style: merged(before.link_style, link_style) }),
    }));
  }

  /** Changes a link to the fields that follow from its present ones. */
  #change(linkId: string, fieldsAfter: (before: LinkEntry) => LinkInput & LinkExtras): Promise<LinkObject> {
    return this.#links.exclusively(linkId, async (link) => {
      const before = link.entry;
      const body = fieldsAfter(before);
      const filters = body.filters && checkFilters(body.filters);
      if (body.schedule) requireSchedules(link);
      const { schedule: _schedule, ...rest } = before;
      const plain = withoutExtras(before);
      const after = canonical<LinkEntry>({
        ...(body.schedule === undefined ? before : rest),
        ...(body.schedule && { schedule: body.schedule }),
        ...(filters && { filters }),
        ...(body.link_style && { link_style: body.link_style }),
        ...(body.suspend !== undefined && { suspend: body.suspend }),
        ...(body.nodes && { nodes: relabelled(before.nodes, body.nodes) }),
      });
      if (isDeepStrictEqual(before, after)) return link.object;
      const isOtherSchedule = !isDeepStrictEqual(before.schedule, after.schedule);
      const isOtherTraffic =
        isOtherSchedule || before.suspend !== after.suspend || !isDeepStrictEqual(before.filters, after.filters);
      if (isOtherTraffic) requireFilter(after, link.nodes);
      // An earlier change may have left its computes otherwise than the project has it.
      if (isOtherTraffic && link.problem !== undefined) await this.#parts.recovery.revert(linkId, 'all');
      const now = this.#links.open(linkId);
      const { nodes, udpPorts } = now;
      const { link_type: linkType, project_id: projectId } = link.object;
      const object = linkObject({ ...link, entry: after }, linkType, projectId);
      try {
        if (isOtherTraffic && udpPorts) await this.#wiring.change(after, nodes, udpPorts);
        // Only a change of the schedule is recorded with it: it can be long.
        const event = isOtherSchedule ? { ...object, schedule: after.schedule ?? null } : object;
        const was = isOtherSchedule ? { ...plain, schedule: before.schedule ?? null } : plain;
        await this.#context.commit({ action: 'link.updated', event, was, undoable: true }, () => {
          this.#links.put({ ...now, entry: after, object });
          return object;
        });
      } catch (error) {
        if (isOtherTraffic) await this.#parts.recovery.revert(linkId, 'filters');
        throw error;
      }
      return object;
    });
  }

  delete(linkId: string): Promise<void> {
    return this.#links.exclusively(linkId, (link) => deleteLink(this.#context, this.#parts, link));
  }

  /** Null: the link is mirrored no longer. A change of its own, as no request changes more. */
  setMirror(linkId: string, mirror: LinkMirror | null): Promise<LinkObject> {
    return this.#links.exclusively(linkId, (link) => {
      const to = mirror ? { mirror, node: this.#nodes.get(mirror.node_id) } : undefined;
      return changeMirror(this.#context, this.#parts, link, to);
    });
  }

  /** @throws `mirror_missing` */
  mirrorOf(linkId: string): LinkMirror {
    const { mirror } = this.#links.open(linkId).entry;
    if (!mirror) throw fault('mirror_missing', { link_id: linkId });
    return mirror;
  }

  /** Lists the mirrors of all links that have one. */
  mirrors(): MirrorOfLink[] {
    const links = Array.from(this.#links.all());
    return links.flatMap(({ entry: { link_id, mirror } }) => (mirror ? [{ link_id, ...mirror }] : []));
  }

  /** @throws `schedule_missing` */
  scheduleOf(linkId: string): LinkSchedule {
    const { schedule } = this.#links.open(linkId).entry;
    if (!schedule) throw fault('schedule_missing', { link_id: linkId });
    return schedule;
  }

  schedules(): ScheduleOfLink[] {
    return Array.from(this.#links.all()).flatMap(({ entry: { link_id, schedule } }) => (schedule ? [{ link_id, schedule }] : []));
  }

  /** Takes up a link of the project file; false when its ends are not there, or a port has a link already. */
  add(stored: LinkEntry): boolean {
    const entry = this.#withUsableMirror(stored);
    const [one, other] = entry.nodes.map((end) => this.#nodes.find(end.node_id));
    if (!one || !other || one === other || entry.nodes.some((end) => this.#links.isTaken(end))) return false;
    this.#links.ports.occupy(entry, (nodeId) => this.#nodes.get(nodeId).entry.name);
    const [end] = entry.nodes;
    const type = (end && one.findPort(end.adapter_number, end.port_number)?.link_type) ?? 'ethernet';
    const parts = { entry, nodes: [one, other] as const };
    this.#links.put({ ...parts, object: linkObject(parts, type, this.#context.projectId) });
    return true;
  }

  /** A file may name a port that does not exist, or has a link. */
  #withUsableMirror(entry: LinkEntry): LinkEntry {
    const { mirror, ...rest } = entry;
    if (!mirror) return entry;
    const isUsable = this.#nodes.find(mirror.node_id)?.findPort(mirror.adapter_number, mirror.port_number);
    return isUsable && !this.#links.isTaken(mirror) ? entry : canonical<LinkEntry>(rest);
  }
}

function merged(before: object, patch: object | null): Readonly<Record<string, unknown>> {
  return (patch === null ? {} : mergePatch(before, patch)) as Readonly<Record<string, unknown>>;
}

/** @throws `schedule_unsupported` */
export function requireSchedules({ entry, nodes }: Pick<OpenLink, 'entry' | 'nodes'>): void {
  const end = filteringEnd(nodes);
  const node = nodes[end ?? 0];
  if (end === undefined || !node.requireCompute().hasLinkFeature('schedules'))
    throw fault('schedule_unsupported', { link_id: entry.link_id, name: node.entry.name });
}
