import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LiveProject } from '../live/live-project.ts';
import type { OpenNode } from '../live/nodes/open-node.ts';
import { findKind } from '../model/node.ts';

/**
 * Writes the file that gives a node its address among other nodes, such as its hardware address, in place of its lost folder. The new
 * compute is sent this file. Without it the node works as well, under another address. Never rejects.
 */
export async function writeCarriedFile(live: LiveProject, { id, entry, live: { command_line } }: OpenNode): Promise<void> {
  const { carriedFile, folder = '' } = findKind(entry.node_type) ?? {};
  const text = typeof command_line === 'string' ? carriedFile?.from(command_line) : undefined;
  if (!carriedFile || text === undefined) return;
  const own = join(live.folder, 'project-files', folder, id);
  try {
    await mkdir(own, { recursive: true });
    // A file that lies here already is the node's own.
    await writeFile(join(own, carriedFile.name), text, { flag: 'wx' });
  } catch {
    // The file exists, or the disk is full.
  }
}
