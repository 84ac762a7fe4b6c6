/** Nodes that are about to be made: what is stored of them, and how they come to be on their compute. */
import { cp, readFile } from 'node:fs/promises';
import { basename, join, normalize } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fault, isFault } from '../../../api/faults.ts';
import type { RawAnswer } from '../../../api/transport.ts';
import { checkValue } from '../../../api/validate.ts';
import { removeTree } from '../../../lib/remove-tree.ts';
import type { NodeCreate, NodeDuplicate } from '../../../schema/node.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import { canonical } from '../../model/canonical.ts';
import { type ComputeNodeObject, escapeHtml, findKind, kindOf, newNodeEntry } from '../../model/node.ts';
import { symbolOf } from '../../model/symbol.ts';
import type { NodeEntry } from '../../model/topology.ts';
import type { ProjectContext } from '../host/project-context.ts';
import { isLack, withImages } from './missing-images.ts';
import { OpenNode, unlessMissing } from './open-node.ts';

export interface NodePlan {
  readonly node: OpenNode;
  /** Makes it on its compute. */
  readonly create: () => Promise<ComputeNodeObject>;
  /** The node had files before: its compute keeps them when what is planned is reverted. */
  readonly keepFiles?: boolean;
}

/**
 * Makes a node on its compute, to which the project is announced first; again, where the compute does not know the project: a request to
 * close it that was sent earlier has arrived since. @throws why it cannot be made
 */
export async function makeNode(context: ProjectContext, node: OpenNode, create: NodePlan['create']): Promise<ComputeNodeObject> {
  const compute = node.requireCompute();
  const make = () => withImages(context, node, create);
  await context.announceTo(compute);
  const made = await make().catch(unlessMissing);
  if (made) return made;
  await context.announceTo(compute, { isForgotten: true });
  return make();
}

/** A new node as a client requests it; `fill` gives it files. */
export async function planNode(
  { projectId, nodeInputs, symbols }: ProjectContext,
  compute: RegisteredCompute,
  body: NodeCreate & { node_id: string },
  { name, fill }: { readonly name: string; readonly fill: Fill | undefined },
): Promise<NodePlan> {
  const size = await symbols.sizeOfNode(symbolOf(body.symbol));
  const { properties, contents } = await readNamedFiles(
    body.properties ?? {},
    nodeInputs.configsPath,
    kindOf(body.node_type).baseFiles,
  );
  const node = new OpenNode(projectId, compute, newNodeEntry({ ...body, properties }, name, size));
  const plan = { node, create: () => node.createOnCompute(contents) };
  return fill ? filledBy(plan, fill) : plan;
}

/** Gives a node files. */
export type Fill = (node: OpenNode) => Promise<void>;

/** The node with files that it gets when its compute has made it. */
function filledBy({ node, create }: NodePlan, fill: Fill): NodePlan {
  const createFilled = async () => {
    const made = await create();
    await fill(node);
    return made;
  };
  return { node, create: createFilled };
}

interface CopyWanted {
  readonly node_id: string;
  readonly place: NodeDuplicate;
  readonly name: string;
  /** Folder of the project. */
  readonly folder: string;
}

/**
 * A copy of a node at another place: first it is made, then it gets the files. A node that lacks an image or a program does not exist on
 * its compute, which has its files only: they are copied first, and the copy may lack the same.
 */
export function planCopy(source: OpenNode, { node_id, place, name, folder }: CopyWanted): NodePlan {
  const node = new OpenNode(source.projectId, source.compute, { ...copiedEntry(source.entry, name, place), node_id });
  const folderOf = ({ id, entry }: OpenNode) => join(folder, 'project-files', kindOf(entry.node_type).folder, id);
  const create = async () => {
    if (!source.isPresent) {
      if (source.requireCompute().isLocal) return createBehind(node, copyOfFolder(node, folderOf(source), folderOf(node)));
      return createBehind(node, await copyThere(source, node));
    }
    await node.createOnCompute();
    const body = { destination_node_id: node.id };
    await source.transport.send(`POST ${source.route}/duplicate`, { ...source.request, body });
    // The node is read again, because its files may have changed how the compute shows it.
    return node.read();
  };
  return { node, create };
}

/** Copies files of a node, and removes them again. */
interface FilesBehind {
  copy(): Promise<void>;
  revert(): Promise<unknown>;
}

/** Makes a node after the copy of its files, which go again when the node's compute refuses for another reason than what the node lacks. */
async function createBehind(node: OpenNode, files: FilesBehind): Promise<ComputeNodeObject> {
  try {
    await files.copy();
    return await node.createOnCompute();
  } catch (error) {
    if (!isLack(error)) await files.revert().catch(() => undefined);
    throw error;
  }
}

/** Copies the folder of a node of this computer. */
function copyOfFolder({ entry: { name } }: OpenNode, from: string, to: string): FilesBehind {
  const failed = (error: NodeJS.ErrnoException) => {
    // A node without files has no folder.
    if (error.code === 'ENOENT') return;
    throw fault('node_failed', { name, reason: `its files could not be copied: ${error.message}` }, { cause: error });
  };
  return {
    copy: () => cp(from, to, { recursive: true, verbatimSymlinks: true }).catch(failed),
    revert: () => removeTree(to),
  };
}

/** Copies the files of a node on a remote compute, by way of this server and never held in memory. */
async function copyThere(source: OpenNode, { id: copyId }: OpenNode): Promise<FilesBehind> {
  const { projectId, id, entry } = source;
  const { transport } = source.requireCompute();
  const ofProject = `/v2/compute/projects/${projectId}/files/`;
  const folder = `project-files/${kindOf(entry.node_type).folder}`;
  const listed = await transport.call('GET /v2/compute/projects/{project_id}/files', {
    path: { project_id: projectId },
    timeoutMs: 0,
  });
  const own = `${folder}/${id}/`;
  const names = listed.flatMap(({ path }) => (path.startsWith(own) && normalize(path) === path ? path.slice(own.length) : []));
  return {
    async copy() {
      for (const name of names) {
        const { body } = await transport.raw('GET', `${ofProject}${own}${name}`);
        await drained(transport.raw('POST', `${ofProject}${folder}/${copyId}/${name}`, body));
      }
    },
    revert: () =>
      Promise.allSettled(names.map((name) => drained(transport.raw('DELETE', `${ofProject}${folder}/${copyId}/${name}`)))),
  };
}

/** Reads an answer to its end: unread, it holds its connection. */
async function drained(answer: Promise<RawAnswer>): Promise<void> {
  const { body } = await answer;
  if (!(body instanceof Uint8Array)) await buffer(body);
}

/** A node that was deleted, as it was, with its files where its compute still has them. */
export function planReturn({ projectId }: ProjectContext, compute: RegisteredCompute, entry: NodeEntry): NodePlan {
  const node = new OpenNode(projectId, compute, entry);
  const create = async () => {
    const made = await node.createOnCompute();
    await restoreKept(node);
    return made;
  };
  return { node, create, keepFiles: true };
}

/** Has the compute put back the files of a node that it kept at its deletion; it may have kept none, and a node that runs has its own. */
export async function restoreKept(node: OpenNode): Promise<void> {
  await node.transport.send(`POST ${node.route}/restore_files`, node.request).catch((error: unknown) => {
    if (!isFault(error, 'node_running')) unlessMissing(error);
  });
}

/** Properties that no two nodes share: the compute gives the copy its own. */
const ownProperties: ReadonlySet<string> = new Set(['application_id', 'dynamips_id', 'mac_addr', 'mac_address']);

/**
 * Checks a change of a node that its compute does not have, as computes of this program would; stock GNS3 computes have rules of their
 * own. @throws invalid_request
 */
export async function checkAbsent({ entry, compute }: OpenNode, body: Record<string, unknown>): Promise<void> {
  const kind = findKind(entry.node_type);
  if (kind && !compute?.isStock) await checkValue(kind.update, body);
}

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
  return canonical({ ...entry, x, y, z, label, locked: false, name, properties });
}

const contentOf: Readonly<Record<string, string>> = {
  base_script_file: 'startup_script',
  private_config: 'private_config_content',
  startup_config: 'startup_config_content',
};

interface NamedFiles {
  /** The properties without the names. */
  readonly properties: Record<string, unknown>;
  readonly contents: Record<string, unknown>;
}

/**
 * Takes out properties that name a file in the configs folder: its content is sent in place of the name, once, when the node is made. A file
 * that is not there is one of the kind's own, or left out.
 */
async function readNamedFiles(
  given: Readonly<Record<string, unknown>>,
  configsPath: string,
  baseFiles: Readonly<Record<string, string>> = {},
): Promise<NamedFiles> {
  const properties = { ...given };
  const contents: Record<string, unknown> = {};
  for (const [property, content] of Object.entries(contentOf)) {
    const name = properties[property];
    if (typeof name !== 'string') continue;
    delete properties[property];
    // Only the name counts: a path must not point outside the folder.
    const file = basename(name);
    const text = await readFile(join(configsPath, file), 'utf8').catch(() =>
      Object.hasOwn(baseFiles, file) ? baseFiles[file] : undefined,
    );
    if (text !== undefined) contents[content] = text;
  }
  return { properties, contents };
}
