/**
 * Captures of links beside their own: any number, each with an id, that `link-captures.ts` treats like the link's own. One that has ended
 * is no longer here; its file stays.
 */
import { isDeepStrictEqual } from 'node:util';
import { fault } from '../../../api/faults.ts';
import type { CaptureEntry, CaptureOptions, LinkCapture, LinkCaptureStart } from '../../../schema/capture.ts';
import type { ProjectHost } from '../host/project-host.ts';
import { captureFile, endOf, type FurtherCapture, type OpenLink } from '../links/link.ts';
import { captureBegin, defaultFileName } from './capture-begin.ts';
import type { KeptCapture } from './kept-captures.ts';

/** The project's links, as far as these captures are concerned. */
export interface LinksWithFurther {
  find(linkId: string): OpenLink | undefined;
  setFurther(linkId: string, further: readonly FurtherCapture[]): void;
}

export class FurtherCaptures {
  readonly #host: ProjectHost;
  readonly #links: LinksWithFurther;

  constructor(host: ProjectHost, links: LinksWithFurther) {
    this.#host = host;
    this.#links = links;
  }

  show({ entry, nodes }: OpenLink, capture: FurtherCapture): LinkCapture {
    return {
      capture_id: capture.id,
      capture_compute_id: capture.isActive ? nodes[capture.end].entry.compute_id : null,
      capture_file_name: capture.fileName,
      capture_file_path: captureFile(this.#host.folder, capture),
      capturing: capture.isActive,
      link_id: entry.link_id,
      project_id: this.#host.projectId,
      ...capture.options,
    };
  }

  /** @throws `capture_not_found` */
  get(link: OpenLink, captureId: string): FurtherCapture {
    const capture = findIn(link, captureId);
    if (capture) return capture;
    throw fault('capture_not_found', { link_id: link.entry.link_id, capture_id: captureId.slice(0, 100) });
  }

  /** @throws `capture_no_end`, `capture_file_invalid`, and what the compute says */
  async start(link: OpenLink, id: string, asked: LinkCaptureStart): Promise<FurtherCapture> {
    const capture_file_name = asked.capture_file_name || defaultFileName(link, `_${id.slice(0, 8)}`);
    const { end, body } = captureBegin(link, { ...asked, capture_file_name });
    const port = endOf(link.entry, end);
    const entry = await link.nodes[end].portCall<CaptureEntry>('POST', 'captures', port, { ...body, capture_id: id });
    return this.put(link.entry.link_id, going(id, end, entry));
  }

  /** Ends it on its compute, where it goes on. */
  async stop(link: OpenLink, { id, end, isActive }: FurtherCapture): Promise<void> {
    if (isActive) {
      await link.nodes[end].portCall('DELETE', 'captures/{capture_id}', { ...endOf(link.entry, end), capture_id: id });
    }
    this.drop(link.entry.link_id, id);
  }

  /** It goes on at this end, as its compute lists it. */
  found(linkId: string, end: 0 | 1, entry: CaptureEntry & { capture_id: string }): void {
    this.put(linkId, going(entry.capture_id, end, entry));
  }

  /** It waits for a node to be started. */
  waits(linkId: string, { capture_id, capture_file_name: fileName, link_id: _, ...options }: KeptCapture): void {
    const link = this.#links.find(linkId);
    if (!link || !capture_id || findIn(link, capture_id)) return;
    this.put(linkId, { id: capture_id, end: 0, fileName, isActive: false, options });
  }

  put(linkId: string, capture: FurtherCapture): FurtherCapture {
    const link = this.#links.find(linkId);
    if (!link) return capture;
    const { further = [] } = link;
    const before = findIn(link, capture.id);
    if (isDeepStrictEqual(before, capture)) return capture;
    this.#links.setFurther(linkId, before ? further.map((one) => (one === before ? capture : one)) : [...further, capture]);
    this.#host.notify(before ? 'link_capture.updated' : 'link_capture.created', this.show(link, capture));
    return capture;
  }

  drop(linkId: string, captureId: string): void {
    const link = this.#links.find(linkId);
    const capture = link && findIn(link, captureId);
    if (!link || !capture) return;
    this.#links.setFurther(linkId, link.further?.filter((one) => one !== capture) ?? []);
    this.#host.notify('link_capture.deleted', this.show(link, { ...capture, isActive: false }));
  }
}

function findIn({ further = [] }: OpenLink, captureId: string): FurtherCapture | undefined {
  return further.find(({ id }) => id === captureId);
}

function going(id: string, end: 0 | 1, entry: CaptureEntry): FurtherCapture {
  const { data_link_type, side, nanoseconds, max_bytes, ends_at } = entry;
  const options: CaptureOptions = { data_link_type, side, nanoseconds, max_bytes, ends_at };
  return { id, end, fileName: entry.capture_file_name, isActive: true, options };
}
