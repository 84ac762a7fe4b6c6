/** Nodes and links of a snapshot, for a picture of it: the project file is read in its folder or archive, and nothing is unpacked. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fault, isFault } from '../../api/faults.ts';
import { type SnapshotOutline, snapshotOutlineLimit } from '../../schema/outline.ts';
import type { Snapshot } from '../../schema/snapshot.ts';
import { parseTopology, readTopology, smallBytes } from '../model/read-topology.ts';
import type { Topology } from '../model/topology.ts';
import type { KnownProject } from '../projects/project.ts';
import { listEntries, projectEntry } from '../zip/archive-entries.ts';
import { openUnpacked } from '../zip/unpack.ts';
import { snapshotsFolder } from './snapshot-index.ts';

/** @throws project_damaged, project_newer, snapshot_failed */
export async function outlineOfSnapshot(project: KnownProject, { filename, name }: Snapshot): Promise<SnapshotOutline> {
  const { nodes, links } = await readSnapshot(join(snapshotsFolder(project.path), filename)).catch((error: unknown) => {
    if (isFault(error)) throw error;
    throw fault('snapshot_failed', { name, what: 'read', reason: (error as Error).message }, { cause: error });
  });
  const most = snapshotOutlineLimit;
  return {
    nodes: nodes.slice(0, most.nodes).map(({ node_id, name: nodeName, x, y }) => ({ node_id, name: nodeName, x, y })),
    links: links.slice(0, most.links).map(({ link_id, nodes: ends }) => ({ link_id, ends: ends.map(({ node_id }) => node_id) })),
    complete: nodes.length <= most.nodes && links.length <= most.links,
  };
}

async function readSnapshot(path: string): Promise<Topology> {
  const facts = await lstat(path);
  if (facts.isDirectory()) return (await readTopology(join(path, projectEntry))).topology;
  const { openPromise } = await import('yauzl');
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false, strictFileNames: true });
  try {
    const file = (await listEntries(zip, facts.size)).find((one) => one.path === projectEntry && one.kind === 'file');
    if (!file) throw new Error(`there is no ${projectEntry} in it`);
    if (file.entry.uncompressedSize > smallBytes) throw new Error('its project file is too large for a picture');
    return (await parseTopology(await buffer(await openUnpacked(zip, file.entry)), projectEntry)).topology;
  } finally {
    zip.close();
  }
}
