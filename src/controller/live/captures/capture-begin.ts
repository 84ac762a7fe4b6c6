/** Where a capture of a link is made, and into which file. Nothing here does I/O. */
import { fault } from '../../../api/faults.ts';
import { wrongWithBaseName } from '../../../lib/base-name.ts';
import type { LinkCaptureStart } from '../../../schema/capture.ts';
import { findKind } from '../../model/node.ts';
import { endOf, type OpenLink, type Two } from '../links/link.ts';
import type { OpenNode } from '../nodes/open-node.ts';

/** Of a node's name, in the name of a file that was not given one. */
const maxNameLength = 100;

export interface CaptureBegin {
  readonly end: 0 | 1;
  readonly fileName: string;
  /** What the end's compute is asked. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** @throws `capture_no_end`, `capture_file_invalid` */
export function captureBegin(link: OpenLink, { capture_file_name, ...options }: LinkCaptureStart): CaptureBegin {
  const fileName = capture_file_name || defaultFileName(link, options.side === 'before' ? '_before' : '');
  const reason = wrongWithBaseName(fileName);
  if (reason !== undefined) throw fault('capture_file_invalid', { file: fileName.slice(0, 100), reason });
  const body = { data_link_type: 'DLT_EN10MB', ...options, capture_file_name: fileName };
  return { end: capturingEnd(link.nodes), fileName, body };
}

/** Captures of the two sides of the filters, and those beside the link's own, do not take each other's file. */
export function defaultFileName({ entry, nodes }: OpenLink, suffix: string): string {
  const side = (end: 0 | 1) => {
    const { adapter, port } = endOf(entry, end);
    return `${nodes[end].entry.name.slice(0, maxNameLength)}_${adapter}-${port}`;
  };
  return `${`${side(0)}_to_${side(1)}`.replace(/[^0-9A-Za-z_-]/g, '')}${suffix}.pcap`;
}

/** On this machine rather than elsewhere, and at a node that is always there rather than at one that may be stopped. */
function capturingEnd(nodes: Two<OpenNode>): 0 | 1 {
  const isStarted = (node: OpenNode) => node.live.status === 'started';
  const isLasting = (node: OpenNode) => isStarted(node) && findKind(node.entry.node_type)?.alwaysRunning === true;
  const isLocal = (node: OpenNode) => node.compute?.isLocal === true;
  const rules = [
    (node: OpenNode) => isLocal(node) && isLasting(node),
    isLasting,
    (node: OpenNode) => isLocal(node) && isStarted(node),
    isStarted,
  ];
  for (const rule of rules) {
    if (rule(nodes[0])) return 0;
    if (rule(nodes[1])) return 1;
  }
  throw fault('capture_no_end', { one: nodes[0].entry.name, other: nodes[1].entry.name });
}
