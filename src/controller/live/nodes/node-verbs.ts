/** Has a node that exists on its compute started, stopped, … there. */
import { Fault, fault, isFault } from '../../../api/faults.ts';
import { type ComputeNodeObject, kindOf } from '../../model/node.ts';
import type { ProjectContext } from '../host/project-context.ts';
import { withImages } from './missing-images.ts';
import type { OpenNode } from './open-node.ts';

export type NodeVerb = 'start' | 'stop' | 'suspend' | 'reload';

/** Whether the request may have been carried out all the same, if the compute was connected before. */
export function mayBeDone(error: unknown): boolean {
  return isFault(error, 'compute_unreachable') || isFault(error, 'compute_timeout');
}

/** Says with an error that its compute caused what becomes of the request, which stays wanted. */
export function withOutlook(error: unknown, verb: NodeVerb): unknown {
  if (!isFault(error) || !mayBeDone(error)) return error;
  const outlook = `The node is ${verb === 'stop' ? 'stopped' : 'started'} as soon as its compute answers`;
  return new Fault(error.code, `${error.message}. ${outlook}`, { cause: error, extra: error.extra });
}

/** @throws `compute_route_missing` for kinds without that verb */
export function checkVerb({ id, entry }: OpenNode, verb: NodeVerb): void {
  if (verb === 'reload' && !kindOf(entry.node_type).can.reload)
    throw fault('compute_route_missing', { request: `POST …/nodes/${id}/reload` });
}

/** Some computes answer with the node. @throws `compute_route_missing` for kinds that cannot */
export function sendVerb(node: OpenNode, verb: NodeVerb | 'resume', body: unknown): Promise<ComputeNodeObject | undefined> {
  return node.transport.call(`POST ${node.route}/${verb}`, { ...node.request, body });
}

/** Some computes answer with the node. `generation`: of a start, for computes that keep it. Of a stop that fails listeners are sent the reason. */
export async function requestVerb(
  context: ProjectContext,
  node: OpenNode,
  verb: NodeVerb,
  { body, generation }: { readonly body: unknown; readonly generation?: number | undefined },
): Promise<ComputeNodeObject | undefined> {
  try {
    const given = verb === 'start' ? startBody(context, node, body) : body;
    const sent = generation === undefined ? given : { ...(typeof given === 'object' && given), generation };
    return await withImages(context, node, () => sendVerb(node, verb, sent));
  } catch (error) {
    if (verb !== 'stop') throw error;
    context.notify('log.error', { message: `Node ${node.entry.name} could not be stopped: ${(error as Error).message}` });
    return undefined;
  }
}

function startBody({ nodeInputs, computes }: ProjectContext, { entry, compute }: OpenNode, body: unknown): unknown {
  const { isLicensed, can } = kindOf(entry.node_type);
  if (isLicensed) return nodeInputs.license();
  if (!can.liveMove || !compute?.hasMachineTaps) return body;
  // The machine may have to continue on a compute on which those with offloads of the kernel cannot.
  const portable_memory = computes.all().some((one) => one.hasLiveMoves && !one.hasMachineTaps);
  return { ...(typeof body === 'object' && body), portable_memory };
}

/** Whether the error is the compute's, although the node is fine: what failed is tried again soon. */
export function isOfCompute(error: unknown): boolean {
  return (['compute_busy', 'compute_unreachable', 'compute_timeout'] as const).some((code) => isFault(error, code));
}

/** Whether the same may succeed later without a change to the node: its compute is busy, out of reach, or lacks space or files. */
export function mayPass(error: unknown): boolean {
  const lacks = ['storage_failed', 'disk_floor', 'files_exhausted'] as const;
  return isOfCompute(error) || lacks.some((code) => isFault(error, code));
}
