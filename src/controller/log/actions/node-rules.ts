/** Records of nodes. */
import { Type } from '../../../schema/type.ts';
import { StoredNode } from '../../model/stored.ts';
import { type NodeEntry, toNodeEntry } from '../../model/topology.ts';
import { type ActionRules, differing, isAsLeft, lockOf, type NoticeView, type Outlook, type StoredState } from './action-rules.ts';

type NodeRecordAction = 'node.created' | 'node.updated' | 'node.deleted';

const put = ({ nodes, pastComputes }: StoredState, { event }: { event: NodeEntry }): void => {
  nodes.set(event.node_id, toNodeEntry(event));
  pastComputes.add(event.compute_id);
};
const notice = (source: NoticeView, { event }: { event: NodeEntry }) => source.nodeObject(event);
/** The key under which an `Outlook` records whether a node will have the name. */
const nameOf = (name: string) => `name ${name}`;
const exists = ({ project, willExist }: Outlook, { node_id }: NodeEntry) =>
  willExist(node_id) ?? project.nodes.find(node_id) !== undefined;
const isNamed = ({ project, willExist }: Outlook, name: string) => willExist(nameOf(name)) ?? project.nodes.isNamed(name);
const missing = ({ name }: NodeEntry) => `node ${name} does not exist any more`;

export const nodeRules: { [A in NodeRecordAction]: ActionRules<A> } = {
  'node.created': {
    schema: { event: StoredNode, was: Type.Null() },
    apply: put,
    conflict: (outlook, { event }) => {
      const { project, expect, willExist } = outlook;
      if (!exists(outlook, event)) return missing(event);
      const node = project.nodes.find(event.node_id);
      const isLocked = willExist(lockOf(event.node_id)) ?? node?.entry.locked === true;
      expect(event.node_id, false);
      expect(nameOf(event.name), false);
      return isLocked ? `node ${node?.entry.name ?? event.name} is locked: unlock it first` : undefined;
    },
    invert: ({ nodes }, { event }) => nodes.delete(event.node_id),
    notice,
  },
  'node.updated': {
    schema: { event: StoredNode, was: StoredNode },
    apply: put,
    conflict: (outlook, { event, was }) => {
      const { project, expect, isSeen } = outlook;
      if (!exists(outlook, event)) return missing(event);
      const node = project.nodes.find(event.node_id);
      const wanted = differing(was, event);
      const isChanged = !isSeen(event.node_id) && node !== undefined && !isAsLeft(node.entry, event, wanted);
      if (isChanged) return `node ${node.entry.name} was changed since`;
      if (wanted.name !== undefined && isNamed(outlook, wanted.name)) return `another node has the name ${wanted.name} now`;
      if ('locked' in wanted) expect(lockOf(event.node_id), wanted.locked === true);
      if (wanted.name !== undefined) {
        expect(nameOf(event.name), false);
        expect(nameOf(wanted.name), true);
      }
      return undefined;
    },
    invert: ({ nodes }, { event, was }) => nodes.reapply(event.node_id, differing(was, event)),
    notice,
  },
  'node.deleted': {
    schema: { event: StoredNode, was: StoredNode },
    apply: ({ nodes, wanted, deleting }, { event }) => {
      deleting.delete(event.node_id);
      nodes.delete(event.node_id);
      wanted.delete(event.node_id);
    },
    conflict: (outlook, { event }) => {
      const { project, expect } = outlook;
      if (exists(outlook, event)) return `a node with the id ${event.node_id} exists again`;
      if (!project.nodes.computeOf(event)) return `the compute ${event.compute_id} of node ${event.name} is not registered`;
      if (isNamed(outlook, event.name)) return `another node has the name ${event.name} now`;
      expect(event.node_id, true);
      expect(nameOf(event.name), true);
      expect(lockOf(event.node_id), false);
      return undefined;
    },
    invert: ({ nodes }, { was }, how) => nodes.restore(was, how),
    notice,
  },
};
