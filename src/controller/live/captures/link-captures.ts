/**
 * Captures of the links of an open project. The compute of one end writes the file and remembers the capture; here stands only which
 * end that is, so that clients are shown it. It ends with the node: when that is no longer started, the capture is stopped. One that was
 * on when the project was closed, or whose node ended with the server, waits until one of its nodes is started, and goes on in its file.
 */
import { isDeepStrictEqual } from 'node:util';
import { fault } from '../../../api/faults.ts';
import { Stream } from '../../../api/route.ts';
import type { RawAnswer } from '../../../api/transport.ts';
import { concurrency, forEachBounded } from '../../../lib/bounded.ts';
import type { CaptureEntry, LinkCaptureStart, LinkCapture as ShownCapture } from '../../../schema/capture.ts';
import type { Compute } from '../../computes/compute.ts';
import type { ProjectHost } from '../host/project-host.ts';
import { endOf, type FurtherCapture, type LinkCapture, type LinkObject, type OpenLink } from '../links/link.ts';
import type { OpenNode } from '../nodes/open-node.ts';
import { captureBegin } from './capture-begin.ts';
import { type FoundCapture, FoundCaptures, type LinksOnNodes } from './found-captures.ts';
import { FurtherCaptures, type LinksWithFurther } from './further-captures.ts';
import type { KeptCapture } from './kept-captures.ts';
import { isOver, startOf, WaitingCaptures } from './waiting-captures.ts';

/** The project's links, as far as their captures are concerned. */
export interface CapturedLinks extends LinksWithFurther, LinksOnNodes {
  all(): Iterable<OpenLink>;
  /** Nothing else is done with the link meanwhile. */
  exclusively<T>(linkId: string, fn: (link: OpenLink) => Promise<T>): Promise<T>;
  setCapture(link: OpenLink, capture: LinkCapture): LinkObject;
}

export class LinkCaptures {
  readonly #host: ProjectHost;
  readonly #links: CapturedLinks;
  readonly #waiting: WaitingCaptures;
  readonly #further: FurtherCaptures;
  readonly #found: FoundCaptures;

  constructor(host: ProjectHost, links: CapturedLinks) {
    this.#host = host;
    this.#links = links;
    this.#waiting = new WaitingCaptures(host.keptCaptures);
    this.#further = new FurtherCaptures(host, links);
    this.#found = new FoundCaptures(host, links);
  }

  /** @throws `capture_link_active`, `capture_no_end`, `capture_file_invalid`, and what the compute says */
  async start(linkId: string, body: LinkCaptureStart): Promise<LinkObject> {
    return this.#links.exclusively(linkId, async (link) => {
      if (link.capture?.isActive) throw fault('capture_link_active', { link_id: linkId });
      const object = await this.#start(link, body);
      await this.#waiting.forget(linkId, null);
      return object;
    });
  }

  /** One that is not there is no error. */
  async stop(linkId: string): Promise<LinkObject> {
    return this.#links.exclusively(linkId, async (link) => {
      await this.#waiting.forget(linkId, null);
      return this.#stop(link);
    });
  }

  /** The capture as it is written, to its end. @throws `capture_link_missing` */
  async stream(linkId: string): Promise<Stream> {
    const { entry, nodes, capture } = this.#links.open(linkId);
    if (!capture?.isActive) throw fault('capture_link_missing', { link_id: linkId });
    return streamOf(await nodes[capture.end].portStream('pcap', endOf(entry, capture.end)));
  }

  /** Those beside the link's own. */
  list(linkId: string): ShownCapture[] {
    const link = this.#links.open(linkId);
    return (link.further ?? []).map((capture) => this.#further.show(link, capture));
  }

  /** One more. @throws `capture_no_end`, `capture_file_invalid`, and what the compute says */
  add(linkId: string, body: LinkCaptureStart): Promise<ShownCapture> {
    return this.#links.exclusively(linkId, async (link) =>
      this.#further.show(link, await this.#startFurther(link, crypto.randomUUID(), body)),
    );
  }

  /** @throws `capture_not_found` */
  remove(linkId: string, captureId: string): Promise<void> {
    return this.#links.exclusively(linkId, async (link) => {
      const capture = this.#further.get(link, captureId);
      await this.#waiting.forget(linkId, captureId);
      await this.#further.stop(link, capture);
    });
  }

  /** As `stream`, of one beside the link's own. @throws `capture_not_found`, `capture_link_missing` while it waits */
  async streamFurther(linkId: string, captureId: string): Promise<Stream> {
    const link = this.#links.open(linkId);
    const { end, isActive } = this.#further.get(link, captureId);
    if (!isActive) throw fault('capture_link_missing', { link_id: linkId });
    return streamOf(await link.nodes[end].portStream(`captures/${captureId}/pcap`, endOf(link.entry, end)));
  }

  /** The node's status changed. */
  nodeChanged(node: OpenNode): void {
    for (const linkId of this.#links.idsOn(node.id)) {
      if (!isStarted(node)) this.#endAt(node, linkId);
      else for (const { capture_id = null } of this.#waiting.of(linkId)) this.#goOn(linkId, capture_id);
    }
  }

  /** A compute tells that a capture has ended by itself. */
  ended(event: Partial<CaptureEntry>): void {
    const found = this.#found.find(event);
    if (found && event.capture_id) this.#further.drop(found.link.entry.link_id, event.capture_id);
    else if (found?.link.capture?.isActive) this.#show(found.link, { ...found.link.capture, isActive: false });
  }

  /** The link is gone, and what is remembered of its captures; never rejects. */
  async forget(linkId: string): Promise<void> {
    const { keptCaptures } = this.#host;
    const forgotten = this.#waiting.of(linkId).map(({ capture_id = null }) => this.#waiting.forget(linkId, capture_id));
    await Promise.allSettled([...forgotten, keptCaptures.forgetName(linkId)]);
  }

  /** The project was opened: captures that an earlier run of this server left going are shown, those that ended with it wait. */
  async restore(computes: readonly Compute[]): Promise<void> {
    const found = await this.#found.onAll(computes);
    const goesOn = ({ link, end }: FoundCapture) => isStarted(link.nodes[end]);
    for (const capture of found) if (goesOn(capture)) this.#showFound(capture);
    await this.#setAside(found.filter((capture) => !goesOn(capture)));
    for (const kept of this.#waiting.all()) {
      const link = this.#links.find(kept.link_id);
      if (!link) continue;
      if (kept.capture_id) this.#further.waits(kept.link_id, kept);
      else this.#showEnded(link, kept.capture_file_name);
      for (const node of link.nodes) this.nodeChanged(node);
    }
    for (const [linkId, fileName] of this.#host.keptCaptures.names()) {
      const link = this.#links.find(linkId);
      if (link) this.#showEnded(link, fileName);
      else await this.forget(linkId);
    }
  }

  /** A compute is back: what it captures is shown, and what it does not know any more has ended. */
  async recheck(compute: Compute): Promise<void> {
    const going = new Set<string>();
    for (const found of await this.#found.on(compute)) {
      going.add(`${found.link.entry.link_id} ${found.entry.capture_id ?? null}`);
      this.#showFound(found);
    }
    for (const { capture, further = [], entry, nodes } of [...this.#links.all()]) {
      const isLost = (one: LinkCapture, id: string | null) =>
        one.isActive && nodes[one.end].compute === compute && !going.has(`${entry.link_id} ${id}`);
      if (capture && isLost(capture, null)) {
        this.#warnOfLost(capture);
        this.#show(this.#links.open(entry.link_id), { ...capture, isActive: false });
      }
      for (const one of further) {
        if (!isLost(one, one.id)) continue;
        this.#warnOfLost(one);
        this.#further.drop(entry.link_id, one.id);
      }
    }
  }

  /** The project is about to be closed: keeps the captures for its next opening. */
  async keep(computes: readonly Compute[]): Promise<void> {
    const going = (await this.#found.onAll(computes)).map(keptOf);
    // Who closes a project is not refused because of its captures.
    await this.#waiting
      .keep(going, (linkId) => this.#links.find(linkId) !== undefined)
      .catch((error: Error) => {
        this.#host.notify('log.warning', { message: `Captures will not go on at the next opening: ${error.message}` });
      });
    // A project that is opened knows no captures that have ended before, as on the established server.
    const waits = new Set(this.#waiting.all().map(({ link_id }) => link_id));
    const ended = this.#host.keptCaptures.names().filter(([linkId]) => !waits.has(linkId));
    await Promise.allSettled(ended.map(([linkId]) => this.#host.keptCaptures.forgetName(linkId)));
  }

  /** The nodes of these ended with the server: they are the computes' no more, and wait. */
  async #setAside(found: readonly FoundCapture[]): Promise<void> {
    if (found.length === 0) return;
    try {
      await this.#waiting.add(found.map(keptOf));
    } catch (error) {
      this.#host.notify('log.warning', { message: `Captures will not go on: ${(error as Error).message}` });
    }
    await forEachBounded(found, concurrency, async ({ link, end, entry: { capture_id: id } }) => {
      const port = endOf(link.entry, end);
      if (id) await link.nodes[end].portCall('DELETE', 'captures/{capture_id}', { ...port, capture_id: id });
      else await link.nodes[end].portCall('POST', 'stop_capture', port);
    });
  }

  async #start(link: OpenLink, asked: LinkCaptureStart): Promise<LinkObject> {
    const { end, fileName, body } = captureBegin(link, asked);
    const [node, port, linkId] = [link.nodes[end], endOf(link.entry, end), link.entry.link_id];
    await node.portCall('POST', 'start_capture', port, body);
    await this.#host.keptCaptures.setName(linkId, fileName).catch(async (error: unknown) => {
      await node.portCall('POST', 'stop_capture', port).catch(() => undefined);
      throw error;
    });
    const object = this.#show(link, { end, fileName, isActive: true });
    this.#endIfStopped(node, linkId);
    return object;
  }

  async #startFurther(link: OpenLink, id: string, asked: LinkCaptureStart): Promise<FurtherCapture> {
    const capture = await this.#further.start(link, id, asked);
    this.#endIfStopped(link.nodes[capture.end], link.entry.link_id);
    return capture;
  }

  /** The node may have been stopped while the capture began, when there was nothing yet that ended with it. */
  #endIfStopped(node: OpenNode, linkId: string): void {
    if (!isStarted(node)) this.#endAt(node, linkId);
  }

  /** A capture that waited goes on, now that a node is started. */
  #goOn(linkId: string, captureId: string | null): void {
    const resume = async (link: OpenLink) => {
      const kept = this.#waiting.find(linkId, captureId);
      if (!kept) return;
      await this.#resume(link, kept);
      await this.#waiting.forget(linkId, captureId);
    };
    this.#links.exclusively(linkId, resume).catch(async (error: Error) => {
      this.#host.notify('log.warning', { message: `The capture on link ${linkId} could not go on: ${error.message}` });
      if (captureId !== null) this.#further.drop(linkId, captureId);
      await this.#waiting.forget(linkId, captureId).catch(() => undefined);
    });
  }

  async #resume(link: OpenLink, kept: KeptCapture): Promise<void> {
    const { capture_id: id, link_id } = kept;
    const present = id ? link.further?.find((one) => one.id === id) : link.capture;
    if (present?.isActive) return;
    if (!isOver(kept)) await (id ? this.#startFurther(link, id, startOf(kept)) : this.#start(link, startOf(kept)));
    else if (id) this.#further.drop(link_id, id);
  }

  /** The node is not started any more: what is captured there ends. */
  #endAt({ id, entry }: OpenNode, linkId: string): void {
    const { capture, further = [], nodes } = this.#links.open(linkId);
    const isHere = (one: LinkCapture) => one.isActive && nodes[one.end].id === id;
    const end = (fn: (link: OpenLink) => Promise<unknown>) => {
      this.#links.exclusively(linkId, fn).catch((error: Error) => {
        this.#host.notify('log.warning', { message: `The capture on ${entry.name} could not be ended: ${error.message}` });
      });
    };
    if (capture && isHere(capture)) end(async (link) => link.capture === capture && this.#stop(link));
    for (const one of further) {
      if (isHere(one)) end(async (link) => link.further?.includes(one) && this.#further.stop(link, one));
    }
  }

  async #stop(link: OpenLink): Promise<LinkObject> {
    const { entry, nodes, capture } = link;
    if (!capture?.isActive) return link.object;
    await nodes[capture.end].portCall('POST', 'stop_capture', endOf(entry, capture.end));
    return this.#show(link, { ...capture, isActive: false });
  }

  #show(link: OpenLink, capture: LinkCapture): LinkObject {
    const object = this.#links.setCapture(link, capture);
    this.#host.notify('link.updated', object);
    return object;
  }

  /** The last capture of the link, which has ended or waits; nothing when one goes on. */
  #showEnded(link: OpenLink, fileName: string): void {
    if (!link.capture) this.#links.setCapture(link, { end: 0, fileName, isActive: false });
  }

  #showFound({ link, end, entry }: FoundCapture): void {
    if (entry.capture_id) {
      this.#further.found(link.entry.link_id, end, { ...entry, capture_id: entry.capture_id });
      return;
    }
    const capture = { end, fileName: entry.capture_file_name, isActive: true };
    if (!isDeepStrictEqual(link.capture, capture)) this.#show(link, capture);
  }

  #warnOfLost({ fileName }: LinkCapture): void {
    this.#host.notify('log.warning', { message: `The capture ${fileName} has ended: its compute does not know it any more` });
  }
}

function isStarted(node: OpenNode): boolean {
  return node.live.status === 'started';
}

function keptOf({ link, entry }: FoundCapture): KeptCapture {
  const { node_id: _node, adapter_number: _adapter, port_number: _port, pcap_file_path: _path, ...capture } = entry;
  return { ...capture, link_id: link.entry.link_id };
}

function streamOf({ headers, body }: RawAnswer): Stream {
  return new Stream(headers['content-type'] ?? 'application/octet-stream', body);
}
