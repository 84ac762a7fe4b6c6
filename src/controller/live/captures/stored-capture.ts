/** A capture of a link: its states, its file, which end writes it, and how clients are shown it. Nothing here does I/O. */
import { join } from 'node:path';
import { fault } from '../../../api/faults.ts';
import { wrongWithBaseName } from '../../../lib/base-name.ts';
import {
  type CaptureEntry,
  type CaptureOptions,
  gns3CaptureId,
  type LinkCapture,
  type LinkCaptureStart,
} from '../../../schema/capture.ts';
import { linkTypes } from '../../../schema/pcap.ts';
import { findKind } from '../../model/node.ts';
import { endOf, type OpenLink, type ShownCapture, type Two } from '../links/link.ts';
import type { OpenNode } from '../nodes/open-node.ts';

interface CaptureFacts extends CaptureOptions {
  readonly capture_id: string;
  readonly capture_file_name: string;
}

/**
 * A capture as it is stored; the diagram of the states is in docs/architecture.md.
 * - `capturing`: the compute of the node at this end of the link writes the file.
 * - `unreachable`: the compute wrote the file when the project was last open, and has not confirmed it since.
 * - `waiting`: the capture starts when one of the link's nodes is started.
 * - `ended`: only for GNS3's capture, because clients are still shown the name of its file.
 */
export type StoredCapture = CaptureFacts &
  ({ readonly state: 'capturing' | 'unreachable'; readonly end: 0 | 1 } | { readonly state: 'waiting' | 'ended' });

/** Request for a compute to write a capture, and the end of the link where it does. */
export interface CapturePlan {
  readonly id: string;
  readonly end: 0 | 1;
  readonly body: LinkCaptureStart & { readonly capture_file_name: string };
}

/** Length limit of a node's name within a generated file name. */
const maxNameLength = 100;

/** @throws `capture_no_end`, `capture_file_invalid` */
export function planCapture(link: OpenLink, id: string, { capture_file_name, ...options }: LinkCaptureStart): CapturePlan {
  const file = capture_file_name || defaultFileName(link, id, options.side);
  const reason = wrongWithBaseName(file);
  if (reason !== undefined) throw fault('capture_file_invalid', { file: file.slice(0, 100), reason });
  return { id, end: capturingEnd(link.nodes), body: { data_link_type: 'DLT_EN10MB', ...options, capture_file_name: file } };
}

/**
 * The request with the type that its frames are captured as: the given one, or the first that the link's ports have.
 * @throws `invalid_request` for one that no port has
 */
export function withLinkType({ entry, nodes }: OpenLink, body: LinkCaptureStart): LinkCaptureStart {
  const types = ([0, 1] as const).flatMap((end) => {
    const { adapter, port } = endOf(entry, end);
    return Object.values(nodes[end].findPort(adapter, port)?.data_link_types ?? {});
  });
  const given = body.data_link_type ?? types.find(isLinkType);
  if (given === undefined) return body;
  if (types.length > 0 && !types.includes(given)) {
    const fitting = [...new Set(types)].join(' or ');
    throw fault('invalid_request', { reason: `frames of this link are not of the type ${given}: capture them as ${fitting}` });
  }
  return { ...body, data_link_type: given };
}

const isLinkType = (name: string): name is keyof typeof linkTypes => Object.hasOwn(linkTypes, name);

/** Two captures of a link do not get the same name. */
function defaultFileName({ entry, nodes }: OpenLink, id: string, side: LinkCaptureStart['side']): string {
  const nameOf = (end: 0 | 1) => {
    const { adapter, port } = endOf(entry, end);
    return `${nodes[end].entry.name.slice(0, maxNameLength)}_${adapter}-${port}`;
  };
  const ofGns3 = side === 'before' ? '_before' : '';
  const suffix = id === gns3CaptureId ? ofGns3 : `_${id.slice(0, 8)}`;
  return `${`${nameOf(0)}_to_${nameOf(1)}`.replace(/[^0-9A-Za-z_-]/g, '')}${suffix}.pcap`;
}

/**
 * Chooses the end of a capture: an always running node rather than one that may be stopped, a local compute rather than a remote
 * one.
 */
function capturingEnd(nodes: Two<OpenNode>): 0 | 1 {
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

export function isStarted(node: OpenNode): boolean {
  return node.live.status === 'started';
}

/** A compute says that it captures. */
export function captureOf(entry: CaptureEntry, end: 0 | 1): StoredCapture {
  const { capture_id, capture_file_name } = entry;
  return { capture_id: capture_id ?? gns3CaptureId, capture_file_name, ...optionsOf(entry), state: 'capturing', end };
}

/** GNS3's route does not answer how frames are written. */
export function captureOfPlan({ id, end, body }: CapturePlan): StoredCapture {
  const { capture_file_name, data_link_type = 'DLT_EN10MB', side = 'after', nanoseconds = false, max_bytes = null } = body;
  const ends_at = body.max_seconds === undefined ? null : new Date(Date.now() + body.max_seconds * 1000).toISOString();
  const options = { data_link_type, side, nanoseconds, max_bytes, ends_at };
  return { capture_id: id, capture_file_name, ...options, state: 'capturing', end };
}

function optionsOf({ data_link_type, side, nanoseconds, max_bytes, ends_at }: CaptureOptions): CaptureOptions {
  return { data_link_type, side, nanoseconds, max_bytes, ends_at };
}

export function withoutEnd(capture: StoredCapture, state: 'waiting' | 'ended'): StoredCapture {
  const { capture_id, capture_file_name } = capture;
  return { capture_id, capture_file_name, ...optionsOf(capture), state };
}

export function isExpired({ ends_at }: StoredCapture): boolean {
  return ends_at !== null && Date.parse(ends_at) <= Date.now();
}

/** Starts a waiting capture: frames are appended to its file, for the rest of its time. */
export function resumeRequest({ capture_file_name, max_bytes, ends_at, ...capture }: StoredCapture): LinkCaptureStart {
  const { data_link_type, side, nanoseconds } = capture;
  const seconds = ends_at === null ? undefined : Math.ceil((Date.parse(ends_at) - Date.now()) / 1000);
  return {
    ...{ capture_file_name, data_link_type, side, nanoseconds, append: true },
    ...(max_bytes !== null && { max_bytes }),
    ...(seconds !== undefined && { max_seconds: seconds }),
  };
}

/** Fields of the link's object for GNS3's capture, and of the capture's own object for any other. */
export function shownCapture(folder: string, { nodes }: OpenLink, capture: StoredCapture): ShownCapture {
  return {
    capture_compute_id: capture.state === 'capturing' ? nodes[capture.end].entry.compute_id : null,
    capture_file_name: capture.capture_file_name,
    capture_file_path: join(folder, 'project-files', 'captures', capture.capture_file_name),
    capturing: capture.state === 'capturing',
  };
}

interface CaptureHome {
  readonly projectId: string;
  readonly folder: string;
}

export function linkCapture({ projectId, folder }: CaptureHome, link: OpenLink, capture: StoredCapture): LinkCapture {
  const ids = { capture_id: capture.capture_id, link_id: link.entry.link_id, project_id: projectId };
  return { ...ids, ...shownCapture(folder, link, capture), ...optionsOf(capture) };
}
