/** Deletes many nodes, links and drawings, all or none, as one record of the log and one step of undo. */
import { fault, isFault } from '../../api/faults.ts';
import { forEachBounded } from '../../lib/bounded.ts';
import type { BulkDelete } from '../../schema/bulk.ts';
import { invertChange } from '../log/actions/actions.ts';
import { placed } from './bulk.ts';
import type { LiveProject } from './live-project.ts';

/** Emulators that are stopped at the same time. */
const atOnce = 16;

/**
 * No other change is under way. Links of the nodes are deleted with them.
 * @throws what is wrong with one of them, after its place in the request; nothing is deleted then
 */
export async function deleteAll(project: LiveProject, body: BulkDelete): Promise<void> {
  const { nodes = [], links = [], drawings = [] } = body;
  checkAll('nodes', nodes, (id) => {
    const { locked, name } = project.nodes.get(id).entry;
    if (locked) throw fault('node_locked', { name });
  });
  checkAll('links', links, (id) => void project.links.get(id));
  checkAll('drawings', drawings, (id) => {
    if (project.drawings.get(id).locked) throw fault('drawing_locked', { drawing_id: id });
  });
  if (nodes.length + links.length + drawings.length === 0) return;
  const all = async () => {
    await each(new Set(links), (id) => project.linkOperations.delete(id));
    await each(new Set(nodes), (id) => project.nodes.delete(id));
    await each(new Set(drawings), (id) => project.drawings.delete(id));
  };
  await project.changes.together(all, (change) => invertChange(project, change));
}

/** @throws the first error, once nothing is under way */
async function each(ids: Iterable<string>, remove: (id: string) => Promise<void>): Promise<void> {
  const [error] = await forEachBounded(ids, atOnce, remove);
  if (error !== undefined) throw error;
}

function checkAll(what: 'nodes' | 'links' | 'drawings', ids: readonly string[], check: (id: string) => void): void {
  for (const [index, id] of ids.entries()) {
    try {
      check(id);
    } catch (error) {
      throw isFault(error) ? placed(error, `${what}[${index}]`) : error;
    }
  }
}
