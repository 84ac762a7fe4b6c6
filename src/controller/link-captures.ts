/**
 * Captures of the links of an open project. The compute of one end writes the file and remembers the capture; here stands only which
 * end that is, so that clients are shown it. It ends with the node: when that is no longer started, the capture is stopped.
 */
import { fault } from '../api/faults.ts';
import { Stream } from '../api/route.ts';
import { wrongWithBaseName } from '../lib/base-name.ts';
import type { CaptureEntry, LinkCaptureStart } from '../schema/capture.ts';
import type { Compute } from './compute.ts';
import { endOf, type LinkCapture, type LinkObject, type OpenLink, type Two } from './link.ts';
import { findKind } from './node.ts';
import type { OpenNode } from './open-node.ts';
import type { ProjectHost } from './project-host.ts';

/** The project's links, as far as their captures are concerned. */
export interface CapturedLinks {
  /** @throws `link_not_found` */
  open(linkId: string): OpenLink;
  /** Nothing else is done with the link meanwhile. */
  exclusively<T>(linkId: string, fn: (link: OpenLink) => Promise<T>): Promise<T>;
  setCapture(link: OpenLink, capture: LinkCapture): LinkObject;
  idsOn(nodeId: string): string[];
}

/** Of a node's name, in the name of a file that was not given one. */
const maxNameLength = 100;

export class LinkCaptures {
  readonly #host: ProjectHost;
  readonly #links: CapturedLinks;

  constructor(host: ProjectHost, links: CapturedLinks) {
    this.#host = host;
    this.#links = links;
  }

  /** @throws `capture_link_active`, `capture_no_end`, `capture_file_invalid`, and what the compute says */
  async start(linkId: string, { capture_file_name, ...options }: LinkCaptureStart): Promise<LinkObject> {
    return this.#links.exclusively(linkId, async (link) => {
      if (link.capture?.isActive) throw fault('capture_link_active', { link_id: linkId });
      const fileName = capture_file_name || defaultFileName(link);
      const reason = wrongWithBaseName(fileName);
      if (reason !== undefined) throw fault('capture_file_invalid', { file: fileName.slice(0, 100), reason });
      const end = capturingEnd(link.nodes);
      const body = { data_link_type: 'DLT_EN10MB', ...options, capture_file_name: fileName };
      await link.nodes[end].portCall('POST', 'start_capture', endOf(link.entry, end), body);
      return this.#show(link, { end, fileName, isActive: true });
    });
  }

  /** One that is not there is no error. */
  async stop(linkId: string): Promise<LinkObject> {
    return this.#links.exclusively(linkId, (link) => this.#stop(link));
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
    if (live.status === 'started') return;
    for (const linkId of this.#links.idsOn(id)) {
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

  /** Asks a compute which captures go on there: it may have been started by an earlier run of this server. */
  async adopt(compute: Compute): Promise<void> {
    const path = { project_id: this.#host.projectId };
    const key = 'GET /v2/compute/projects/{project_id}/captures';
    const { body } = await compute.transport.call<CaptureEntry[]>(key, { path });
    for (const entry of body) {
      const found = this.#findEnd(entry);
      if (!found) continue;
      const capture = { end: found.end, fileName: entry.capture_file_name, isActive: true };
      this.#show(found.link, capture);
      this.nodeChanged(found.link.nodes[found.end]);
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

  #isEnd(linkId: string, capture: LinkCapture, nodeId: string): boolean {
    return this.#links.open(linkId).nodes[capture.end].id === nodeId;
  }

  #findEnd({ node_id = '', adapter_number, port_number }: Partial<CaptureEntry>): { link: OpenLink; end: 0 | 1 } | undefined {
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

function defaultFileName({ entry, nodes }: OpenLink): string {
  const side = (end: 0 | 1) => {
    const { adapter, port } = endOf(entry, end);
    return `${nodes[end].entry.name.slice(0, maxNameLength)}_${adapter}-${port}`;
  };
  return `${`${side(0)}_to_${side(1)}`.replace(/[^0-9A-Za-z_-]/g, '')}.pcap`;
}
