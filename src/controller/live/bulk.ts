/**
 * Many nodes, links and drawings at once, all or nothing: they are made on their computes side by side, then become part of the project
 * by one record of the log. What fails on the way reverts everything.
 */
import { Fault, fault, isFault } from '../../api/faults.ts';
import { checkFilters } from '../../api/filters.ts';
import { forEachBounded } from '../../lib/bounded.ts';
import type { BulkCreate, BulkEnd, BulkLink, BulkNode, BulkUpdate } from '../../schema/bulk.ts';
import type { Drawing } from '../../schema/drawing.ts';
import type { LinkEnd } from '../../schema/link.ts';
import { localComputeId } from '../computes/compute.ts';
import { findKind, type NodeObject } from '../model/node.ts';
import type { NodeEntry } from '../model/topology.ts';
import { type Prepared, revertAll } from './host/prepared.ts';
import type { Commit } from './host/project-context.ts';
import type { LinkObject } from './links/link.ts';
import type { LiveProject } from './live-project.ts';
import type { Fill } from './nodes/node-plan.ts';
import type { OpenNode } from './nodes/open-node.ts';

/** @throws what is wrong with one of them, after its place in the request; nothing has moved then */
export async function placeAll(project: LiveProject, { nodes = [], drawings = [] }: BulkUpdate): Promise<void> {
  const nodeIds = distinctIds('nodes', nodes, ({ node_id }) => node_id);
  const drawingIds = distinctIds('drawings', drawings, ({ drawing_id }) => drawing_id);
  await project.nodes.locks.runAll(nodeIds, () =>
    project.drawings.locks.runAll(drawingIds, async () => {
      const commits = [
        ...planned('nodes', nodes, (node) => project.nodes.preparePlacement(node)),
        ...planned('drawings', drawings, (drawing) => project.drawings.preparePlacement(drawing)),
      ];
      if (commits.length > 0) await project.changes.commitAll(commits);
    }),
  );
}

function planned<W>(what: keyof Made, wanted: readonly W[], plan: (one: W) => Commit | undefined): Commit[] {
  return wanted.flatMap((one, index) => {
    try {
      return plan(one) ?? [];
    } catch (error) {
      throw isFault(error) ? placed(error, `${what}[${index}]`) : error;
    }
  });
}

interface Made {
  readonly nodes: NodeObject[];
  readonly links: LinkObject[];
  readonly drawings: Readonly<Drawing>[];
}

/** Most nodes or links that are made at the same time: many, as their records share a sync. */
export const makingConcurrency = 32;

/** Whether a node is in the fabric of this host: it starts no program, so that many of them may start at once and share a sync. */
export function isInOwnFabric(entry: NodeEntry | undefined): boolean {
  return entry?.compute_id === localComputeId && findKind(entry.node_type)?.inFabric !== undefined;
}

/** Returns the step that gives a new node files before it is stored and announced; undefined: nothing. @throws why there are none */
type FillOf = (wanted: BulkNode) => Fill | undefined;

/** @throws what is wrong with one of them, after its place in the request; nothing is left then */
export async function makeAll(project: LiveProject, body: BulkCreate, fillOf: FillOf): Promise<Made> {
  const lenience = { mayLack: body.strict !== true, isStrict: body.strict === true };
  const wanted = (body.nodes ?? []).map((node) => ({ ...node, node_id: node.node_id ?? crypto.randomUUID() }));
  const ids = idsByRef(wanted);
  const links = (body.links ?? []).map((link, index) => ({ ...link, nodes: link.nodes.map((end) => endOf(end, ids, index)) }));
  distinctIds('links', links, ({ link_id }) => link_id);
  distinctIds('drawings', body.drawings ?? [], ({ drawing_id }) => drawing_id);
  const ends = links.flatMap(({ nodes }) => nodes);
  const concerned = [...wanted, ...ends].map(({ node_id }) => node_id);
  return project.nodes.locks.runAll(concerned, async () => {
    const prepared: Prepared<unknown>[] = [];
    try {
      const nodes = await each('nodes', wanted, prepared, async (node) => project.nodes.prepare(node, fillOf(node), lenience));
      const fresh = new Map(nodes.map(({ node }) => [node.id, node]));
      const joined = await each('links', links, prepared, (link) => prepareLink(project, link, fresh));
      const drawings = await each('drawings', body.drawings ?? [], prepared, (drawing) => project.drawings.prepare(drawing));
      await project.changes.commitAll([...nodes, ...joined, ...drawings].map(({ commit }) => commit));
      return { nodes: results(nodes), links: results(joined), drawings: results(drawings) };
    } catch (error) {
      await revertAll(prepared);
      throw error;
    }
  });
}

/** Makes all of one sort; whatever was made is in `prepared`, also when one fails. */
async function each<W, P extends Prepared<unknown>>(
  what: keyof Made,
  wanted: readonly W[],
  prepared: Prepared<unknown>[],
  prepare: (one: W) => Promise<P>,
): Promise<P[]> {
  const made: P[] = [];
  let failed: unknown;
  await forEachBounded(wanted.entries(), makingConcurrency, async ([index, one]) => {
    if (failed !== undefined) return;
    try {
      const ready = await prepare(one);
      made[index] = ready;
      prepared.push(ready);
    } catch (error) {
      failed ??= isFault(error) ? placed(error, `${what}[${index}]`) : error;
    }
  });
  if (failed !== undefined) throw failed;
  return made;
}

function prepareLink(project: LiveProject, link: BulkLink & { nodes: LinkEnd[] }, fresh: ReadonlyMap<string, OpenNode>) {
  const [one, other] = link.nodes as [LinkEnd, LinkEnd];
  const nodeOf = ({ node_id }: LinkEnd) => fresh.get(node_id) ?? project.nodes.get(node_id);
  const checked = { ...link, filters: checkFilters(link.filters ?? {}) };
  return project.linkOperations.prepare(checked, [nodeOf(one), nodeOf(other)], { linkId: link.link_id });
}

/** @throws `invalid_request` */
function idsByRef(nodes: readonly (BulkNode & { node_id: string })[]): Map<string, string> {
  distinctIds('nodes', nodes, ({ node_id }) => node_id);
  distinctIds('nodes', nodes, ({ ref }) => ref);
  return new Map(nodes.flatMap(({ ref, node_id }) => (ref === undefined ? [] : [[ref, node_id]])));
}

/** @throws `invalid_request` */
function distinctIds<W>(what: keyof Made, wanted: readonly W[], idOf: (one: W) => string | undefined): Set<string> {
  const seen = new Set<string>();
  for (const [index, one] of wanted.entries()) {
    const id = idOf(one);
    if (id === undefined) continue;
    if (seen.has(id)) throw fault('invalid_request', { reason: `${what}[${index}]: another has "${id}" too` });
    seen.add(id);
  }
  return seen;
}

/** @throws `invalid_request` */
function endOf({ ref, node_id, ...end }: BulkEnd, ids: ReadonlyMap<string, string>, index: number): LinkEnd {
  const id = ref === undefined ? node_id : ids.get(ref);
  if (id !== undefined && (ref === undefined || node_id === undefined)) return { ...end, node_id: id };
  const reason = ref === undefined || node_id !== undefined ? 'an end has either node_id or ref' : `no node has the ref "${ref}"`;
  throw fault('invalid_request', { reason: `links[${index}]: ${reason}` });
}

/** Returns the same failure with its place in the request. */
export function placed(error: Fault, place: string): Fault {
  return new Fault(error.code, `${place}: ${error.message}`, { cause: error.cause, extra: error.extra });
}

function results<T>(prepared: readonly Prepared<T>[]): T[] {
  return prepared.map((one) => one.result());
}
