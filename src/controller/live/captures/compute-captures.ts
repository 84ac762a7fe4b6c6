/** Requests to computes about captures. GNS3's capture has routes of its own, which a stock GNS3 compute has too; others have an id there. */
import { PassThrough, pipeline, type Readable } from 'node:stream';
import { Stream } from '../../../api/route.ts';
import type { RawAnswer } from '../../../api/transport.ts';
import { type CaptureEntry, gns3CaptureId } from '../../../schema/capture.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import { endOf, type OpenLink } from '../links/link.ts';
import { type CapturePlan, captureOf, captureOfPlan, type StoredCapture } from './stored-capture.ts';

/** @throws what the compute answers */
export async function startOnCompute({ entry, nodes }: OpenLink, plan: CapturePlan): Promise<StoredCapture> {
  const { id, end, body } = plan;
  const node = nodes[end];
  const request = node.portRequest(endOf(entry, end));
  if (id !== gns3CaptureId) {
    const withId = { ...body, capture_id: id };
    return captureOf(await node.transport.call(`POST ${node.portRoute}/captures`, { ...request, body: withId }), end);
  }
  await node.transport.send(`POST ${node.portRoute}/start_capture`, { ...request, body });
  return captureOfPlan(plan);
}

/** No error when there is no such capture. @throws what the compute answers */
export async function stopOnCompute({ entry, nodes }: OpenLink, end: 0 | 1, id: string): Promise<void> {
  const { transport, portRoute } = nodes[end];
  const { path } = nodes[end].portRequest(endOf(entry, end));
  if (id === gns3CaptureId) await transport.send(`POST ${portRoute}/stop_capture`, { path });
  else await transport.send(`DELETE ${portRoute}/captures/{capture_id}`, { path: { ...path, capture_id: id } });
}

/** Clients compare the whole text. */
const pcapType = 'application/vnd.tcpdump.pcap';

/** The file as it is written, to the capture's end. @throws what the compute answers */
export async function streamFromCompute({ entry, nodes }: OpenLink, end: 0 | 1, id: string): Promise<Stream> {
  const route = id === gns3CaptureId ? 'pcap' : `captures/${id}/pcap`;
  const { adapter, port } = endOf(entry, end);
  const { transport, address } = nodes[end];
  const path = `${address}/adapters/${adapter}/ports/${port}/${route}`;
  const open = (signal?: AbortSignal) => transport.raw('GET', path, undefined, signal);
  // GNS3 sends its headers with the first bytes of the file, which an idle link has none of.
  if (nodes[end].requireCompute().isStock) return new Stream(pcapType, streamOnceAnswered(open));
  const { headers, body } = await open();
  return new Stream(headers['content-type'] ?? pcapType, body);
}

/** Cut off when the compute refuses or its answer is cut off. */
function streamOnceAnswered(open: (signal: AbortSignal) => Promise<RawAnswer>): Readable {
  const unread = new AbortController();
  const stream = new PassThrough();
  stream.once('close', () => unread.abort());
  open(unread.signal).then(
    ({ body }) => pipeline(body, stream, () => undefined),
    (error: Error) => stream.destroy(error),
  );
  return stream;
}

/** A stock GNS3 compute has no such route. @throws what the compute answers */
export async function capturesOnCompute(compute: RegisteredCompute, projectId: string): Promise<CaptureEntry[]> {
  return compute.transport.call('GET /v2/compute/projects/{project_id}/captures', { path: { project_id: projectId } });
}
