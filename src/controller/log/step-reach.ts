/** Computes what a step of the history is about, and so which steps can be reverted one without the other. */
import type { LinkMirror } from '../../schema/link.ts';
import type { LogRecord, StoredLink } from './records.ts';

export interface Reach {
  /** Ids of what the step changed, and the names and ports that it took or gave up. */
  readonly claims: Set<string>;
  /** Ids of nodes that it made or deleted. */
  readonly makes: Set<string>;
  /** Ids of the nodes that its links are on. */
  readonly needs: Set<string>;
  /** Whether it is about the whole project. */
  isAll: boolean;
}

export function reachOf(records: readonly LogRecord[]): Reach {
  const reach: Reach = { claims: new Set(), makes: new Set(), needs: new Set(), isAll: false };
  for (const record of records) addRecord(reach, record);
  return reach;
}

/** Whether one of the two steps is in the way when the other one is reverted. */
export function areEntangled(one: Reach, other: Reach): boolean {
  if (one.isAll || other.isAll) return true;
  return meet(one.claims, other.claims) || meet(one.makes, other.needs) || meet(other.makes, one.needs);
}

function meet(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  if (some.size > others.size) return meet(others, some);
  for (const id of some) if (others.has(id)) return true;
  return false;
}

function addRecord(reach: Reach, record: LogRecord): void {
  const { claims, makes } = reach;
  switch (record.action) {
    case 'node.created':
    case 'node.deleted':
      claims.add(record.event.node_id).add(nameOf(record.event));
      makes.add(record.event.node_id);
      break;
    case 'node.updated':
      claims.add(record.event.node_id);
      if (record.event.name !== record.was.name) claims.add(nameOf(record.event)).add(nameOf(record.was));
      break;
    case 'link.created':
    case 'link.deleted':
      addLink(reach, record.event);
      for (const end of record.event.nodes) addPort(reach, end);
      break;
    case 'link.updated':
      addLink(reach, record.event);
      if (record.was.mirror) addPort(reach, record.was.mirror);
      break;
    case 'drawing.created':
    case 'drawing.updated':
    case 'drawing.deleted':
      claims.add(record.event.drawing_id);
      break;
    case 'project.updated':
      claims.add('project');
      break;
    case 'project.rewound':
      reach.isAll = true;
      break;
    default:
  }
}

const nameOf = ({ name }: { readonly name: string }) => `name ${name}`;

function addLink(reach: Reach, { link_id, nodes, mirror }: Pick<StoredLink, 'link_id' | 'nodes' | 'mirror'>): void {
  reach.claims.add(link_id);
  for (const { node_id } of nodes) reach.needs.add(node_id);
  if (mirror) addPort(reach, mirror);
}

function addPort({ claims, needs }: Reach, { node_id, adapter_number, port_number }: Omit<LinkMirror, 'side'>): void {
  claims.add(`port ${node_id}/${adapter_number}/${port_number}`);
  needs.add(node_id);
}
