/** Requests to computes about captures. GNS3's capture has routes of its own, which a stock GNS3 compute has too; others have an id there. */
import { Stream } from '../../../api/route.ts';
import { type CaptureEntry, gns3CaptureId } from '../../../schema/capture.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import { endOf, type OpenLink } from '../links/link.ts';
import { type CapturePlan, captureOf, captureOfPlan, type StoredCapture } from './stored-capture.ts';

/** @throws what the compute answers */
export async function startOnCompute({ entry, nodes }: OpenLink, plan: CapturePlan): Promise<StoredCapture> {
  const { id, end, body } = plan;
  const port = endOf(entry, end);
  if (id !== gns3CaptureId) {
    return captureOf(await nodes[end].addCapture(port, { ...body, capture_id: id }), end);
  }
  await nodes[end].startCapture(port, body);
  return captureOfPlan(plan);
}

/** No error when there is no such capture. @throws what the compute answers */
export async function stopOnCompute({ entry, nodes }: OpenLink, end: 0 | 1, id: string): Promise<void> {
  const port = endOf(entry, end);
  if (id === gns3CaptureId) await nodes[end].stopCapture(port);
  else await nodes[end].removeCapture(port, id);
}

/** The file as it is written, to the capture's end. @throws what the compute answers */
export async function streamFromCompute({ entry, nodes }: OpenLink, end: 0 | 1, id: string): Promise<Stream> {
  const route = id === gns3CaptureId ? 'pcap' : `captures/${id}/pcap`;
  const { headers, body } = await nodes[end].portStream(route, endOf(entry, end));
  return new Stream(headers['content-type'] ?? 'application/octet-stream', body);
}

/** A stock GNS3 compute has no such route. @throws what the compute answers */
export async function capturesOnCompute(compute: RegisteredCompute, projectId: string): Promise<CaptureEntry[]> {
  return compute.transport.call('GET /v2/compute/projects/{project_id}/captures', { path: { project_id: projectId } });
}
