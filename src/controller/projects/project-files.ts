/** Files of an open project: those of its folder, and those of its nodes on their computes. */
import { normalize } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fault } from '../../api/faults.ts';
import { fileAnswer, fileFault } from '../../api/file-answers.ts';
import { Stream } from '../../api/route.ts';
import { kindFolders } from '../../emulators/kinds.ts';
import { readInside, writeInside } from '../../lib/folder-files.ts';
import type { NodeFile } from '../../schema/compute-node.ts';
import { imageVolumesPath, isInVolumes, unseenFile } from '../../schema/container-files.ts';
import { writeProblem } from '../../schema/folders.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { LiveProject } from '../live/live-project.ts';
import { findKind, kindOf } from '../model/node.ts';
import type { KnownProject } from './project.ts';

/** @throws path_forbidden, file_not_found */
export async function readFile({ folder }: LiveProject, path: string): Promise<Stream> {
  return fileAnswer(await readInside(folder, path).catch((cause) => Promise.reject(fileFault(path, cause))));
}

/** An upload that breaks off changes nothing. @throws path_forbidden, storage_failed, project_closed, project_not_found */
export async function writeFile(project: KnownProject, path: string, source: Readable): Promise<void> {
  // A client that goes before its bytes are asked for.
  source.on('error', () => undefined);
  const { folder } = await project.live();
  const whileThere: KnownProject['whileThere'] = (fn) => project.whileThere(fn);
  try {
    await writeInside(folder, path, source, { whileThere, problemOf: (place) => writeProblem(place, kindFolders) });
  } catch (cause) {
    throw fileFault(path, cause as NodeJS.ErrnoException);
  }
}

/** Streams a node's file from its compute. @throws path_forbidden, and errors of the compute */
export async function readNodeFile(live: LiveProject, nodeId: string, path: string): Promise<Stream> {
  const { transport, way } = await nodeFile(live, nodeId, path);
  const { body, headers } = await transport.raw('GET', way);
  const length = headers['content-length'];
  return new Stream('application/octet-stream', body, length === undefined ? {} : { 'content-length': length });
}

/** Writes a file of a node. `log.warning` names one that its container may never see. */
export async function writeNodeFile(live: LiveProject, target: { nodeId: string; path: string }, source: Readable): Promise<void> {
  source.on('error', () => undefined);
  const { transport, way, inNode } = await nodeFile(live, target.nodeId, target.path);
  const { body } = await transport.raw('POST', way, source);
  if (!(body instanceof Uint8Array)) await buffer(body);
  // The answer does not wait for the engine.
  warnOfUnseen(live, transport, { nodeId: target.nodeId, path: inNode }).catch(() => undefined);
}

/** Tells listeners of a file that its container may never see; it is stored all the same, as the folder may become a volume. */
async function warnOfUnseen(
  live: LiveProject,
  transport: RegisteredCompute['transport'],
  { nodeId, path }: { readonly nodeId: string; readonly path: string },
): Promise<void> {
  const entry = live.nodes.find(nodeId)?.entry;
  const kind = entry && findKind(entry.node_type);
  if (!kind?.engineImages || isInVolumes(path, entry?.properties.extra_volumes, kind.lab?.files ?? [])) return;
  const image = imageVolumesPath(String(entry?.properties[kind.lab?.image ?? ''] ?? ''));
  const declared = await volumesOf(transport, `/v2/compute/${kind.type}/${image}`).catch(() => undefined);
  const message = unseenFile(String(entry?.name), path, declared);
  if (message !== undefined) live.notify('log.warning', { message });
}

/** Returns the volumes that an image declares; undefined where the compute does not tell. */
async function volumesOf(transport: RegisteredCompute['transport'], path: string): Promise<string[] | undefined> {
  const { body } = await transport.raw('GET', path);
  const text = body instanceof Uint8Array ? body : await buffer(body);
  const { volumes } = JSON.parse(Buffer.from(text).toString('utf8')) as { volumes?: unknown };
  return Array.isArray(volumes) ? volumes.map(String) : undefined;
}

/** Lists the files of a node on its compute. @throws what the compute throws; `compute_route_missing` for a stock GNS3 compute */
export async function listNodeFiles(live: LiveProject, nodeId: string): Promise<NodeFile[]> {
  const node = live.nodes.get(nodeId);
  const compute = node.requireCompute();
  await live.announceTo(compute);
  const path = { project_id: live.projectId, node_type: node.entry.node_type, node_id: nodeId };
  return compute.transport.call('GET /v2/compute/projects/{project_id}/node_files/{node_type}/{node_id}', { path });
}

/** @throws path_forbidden, file_not_found, and what the compute throws; `compute_route_missing` for a stock GNS3 compute */
export async function removeNodeFile(live: LiveProject, nodeId: string, path: string): Promise<void> {
  const { transport, way } = await nodeFile(live, nodeId, path);
  const { body } = await transport.raw('DELETE', way);
  // Unread, an answer holds its connection.
  if (!(body instanceof Uint8Array)) await buffer(body);
}

/** Where the compute has it. Leading dots are refused as well: so are hidden files of a node, as in GNS3. */
async function nodeFile(live: LiveProject, nodeId: string, path: string) {
  const node = live.nodes.get(nodeId);
  const compute = node.requireCompute();
  const inNode = normalize(path.replaceAll('\\', '/')).replace(/^\/+/, '');
  const refuse = (reason: string) => fault('path_forbidden', { path: path.replaceAll('\0', '?'), reason });
  if (path.includes('\0')) throw refuse('it holds a NUL character');
  if (inNode === '' || inNode.startsWith('.')) throw refuse("it lies outside the node's folder, or its name begins with a dot");
  const { folder } = kindOf(node.entry.node_type);
  await live.announceTo(compute);
  const way = `/v2/compute/projects/${live.projectId}/files/project-files/${folder}/${nodeId}/${inNode}`;
  return { transport: compute.transport, way, inNode };
}
