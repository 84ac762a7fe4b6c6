/** Collects the notices for a listener that reconnects: the changes that it missed, as announced then, and unlogged states. */
import type { NoticeView } from '../../log/actions/action-rules.ts';
import { noticeOf } from '../../log/actions/actions.ts';
import type { LogRecord } from '../../log/records.ts';
import { type NodeObject, unknownLive } from '../../model/node.ts';
import { type NodeEntry, toNodeEntry } from '../../model/topology.ts';
import type { ProjectDrawings } from '../drawings/project-drawings.ts';
import type { Notice } from '../host/project-context.ts';
import { OpenNode } from '../nodes/open-node.ts';
import type { ProjectNodes } from '../nodes/project-nodes.ts';

export interface AnnouncedProject {
  readonly projectId: string;
  readonly nodes: ProjectNodes;
  readonly drawings: ProjectDrawings;
}

/** The notice of each of these changes that had one, in order. */
export async function noticesOf(records: readonly LogRecord[], project: AnnouncedProject): Promise<Notice[]> {
  const source: NoticeView = {
    nodeObject: (stored) => nodeObject(stored, project),
    picture: (stored) => project.drawings.picture(stored),
  };
  const notices: Notice[] = [];
  for (const record of records) {
    const event = await noticeOf(source, record);
    if (event) notices.push({ action: record.action, event, seq: record.seq });
  }
  return notices;
}

/** Completes the stored fields of a node from the log by its present state. */
function nodeObject(stored: NodeEntry, { projectId, nodes }: AnnouncedProject): NodeObject {
  const known = nodes.find(stored.node_id);
  if (known?.entry === stored) return known.object;
  const entry = toNodeEntry(stored);
  const compute = known?.compute ?? nodes.computeOf(entry);
  return new OpenNode(projectId, compute, entry, known?.live ?? unknownLive).object;
}
