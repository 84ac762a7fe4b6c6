/** Makes a node on its compute that is not part of the project yet; what fails on the way is reverted. */
import { fault } from '../../../api/faults.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import type { ProjectChange } from '../../log/records.ts';
import { type ComputeNodeObject, lackIn, type NodeObject } from '../../model/node.ts';
import type { Prepared } from '../host/prepared.ts';
import type { ProjectContext } from '../host/project-context.ts';
import { isLack, type Lenience, lacking } from './missing-images.ts';
import { makeNode, type NodePlan } from './node-plan.ts';
import { mayBeDone } from './node-verbs.ts';
import type { OpenNode } from './open-node.ts';

export interface PreparedNode extends Prepared<NodeObject> {
  readonly node: OpenNode;
}

/** The nodes of which it becomes one. */
interface NodeHome {
  readonly names: { release(name: string): void };
  put(node: OpenNode): void;
}

export interface PlannedNode {
  readonly compute: RegisteredCompute;
  /** Reserved already. */
  readonly name: string;
  readonly plan: () => NodePlan | Promise<NodePlan>;
  readonly lenience?: Lenience;
}

/** @throws why it cannot be made */
export async function prepareNode(context: ProjectContext, home: NodeHome, wanted: PlannedNode): Promise<PreparedNode> {
  const { compute, name, plan, lenience: { mayLack = false, isStrict = false, isKept = false } = {} } = wanted;
  let planned: NodePlan | undefined;
  const revert = async (error?: unknown) => {
    home.names.release(name);
    if (!planned) return;
    const { node, keepFiles = false } = planned;
    if (node.isPresent || (mayBeDone(error) && compute.transport.state.connected))
      await node.deleteOnCompute({ keepFiles }).catch(() => undefined);
  };
  try {
    planned = await plan();
    const { node, create } = planned;
    node.isPresent = false;
    const answer = await makeNode(context, node, create).catch((error: Error) => {
      if (isKept) return unmade(node, error);
      if (!mayLack || !isLack(error)) throw error;
      return lacking(node, error);
    });
    if (answer) take(node, answer);
    const lack = lackIn(node.live.command_line);
    if (isStrict && lack !== undefined) throw fault('node_failed', { name, reason: lack });
    const apply = () => {
      home.put(node);
      return node.object;
    };
    const change: ProjectChange = { action: 'node.created', event: node.entry, was: null, undoable: true };
    return { node, commit: { change, apply }, revert, result: () => node.object };
  } catch (error) {
    await revert(error);
    throw error;
  }
}

/** Marks a node that its compute cannot make now, or not with all of its files, which is tried again. */
function unmade(node: OpenNode, { message }: Error): void {
  node.isPresent = false;
  node.problem = message;
  node.isUnmade = true;
}

/** Takes what its compute answers as the state of a node that is made there. */
export function take(node: OpenNode, answer: ComputeNodeObject): void {
  const { entry, live } = node.merged(answer);
  node.setEntry(entry);
  node.setLive(live);
}
