/** Records of nodes. */
import { Type } from '../../../schema/type.ts';
import { StoredNode } from '../../model/stored.ts';
import { type NodeEntry, toNodeEntry } from '../../model/topology.ts';
import { type ActionRules, differing, isAsLeft, type NoticeView, type StoredState } from './action-rules.ts';

type NodeRecordAction = 'node.created' | 'node.updated' | 'node.deleted';

const put = ({ nodes, pastComputes }: StoredState, { event }: { event: NodeEntry }): void => {
  nodes.set(event.node_id, toNodeEntry(event));
  pastComputes.add(event.compute_id);
};
const notice = (source: NoticeView, { event }: { event: NodeEntry }) => source.nodeObject(event);
const missing = ({ name }: NodeEntry) => `node ${name} does not exist any more`;

export const nodeRules: { [A in NodeRecordAction]: ActionRules<A> } = {
  'node.created': {
    schema: { event: StoredNode, was: Type.Null() },
    apply: put,
    conflict: ({ project, expect }, { event }) => {
      const node = project.nodes.find(event.node_id);
      if (!node) return missing(event);
      expect(event.node_id, false);
      return node.entry.locked ? `node ${node.entry.name} is locked: unlock it first` : undefined;
    },
    invert: ({ nodes }, { event }) => nodes.delete(event.node_id),
    notice,
  },
  'node.updated': {
    schema: { event: StoredNode, was: StoredNode },
    apply: put,
    conflict: ({ project: { nodes }, isSeen }, { event, was }) => {
      const node = nodes.find(event.node_id);
      if (!node) return missing(event);
      if (isSeen(event.node_id)) return undefined;
      const wanted = differing(was, event);
      if (!isAsLeft(node.entry, event, wanted)) return `node ${node.entry.name} was changed since`;
      return wanted.name !== undefined && nodes.isNamed(wanted.name) ? `another node has the name ${wanted.name} now` : undefined;
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
    conflict: ({ project: { nodes }, expect }, { event }) => {
      expect(event.node_id, true);
      if (nodes.find(event.node_id)) return `a node with the id ${event.node_id} exists again`;
      if (!nodes.computeOf(event)) return `the compute ${event.compute_id} of node ${event.name} is not registered`;
      return nodes.isNamed(event.name) ? `another node has the name ${event.name} now` : undefined;
    },
    invert: ({ nodes }, { was }, how) => nodes.restore(was, how),
    notice,
  },
};
