/** Files of nodes that are on another compute: fetched from there, and sent there, one after the other and never held in memory. */
import { randomUUID } from 'node:crypto';
import { join, normalize } from 'node:path';
import { Readable } from 'node:stream';
import { fault, isFault } from '../../api/faults.ts';
import { DiskFloor } from '../../lib/disk-floor.ts';
import { isBelow } from '../../lib/inside.ts';
import { writeStream } from '../../lib/stream-file.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { TemporaryProjects } from '../computes/temporary-projects.ts';
import type { LiveProject } from '../live/live-project.ts';
import type { OpenNode } from '../live/nodes/open-node.ts';
import { findKind } from '../model/node.ts';
import { copyOnCompute } from '../projects/copy-files.ts';
import type { KnownProject } from '../projects/project.ts';

export interface RemotePart {
  readonly source: KnownProject;
  readonly live: LiveProject | undefined;
  readonly compute: RegisteredCompute;
  readonly temporary: TemporaryProjects;
  /** Ids of the nodes that are on it. */
  readonly nodes: readonly string[];
}

/** A copy of files on a compute, which nothing changes. */
export interface RemoteCopy {
  fetch(folder: string): Promise<void>;
  /** Never rejects. */
  discard(): Promise<void>;
}

/**
 * Copies on the compute, so that its machines are paused for that instant only and not for the whole transfer. A stock GNS3 compute
 * cannot copy: its nodes must be stopped.
 * @throws node_running, and why the compute cannot be reached
 */
export async function copyRemote(
  { source, compute, temporary, nodes, live }: RemotePart,
  leaveOut: readonly string[],
): Promise<RemoteCopy> {
  const copyId = randomUUID();
  const ids = Object.fromEntries(nodes.map((id) => [id, id]));
  const { transport } = compute;
  try {
    const to = { projectId: copyId, folder: '', ids };
    await copyOnCompute({ source, compute, temporary, isOpen: live !== undefined, to, leaveOut });
  } catch (error) {
    if (!isFault(error, 'compute_route_missing')) throw error;
    for (const id of nodes) requireStopped(live?.nodes.find(id));
    return { fetch: (folder) => fetchFolders({ compute, projectId: source.id, nodes }, folder), discard: async () => undefined };
  }
  return {
    async fetch(folder) {
      await transport.send('POST /v2/compute/projects', { body: { project_id: copyId, name: source.name } });
      await fetchFolders({ compute, projectId: copyId, nodes }, folder);
    },
    discard: () => temporary.end(copyId, compute),
  };
}

function requireStopped(node: OpenNode | undefined): void {
  if (!node || node.live.status === 'stopped' || findKind(node.entry.node_type)?.alwaysRunning) return;
  throw fault('node_running', { name: node.entry.name, what: 'have its files copied: its compute cannot copy them while it runs' });
}

interface Fetching {
  readonly compute: RegisteredCompute;
  readonly projectId: string;
  readonly nodes: readonly string[];
  /** Stays free on the disk, whatever the compute sends; default: nothing. */
  readonly floorBytes?: number;
}

/** Written between two looks at the room on the disk. */
const checkedBytes = 2 ** 25;

/** Files of these nodes, into a project's folder. @throws DiskFloorError */
export async function fetchFolders({ compute, projectId, nodes, floorBytes = 0 }: Fetching, folder: string): Promise<void> {
  const { transport } = compute;
  const floor = new DiskFloor([folder], floorBytes);
  const path = { project_id: projectId };
  const files = await transport.call('GET /v2/compute/projects/{project_id}/files', { path, timeoutMs: 0 });
  for (const file of files) {
    const [top, , node] = file.path.split('/');
    const target = join(folder, file.path);
    // A path must not lead by way of a folder above: beside the nodes' folders is the project's own file.
    const isPlain = normalize(file.path) === file.path && isBelow(folder, target);
    if (top !== 'project-files' || !nodes.includes(node ?? '') || !isPlain) continue;
    const answer = await transport.raw('GET', `/v2/compute/projects/${projectId}/files/${file.path}`);
    const body = answer.body instanceof Readable ? answer.body : Readable.from([Buffer.from(answer.body)]);
    await writeStream(target, Readable.from(checked(body, floor), { objectMode: false }));
  }
}

async function* checked(body: Readable, floor: DiskFloor): AsyncGenerator<Buffer> {
  await floor.check();
  let left = checkedBytes;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    left -= chunk.length;
    if (left <= 0) {
      left = checkedBytes;
      await floor.check();
    }
    yield chunk;
  }
}
