/**
 * Captures of the links of an open project. The compute of one end writes the file and remembers the capture; here stands only which
 * end that is, so that clients are shown it. It ends with the node: when that is no longer started, the capture is stopped. One that was
 * on when the project was closed waits, once that is open again, until one of its nodes is started, and goes on in its file.
 */
import { isDeepStrictEqual } from 'node:util';
import { fault } from '../../api/faults.ts';
import { Stream } from '../../api/route.ts';
import { wrongWithBaseName } from '../../lib/base-name.ts';
import type { CaptureEntry, CaptureSide, LinkCaptureStart } from '../../schema/capture.ts';
import { concurrency, forEachBounded } from '../bounded.ts';
import type { Compute } from '../computes/compute.ts';
import { findKind } from '../nodes/node.ts';
import type { OpenNode } from '../nodes/open-node.ts';
import type { ProjectHost } from '../projects/project-host.ts';
import { endOf, type LinkCapture, type LinkObject, type OpenLink, type Two } from './link.ts';
import { isOver, startOf, WaitingCaptures } from './waiting-captures.ts';

/** The project's links, as far as their captures are concerned. */
export interface CapturedLinks {
  all(): Iterable<OpenLink>;
  find(linkId: string): OpenLink | undefined;
  /** @throws `link_not_found` */
  open(linkId: string): OpenLink;
  /** Nothing else is done with the link meanwhile. */
  exclusively<T>(linkId: string, fn: (link: OpenLink) => Promise<T>): Promise<T>;
  setCapture(link: OpenLink, capture: LinkCapture): LinkObject;
  idsOn(nodeId: string): string[];
}

interface FoundEnd {
  readonly link: OpenLink;
  readonly end: 0 | 1;
}

const listKey = 'GET /v2/compute/projects/{project_id}/captures';

/** Of a node's name, in the name of a file that was not given one. */
const maxNameLength = 100;

export class LinkCaptures {
  readonly #host: ProjectHost;
  readonly #links: CapturedLinks;
  readonly #waiting: WaitingCaptures;

  constructor(host: ProjectHost, links: CapturedLinks) {
    this.#host = host;
    this.#links = links;
    this.#waiting = new WaitingCaptures(host.keptCaptures);
  }

  /** @throws `capture_link_active`, `capture_no_end`, `capture_file_invalid`, and what the compute says */
  async start(linkId: string, body: LinkCaptureStart): Promise<LinkObject> {
    return this.#links.exclusively(linkId, async (link) => {
      if (link.capture?.isActive) throw fault('capture_link_active', { link_id: linkId });
      const object = await this.#start(link, body);
      await this.#waiting.forget(linkId);
      return object;
    });
  }

  /** One that is not there is no error. */
  async stop(linkId: string): Promise<LinkObject> {
    return this.#links.exclusively(linkId, async (link) => {
      await this.#waiting.forget(linkId);
      return this.#stop(link);
    });
  }

  /** The capture as it is written, to its end. @throws `capture_link_missing` */
  async stream(linkId: string): Promise<Stream> {
    const { entry, nodes, capture } = this.#links.open(linkId);
    if (!capture?.isActive) throw fault('capture_link_missing', { link_id: linkId });
    const answer = await nodes[capture.end].portStream('pcap', endOf(entry, capture.end));
    return new Stream(answer.headers['content-type'] ?? 'application/octet-stream', answer.body);
  }

  /** The node's status changed. */
  nodeChanged({ id, live, entry }: OpenNode): void {
    for (const linkId of this.#links.idsOn(id)) {
      if (live.status === 'started') {
        if (this.#waiting.find(linkId)) this.#goOn(linkId);
        continue;
      }
      const { capture } = this.#links.open(linkId);
      if (!capture?.isActive || !this.#isEnd(linkId, capture, id)) continue;
      const stop = (link: OpenLink) => (link.capture === capture ? this.#stop(link) : Promise.resolve(link.object));
      this.#links.exclusively(linkId, stop).catch((error: Error) => {
        this.#host.notify('log.warning', { message: `The capture on ${entry.name} could not be ended: ${error.message}` });
      });
    }
  }

  /** A compute tells that a capture has ended by itself. */
  ended(event: Partial<CaptureEntry>): void {
    const found = this.#findEnd(event);
    if (found?.link.capture?.isActive) this.#show(found.link, { ...found.link.capture, isActive: false });
  }

  /** The project was opened: captures that an earlier run of this server left going are shown, those that closing ended wait. */
  async restore(computes: readonly Compute[]): Promise<void> {
    for (const { found, entry } of await this.#list(computes)) {
      this.#show(found.link, { end: found.end, fileName: entry.capture_file_name, isActive: true });
      this.nodeChanged(found.link.nodes[found.end]);
    }
    for (const { link_id, capture_file_name: fileName } of this.#waiting.all()) {
      const link = this.#links.find(link_id);
      if (!link || link.capture?.isActive) continue;
      this.#links.setCapture(link, { end: 0, fileName, isActive: false });
      for (const node of link.nodes) this.nodeChanged(node);
    }
  }

  /** A compute is back: what it captures is shown, and what it does not know any more has ended. */
  async recheck(compute: Compute): Promise<void> {
    const path = { project_id: this.#host.projectId };
    const { body } = await compute.transport.call<CaptureEntry[]>(listKey, { path });
    const going = new Set<string>();
    for (const entry of body) {
      const found = this.#findEnd(entry);
      if (!found) continue;
      going.add(found.link.entry.link_id);
      const capture = { end: found.end, fileName: entry.capture_file_name, isActive: true };
      if (!isDeepStrictEqual(found.link.capture, capture)) this.#show(found.link, capture);
    }
    for (const link of [...this.#links.all()]) {
      const { capture, entry, nodes } = link;
      if (!capture?.isActive || nodes[capture.end].compute !== compute || going.has(entry.link_id)) continue;
      this.#host.notify('log.warning', {
        message: `The capture ${capture.fileName} has ended: its compute does not know it any more`,
      });
      this.#show(link, { ...capture, isActive: false });
    }
  }

  /** The project is about to be closed: keeps the captures for its next opening. */
  async keep(computes: readonly Compute[]): Promise<void> {
    const going = (await this.#list(computes)).map(({ found, entry }) => {
      const { node_id: _node, adapter_number: _adapter, port_number: _port, pcap_file_path: _path, ...capture } = entry;
      return { ...capture, link_id: found.link.entry.link_id };
    });
    // Who closes a project is not refused because of its captures.
    await this.#waiting
      .keep(going, (linkId) => this.#links.find(linkId) !== undefined)
      .catch((error: Error) => {
        this.#host.notify('log.warning', { message: `Captures will not go on at the next opening: ${error.message}` });
      });
  }

  /** Captures that go on now. Computes that do not answer, or are of another make and have no such list, are left out. */
  async #list(computes: readonly Compute[]): Promise<{ found: FoundEnd; entry: CaptureEntry }[]> {
    const path = { project_id: this.#host.projectId };
    const entries: CaptureEntry[] = [];
    await forEachBounded(computes, concurrency, async (compute) => {
      entries.push(...(await compute.transport.call<CaptureEntry[]>(listKey, { path })).body);
    });
    return entries.flatMap((entry) => {
      const found = this.#findEnd(entry);
      return found ? [{ found, entry }] : [];
    });
  }

  async #start(link: OpenLink, { capture_file_name, ...options }: LinkCaptureStart): Promise<LinkObject> {
    const fileName = capture_file_name || defaultFileName(link, options.side);
    const reason = wrongWithBaseName(fileName);
    if (reason !== undefined) throw fault('capture_file_invalid', { file: fileName.slice(0, 100), reason });
    const end = capturingEnd(link.nodes);
    const body = { data_link_type: 'DLT_EN10MB', ...options, capture_file_name: fileName };
    await link.nodes[end].portCall('POST', 'start_capture', endOf(link.entry, end), body);
    return this.#show(link, { end, fileName, isActive: true });
  }

  /** A capture that waited goes on, now that a node is started. */
  #goOn(linkId: string): void {
    const resume = async (link: OpenLink) => {
      const kept = this.#waiting.find(linkId);
      if (!kept) return;
      if (!link.capture?.isActive && !isOver(kept)) await this.#start(link, startOf(kept));
      await this.#waiting.forget(linkId);
    };
    this.#links.exclusively(linkId, resume).catch(async (error: Error) => {
      this.#host.notify('log.warning', { message: `The capture on link ${linkId} could not go on: ${error.message}` });
      await this.#waiting.forget(linkId).catch(() => undefined);
    });
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

  #isEnd(linkId: string, capture: LinkCapture, nodeId: string): boolean {
    return this.#links.open(linkId).nodes[capture.end].id === nodeId;
  }

  #findEnd({ node_id = '', adapter_number, port_number }: Partial<CaptureEntry>): FoundEnd | undefined {
    for (const linkId of this.#links.idsOn(node_id)) {
      const link = this.#links.open(linkId);
      const end = link.nodes[0].id === node_id ? 0 : 1;
      const { adapter, port } = endOf(link.entry, end);
      if (adapter === adapter_number && port === port_number) return { link, end };
    }
    return undefined;
  }
}

/** On this machine rather than elsewhere, and at a node that is always there rather than at one that may be stopped. */
function capturingEnd(nodes: Two<OpenNode>): 0 | 1 {
  const isStarted = (node: OpenNode) => node.live.status === 'started';
  const isLasting = (node: OpenNode) => isStarted(node) && findKind(node.entry.node_type)?.alwaysRunning === true;
  const isLocal = (node: OpenNode) => node.compute?.isLocal === true;
  const rules = [
    (node: OpenNode) => isLocal(node) && isLasting(node),
    isLasting,
    (node: OpenNode) => isLocal(node) && isStarted(node),
    isStarted,
  ];
  for (const rule of rules) {
    if (rule(nodes[0])) return 0;
    if (rule(nodes[1])) return 1;
  }
  throw fault('capture_no_end', { one: nodes[0].entry.name, other: nodes[1].entry.name });
}

/** Captures of the two sides of the filters do not take each other's file. */
function defaultFileName({ entry, nodes }: OpenLink, captured: CaptureSide = 'after'): string {
  const side = (end: 0 | 1) => {
    const { adapter, port } = endOf(entry, end);
    return `${nodes[end].entry.name.slice(0, maxNameLength)}_${adapter}-${port}`;
  };
  const name = `${side(0)}_to_${side(1)}`.replace(/[^0-9A-Za-z_-]/g, '');
  return captured === 'after' ? `${name}.pcap` : `${name}_${captured}.pcap`;
}
