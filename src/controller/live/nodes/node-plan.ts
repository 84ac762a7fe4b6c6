/** Nodes that are about to be made: what is stored of them, and how they come to be on their compute. */
import { fault } from '../../../api/faults.ts';
import type { NodeCreate, NodeDuplicate } from '../../../schema/node.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import { canonical } from '../../model/canonical.ts';
import { type ComputeNodeObject, createBody, escapeHtml, kindOf, newNodeEntry } from '../../model/node.ts';
import { symbolOf } from '../../model/symbol.ts';
import type { NodeEntry } from '../../model/topology.ts';
import type { ProjectContext } from '../host/project-context.ts';
import { readNamedFiles } from './named-files.ts';
import { OpenNode } from './open-node.ts';

export interface NodePlan {
  readonly node: OpenNode;
  /** Makes it on its compute. */
  readonly create: () => Promise<ComputeNodeObject>;
}

/** A new node as a client requests it. */
export async function planNode(
  { projectId, nodeInputs, symbols }: ProjectContext,
  compute: RegisteredCompute,
  body: NodeCreate & { node_id: string },
  name: string,
): Promise<NodePlan> {
  const size = await symbols.sizeOfNode(symbolOf(body.symbol));
  const { properties, contents } = await readNamedFiles(
    body.properties ?? {},
    nodeInputs.configsPath,
    kindOf(body.node_type).baseFiles,
  );
  const node = new OpenNode(projectId, compute, newNodeEntry({ ...body, properties }, name, size));
  return { node, create: () => node.createOnCompute(createBody(node.entry, contents)) };
}

/** Gives a node files. */
export type Fill = (node: OpenNode) => Promise<void>;

/** The node with files that it gets when its compute has made it. */
export function filledBy({ node, create }: NodePlan, fill: Fill): NodePlan {
  const createFilled = async () => {
    const made = await create();
    await fill(node);
    return made;
  };
  return { node, create: createFilled };
}

/** A copy of a node at another place: first it is made, then it gets the files. */
export function planCopy(source: OpenNode, place: NodeDuplicate, name: string): NodePlan {
  const node = new OpenNode(source.projectId, source.compute, copiedEntry(source.entry, name, place));
  const create = async () => {
    await node.createOnCompute(createBody(node.entry));
    await source.copyFilesTo(node);
    // Its files may have changed how the compute shows it.
    return node.read();
  };
  return { node, create };
}

/** A node that was deleted, as it was, with its files where its compute still has them. */
export function planReturn({ projectId }: ProjectContext, compute: RegisteredCompute, entry: NodeEntry): NodePlan {
  const node = new OpenNode(projectId, compute, entry);
  const create = async () => {
    const made = await node.createOnCompute(createBody(entry));
    await node.restoreFiles();
    return made;
  };
  return { node, create };
}

/** Properties that no two nodes share: the compute gives the copy its own. */
const ownProperties: ReadonlySet<string> = new Set(['application_id', 'dynamips_id', 'mac_addr', 'mac_address']);

/** @throws node_type_unavailable, node_not_duplicable, node_running */
export function checkDuplicable({ entry, live }: OpenNode): void {
  const kind = kindOf(entry.node_type);
  if (!kind.can.duplicate) throw fault('node_not_duplicable', { name: entry.name, node_type: entry.node_type });
  if (live.status !== 'stopped' && !kind.alwaysRunning)
    throw fault('node_running', { name: entry.name, what: 'make a copy of it' });
}

/** All that is stored of the node, under another id and name at another place, not locked. */
function copiedEntry(entry: NodeEntry, name: string, { x, y, z = 0 }: NodeDuplicate): NodeEntry {
  const properties = Object.fromEntries(Object.entries(entry.properties).filter(([key]) => !ownProperties.has(key)));
  const label = { ...entry.label, text: escapeHtml(name) };
  return canonical({ ...entry, x, y, z, label, locked: false, name, node_id: crypto.randomUUID(), properties });
}
