/**
 * The captures of the links of an open project: a list for each link, in which GNS3's capture is the first.
 *
 * Theory of operation. The compute of one end writes the file and keeps writing it while the controller is away. Here stands which
 * captures there should be, in the states of `capture.ts`; every change of state is stored before it is acknowledged. What is done
 * with the captures of a link is done one after the other, under the link's lock.
 */
import { isDeepStrictEqual } from 'node:util';
import { fault } from '../../../api/faults.ts';
import type { Stream } from '../../../api/route.ts';
import { concurrency, forEachBounded } from '../../../lib/bounded.ts';
import type { EventStream } from '../../../lib/event-stream.ts';
import {
  type CaptureEntry,
  type CaptureStopped,
  gns3CaptureId,
  type LinkCapture,
  type LinkCaptureStart,
} from '../../../schema/capture.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import type { ProjectContext } from '../host/project-context.ts';
import { endOf, type LinkObject, type OpenLink, type ShownCapture } from '../links/link.ts';
import type { OpenNode } from '../nodes/open-node.ts';
import type { ProjectCaptureStore } from './capture-store.ts';
import { capturesOnCompute, startOnCompute, stopOnCompute, streamFromCompute } from './compute-captures.ts';
import {
  captureOf,
  isExpired,
  isStarted,
  linkCapture,
  planCapture,
  resumeRequest,
  type StoredCapture,
  shownCapture,
  withLinkType,
  withoutEnd,
} from './stored-capture.ts';

/** The project's links, as far as captures need them. */
interface CapturedLinks {
  find(linkId: string): OpenLink | undefined;
  /** @throws `link_not_found` */
  open(linkId: string): OpenLink;
  idsOn(nodeId: string): string[];
  /** Runs `fn` while no other change of the link runs. @throws `link_not_found` */
  exclusively<T>(linkId: string, fn: (link: OpenLink) => Promise<T>): Promise<T>;
  /** Shows the capture at its link; returns undefined when the link is shown like this already. */
  showCapture(linkId: string, shown: ShownCapture): LinkObject | undefined;
  /** Ids of links that were deleted. */
  readonly deletions: EventStream<string>;
}

interface CapturedEnd {
  readonly link: OpenLink;
  readonly end: 0 | 1;
}
/** Limit of captures of a link, GNS3's included: each frame is written for each of them. */
const mostCaptures = 32;

type Lists = ReadonlyMap<string, readonly StoredCapture[]>;

export class ProjectCaptures {
  readonly #host: ProjectContext;
  readonly #links: CapturedLinks;
  readonly #store: ProjectCaptureStore;
  /** Captures by link; a list may be empty. The lists are replaced, never changed. */
  readonly #lists = new Map<string, readonly StoredCapture[]>();
  /** Links whose captures outlive their deletion. */
  readonly #kept = new Set<string>();
  /** The project is being closed: captures are stored for its next opening. */
  #isClosing = false;

  constructor(
    host: ProjectContext,
    links: CapturedLinks,
    nodes: { readonly changes: EventStream<OpenNode> },
    store: ProjectCaptureStore,
  ) {
    this.#host = host;
    this.#links = links;
    this.#store = store;
    nodes.changes.subscribe((node) => this.#nodeChanged(node));
    links.deletions.subscribe((linkId) => this.#forget(linkId));
  }

  /** All but GNS3's, which is shown with the link, in the order in which they were started. */
  list(linkId: string): LinkCapture[] {
    const link = this.#links.open(linkId);
    const others = (this.#lists.get(linkId) ?? []).filter(({ capture_id }) => capture_id !== gns3CaptureId);
    return others.map((capture) => linkCapture(this.#host, link, capture));
  }

  /**
   * @param id a new one; without it, GNS3's capture is started.
   * @throws `capture_link_active`, `captures_full`, `capture_no_end`, `invalid_request`, `capture_file_invalid`, `storage_failed`,
   * and what the compute answers
   */
  start(linkId: string, body: LinkCaptureStart, id: string = gns3CaptureId): Promise<LinkCapture> {
    return this.#links.exclusively(linkId, async (link) => {
      const known = find(this.#lists, linkId, id);
      if (known?.state === 'capturing') throw fault('capture_link_active', { link_id: linkId });
      const others = (this.#lists.get(linkId) ?? []).filter((one) => one !== known && one.state !== 'ended');
      if (others.length >= mostCaptures) throw fault('captures_full', { link_id: linkId, most: mostCaptures });
      return linkCapture(this.#host, link, await this.#start(link, id, withLinkType(link, body)));
    });
  }

  /**
   * Resolves when the file is complete. Without `id` GNS3's is stopped; no error when there is none.
   * @throws `capture_not_found`, `storage_failed`, and what the compute answers; the capture continues then
   */
  stop(linkId: string, id?: string): Promise<void> {
    return this.#links.exclusively(linkId, async (link) => {
      const capture = this.#get(linkId, id);
      if (capture) await this.#stop(link, capture);
    });
  }

  /**
   * `fn` deletes these links and makes them anew, at other ports maybe: their captures continue in their files, also when it
   * fails. They are stored as waiting first: the server may end meanwhile. @throws `storage_failed`, and what `fn` throws
   */
  async keepDuring(linkIds: readonly string[], fn: () => Promise<void>): Promise<void> {
    const kept = linkIds.map((linkId) => [linkId, this.#lists.get(linkId) ?? []] as const);
    for (const [linkId, captures] of kept)
      for (const capture of captures) if ('end' in capture) await this.#remember(linkId, withoutEnd(capture, 'waiting'));
    for (const linkId of linkIds) this.#kept.add(linkId);
    try {
      await fn();
    } finally {
      for (const linkId of linkIds) this.#kept.delete(linkId);
      for (const [linkId, captures] of kept) await this.#continue(linkId, captures);
    }
  }

  /**
   * `fn` moves a node to another compute, for which the ports of its links are made anew: their captures continue in files of the same
   * names, at an end that runs then. They are stored as waiting first, as in `keepDuring`. @throws `storage_failed`, and what `fn` throws
   */
  async keepOnMove<T>(nodeId: string, fn: () => Promise<T>): Promise<T> {
    const made = this.#links.idsOn(nodeId).flatMap((linkId) => {
      const running = (this.#lists.get(linkId) ?? []).filter((one) => 'end' in one);
      return running.map((capture) => [linkId, capture] as const);
    });
    for (const [linkId, capture] of made) await this.#remember(linkId, withoutEnd(capture, 'waiting'));
    let isMoved = false;
    try {
      const moved = await fn();
      isMoved = true;
      return moved;
    } finally {
      for (const [linkId, capture] of made) {
        const now = isMoved ? withoutEnd(capture, 'waiting') : capture;
        await this.#later(linkId, capture, () => this.#enter(linkId, now)).catch(() => undefined);
        if (isMoved) await this.#resume(linkId, now);
      }
    }
  }

  /** A link that was made anew has forgotten them. */
  async #continue(linkId: string, captures: readonly StoredCapture[]): Promise<void> {
    const link = this.#links.find(linkId);
    for (const capture of captures) {
      const known = find(this.#lists, linkId, capture.capture_id);
      if (!link) await this.#store.delete(linkId, capture.capture_id).catch(() => undefined);
      else if (known) await this.#enter(linkId, known);
      else await this.#enter(linkId, 'end' in capture ? withoutEnd(capture, 'waiting') : capture);
    }
    for (const node of link?.nodes ?? []) this.#nodeChanged(node);
  }

  /** The file as it is written, to the capture's end. @throws `capture_not_found`, `capture_link_missing`, and what the compute answers */
  async stream(linkId: string, id?: string): Promise<Stream> {
    const link = this.#links.open(linkId);
    const capture = this.#get(linkId, id);
    if (capture?.state !== 'capturing') throw fault('capture_link_missing', { link_id: linkId });
    return streamFromCompute(link, capture.end, capture.capture_id);
  }

  /**
   * Resumes captures after the project was opened, with its links and nodes: computes that answer report their running captures.
   */
  async restore(computes: readonly RegisteredCompute[]): Promise<void> {
    for (const [linkId, capture] of this.#store.read()) {
      if (!this.#links.find(linkId)) this.#store.delete(linkId, capture.capture_id).catch(() => undefined);
      else this.#show(linkId, capture.state === 'capturing' ? { ...capture, state: 'unreachable' } : capture);
    }
    await forEachBounded(computes, concurrency, (compute) => this.reconcile(compute));
    for (const linkId of [...this.#lists.keys()]) for (const node of this.#links.open(linkId).nodes) this.#nodeChanged(node);
  }

  /**
   * Adopts the captures that a reconnected compute reports. Captures that it no longer writes have ended. @throws the compute's
   * errors
   */
  async reconcile(compute: RegisteredCompute): Promise<void> {
    const before = new Map(this.#lists);
    const captured = new Set<StoredCapture | undefined>();
    const entries = await capturesOnCompute(compute, this.#host.projectId);
    await forEachBounded(entries, concurrency, async (entry) => {
      const place = this.#locate(entry);
      if (place) captured.add(await this.#adopt(place, entry, before));
    });
    for (const [linkId, list] of before) {
      for (const capture of list) {
        if (!('end' in capture) || captured.has(capture)) continue;
        if (this.#links.find(linkId)?.nodes[capture.end].compute !== compute) continue;
        this.#warn(`The capture ${capture.capture_file_name} has ended: its compute does not know it any more`);
        await this.#settle(linkId, capture, 'ended');
      }
    }
  }

  /** A compute says that a capture has ended by itself. */
  async ended(event: CaptureStopped): Promise<void> {
    const place = this.#locate(event);
    const linkId = place?.link.entry.link_id ?? '';
    const capture = find(this.#lists, linkId, event.capture_id ?? gns3CaptureId);
    if (capture?.state === 'capturing' && capture.end === place?.end) await this.#settle(linkId, capture, 'ended');
  }

  /**
   * Prepares for the project's closing: running captures wait for the next opening, and ended ones are forgotten as in GNS3. Never
   * rejects.
   */
  async close(): Promise<void> {
    this.#isClosing = true;
    const all = [...this.#lists].flatMap(([linkId, list]) => list.map((capture) => this.#remember(linkId, capture)));
    const results = await Promise.allSettled(all);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) this.#warn(`Captures will not be resumed at the next opening: ${(failed.reason as Error).message}`);
  }

  /** GNS3's when no id is given, undefined when there is none. @throws `capture_not_found` */
  #get(linkId: string, id?: string): StoredCapture | undefined {
    if (id === undefined) return find(this.#lists, linkId, gns3CaptureId);
    const capture = id === gns3CaptureId ? undefined : find(this.#lists, linkId, id);
    if (capture) return capture;
    this.#links.open(linkId);
    throw fault('capture_not_found', { link_id: linkId, capture_id: id.slice(0, 100) });
  }

  async #start(link: OpenLink, id: string, body: LinkCaptureStart): Promise<StoredCapture> {
    const plan = planCapture(link, id, body);
    const [linkId, node] = [link.entry.link_id, link.nodes[plan.end]];
    const capture = await startOnCompute(link, plan);
    await this.#remember(linkId, capture).catch(async (error: unknown) => {
      await stopOnCompute(link, plan.end, id).catch(() => undefined);
      throw error;
    });
    this.#show(linkId, capture);
    // The node may have been stopped meanwhile, when there was no capture yet that ended with it.
    if (!isStarted(node)) this.#endWithNode(node, linkId, capture);
    return capture;
  }

  async #stop(link: OpenLink, capture: StoredCapture): Promise<void> {
    const [linkId, ended] = [link.entry.link_id, withoutEnd(capture, 'ended')];
    await this.#remember(linkId, ended);
    if ('end' in capture) {
      await stopOnCompute(link, capture.end, capture.capture_id).catch(async (error: unknown) => {
        await this.#remember(linkId, capture).catch(() => undefined);
        throw error;
      });
    }
    this.#show(linkId, ended);
  }

  #nodeChanged(node: OpenNode): void {
    const started = isStarted(node);
    for (const linkId of this.#links.idsOn(node.id)) {
      for (const capture of this.#lists.get(linkId) ?? []) {
        if (started && capture.state === 'waiting') void this.#resume(linkId, capture);
        const isHere = capture.state === 'capturing' && this.#links.open(linkId).nodes[capture.end].id === node.id;
        if (!started && isHere) this.#endWithNode(node, linkId, capture);
      }
    }
  }

  /** Starts a waiting capture when a node of its link runs. Never rejects. */
  #resume(linkId: string, capture: StoredCapture): Promise<void> {
    const resume = async (link: OpenLink) => {
      if (this.#isClosing || !link.nodes.some(isStarted)) return;
      if (isExpired(capture)) await this.#stop(link, capture);
      else await this.#start(link, capture.capture_id, resumeRequest(capture));
    };
    return this.#later(linkId, capture, resume).catch(async (error: Error) => {
      this.#warn(`The capture ${capture.capture_file_name} could not be resumed: ${error.message}`);
      if (!this.#isClosing) await this.#settle(linkId, capture, 'ended');
    });
  }

  /** Ends it, unless the node runs again by itself, as its slice was lost or is drained: then it waits for that. */
  #endWithNode({ isLeaving, compute }: OpenNode, linkId: string, capture: StoredCapture): void {
    if (this.#isClosing || isLeaving || compute?.isFenced) void this.#settle(linkId, capture, 'waiting');
    else {
      this.#later(linkId, capture, (link) => this.#stop(link, capture)).catch((error: Error) =>
        this.#warn(`The capture ${capture.capture_file_name} could not be stopped: ${error.message}`),
      );
    }
  }

  /**
   * Notes that a compute captures at one end of a link. Returns the capture that was known there.
   * @param before the captures known when the compute was asked; one that changed since is left alone
   */
  async #adopt({ link, end }: CapturedEnd, entry: CaptureEntry, before: Lists): Promise<StoredCapture | undefined> {
    const linkId = link.entry.link_id;
    const capture = captureOf(entry, end);
    const { capture_id: id } = capture;
    const known = find(before, linkId, id);
    await this.#links.exclusively(linkId, async (present) => {
      if (find(this.#lists, linkId, id) !== known) return;
      // Another one was started at the other end while this compute was away.
      if (known?.state === 'capturing' && known.end !== end) return stopOnCompute(present, end, id);
      const isRunning = isStarted(present.nodes[end]);
      if (!isRunning) await stopOnCompute(present, end, id).catch(() => undefined);
      await this.#enter(linkId, isRunning ? capture : withoutEnd(capture, 'waiting'));
    });
    return known;
  }

  /** The capture has come to this state by itself. Never rejects. */
  #settle(linkId: string, capture: StoredCapture, state: 'waiting' | 'ended'): Promise<void> {
    return this.#later(linkId, capture, () => this.#enter(linkId, withoutEnd(capture, state))).catch(() => undefined);
  }

  /** Stores a state that is a fact already, and shows it. Clients are warned when it cannot be stored. */
  async #enter(linkId: string, capture: StoredCapture): Promise<void> {
    await this.#remember(linkId, capture).catch((error: Error) =>
      this.#warn(`The state of the capture ${capture.capture_file_name} was not stored: ${error.message}`),
    );
    this.#show(linkId, capture);
  }

  /** Runs `fn` under the link's lock, unless the link was deleted or the capture has changed by then. */
  async #later(linkId: string, capture: StoredCapture, fn: (link: OpenLink) => Promise<void>): Promise<void> {
    const run = async (link: OpenLink) => {
      if (find(this.#lists, linkId, capture.capture_id) === capture) await fn(link);
    };
    try {
      await this.#links.exclusively(linkId, run);
    } catch (error) {
      if (this.#links.find(linkId)) throw error;
    }
  }

  /** @throws `storage_failed` */
  #remember(linkId: string, capture: StoredCapture): Promise<void> {
    if (!this.#isClosing) return this.#store.set(linkId, capture);
    if (capture.state === 'ended') return this.#store.delete(linkId, capture.capture_id);
    return this.#store.set(linkId, withoutEnd(capture, 'waiting'));
  }

  /** The link was deleted, and its captures with it. */
  #forget(linkId: string): void {
    const captures = this.#kept.has(linkId) ? [] : (this.#lists.get(linkId) ?? []);
    for (const { capture_id } of captures) this.#store.delete(linkId, capture_id).catch(() => undefined);
    this.#lists.delete(linkId);
  }

  /** Puts the capture in the list of its link, in place of the one with its id, and notifies listeners. */
  #show(linkId: string, capture: StoredCapture): void {
    const link = this.#links.find(linkId);
    const list = this.#lists.get(linkId) ?? [];
    const before = find(this.#lists, linkId, capture.capture_id);
    if (!link || isDeepStrictEqual(before, capture)) return;
    const isGns3 = capture.capture_id === gns3CaptureId;
    const others = list.filter((other) => other !== before);
    if (isGns3) this.#lists.set(linkId, [capture, ...others]);
    else if (capture.state === 'ended') this.#lists.set(linkId, others);
    else this.#lists.set(linkId, before ? list.map((other) => (other === before ? capture : other)) : [...list, capture]);
    if (isGns3) {
      const object = this.#links.showCapture(linkId, shownCapture(this.#host.folder, link, capture));
      if (object) this.#host.notify('link.updated', object);
    } else {
      const verb = capture.state === 'ended' ? 'deleted' : 'updated';
      this.#host.notify(`link_capture.${before ? verb : 'created'}`, linkCapture(this.#host, link, capture));
    }
  }

  #warn(message: string): void {
    this.#host.notify('log.warning', { message });
  }

  /** The link at a port. */
  #locate({ node_id = '', adapter_number, port_number }: Partial<CaptureEntry>): CapturedEnd | undefined {
    for (const linkId of this.#links.idsOn(node_id)) {
      const link = this.#links.open(linkId);
      const end = link.nodes[0].id === node_id ? 0 : 1;
      const { adapter, port } = endOf(link.entry, end);
      if (adapter === adapter_number && port === port_number) return { link, end };
    }
    return undefined;
  }
}

function find(lists: Lists, linkId: string, id: string): StoredCapture | undefined {
  return lists.get(linkId)?.find(({ capture_id }) => capture_id === id);
}
