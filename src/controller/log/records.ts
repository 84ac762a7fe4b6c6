/** The records of a project's log: one type for each action, so that what an action comes with is known wherever it is looked at. */
import type { Drawing } from '../../schema/drawing.ts';
import type { Link } from '../../schema/link.ts';
import type { DrawingEntry, LinkEntry, LinkExtras, NodeEntry, ProjectEntry } from '../model/topology.ts';
import type { WantedRun } from '../model/wanted.ts';

/** UDP ports of a link's two ends, in the order of the ends. */
export type UdpPorts = readonly [number, number];

/** A drawing as it is stored: its `svg` may be the name of a file. Without it, the picture is as before. */
type StoredDrawing = Readonly<Omit<Drawing, 'svg'> & { svg?: string }>;

/**
 * A link's event with its extra fields; on `link.updated` only the changed ones. Listeners are not sent these, as they can be long.
 */
export type StoredLink = Readonly<Link & LinkExtras>;
export type StoredLinkEntry = Readonly<Omit<LinkEntry, keyof LinkExtras> & LinkExtras>;

/** State of a project that its file does not hold. */
export interface SnapshotHeader {
  readonly udp_ports?: Readonly<Record<string, UdpPorts>>;
  /** Wanted state of each node by its id. Earlier versions did not write it, and cannot read a log that has it. */
  readonly wanted?: Readonly<Record<string, WantedRun>>;
  /** Nodes whose deletion has begun and is not recorded. Earlier versions cannot read a log that has them. */
  readonly deleting?: readonly string[];
  /** Number of the last change before, of those that the history keeps. */
  readonly history?: number;
  /** Number of the change with which the project was last rewound: what computes have of it from before is of a past that was given up. */
  readonly incarnation?: number;
}

export interface Rewound {
  readonly project_id: string;
  /** Name of the snapshot. */
  readonly name: string;
  /** Id of the present that was kept before; null: none was. */
  readonly kept: string | null;
}

/**
 * Payload of each action. `event` is sent to listeners; for nodes it has only the stored fields, because ports can be many and
 * follow from those. `was` is the state needed to revert the change, in the form of the project file.
 */
export interface Payloads {
  'project.updated': { readonly event: ProjectEntry; readonly was: ProjectEntry };
  /** The project became what a snapshot, or a kept present, holds. It is in the history alone: earlier versions cannot read it in a log. */
  'project.rewound': { readonly event: Rewound; readonly was: null };
  'node.created': { readonly event: NodeEntry; readonly was: null };
  'node.updated': { readonly event: NodeEntry; readonly was: NodeEntry };
  'node.deleted': { readonly event: NodeEntry; readonly was: NodeEntry };
  'link.created': { readonly event: StoredLink; readonly was: null };
  'link.updated': { readonly event: StoredLink; readonly was: StoredLinkEntry };
  'link.deleted': { readonly event: Readonly<Link>; readonly was: LinkEntry };
  'drawing.created': { readonly event: StoredDrawing; readonly was: null };
  'drawing.updated': { readonly event: StoredDrawing; readonly was: DrawingEntry };
  'drawing.deleted': { readonly event: StoredDrawing; readonly was: DrawingEntry };
  /** Stands first in a log: everything up to `seq` is in the project file. */
  'project.snapshot': { readonly event: SnapshotHeader; readonly was: null };
  /** Whether a node is to run; the project file does not hold that. */
  'node.wanted': { readonly event: { readonly node_id: string } & WantedRun; readonly was: null };
  /** Written before a node is taken from its compute, so that a full disk is noticed while nothing is lost yet. */
  'node.deleting': { readonly event: { readonly node_id: string }; readonly was: null };
  /** A step was reverted of which nothing was left to revert. */
  'step.empty': { readonly event: object; readonly was: null };
}
export type Action = keyof Payloads;
/** Actions that leave what the project file holds as it is. */
export type MarkerAction = 'project.snapshot' | 'node.wanted' | 'node.deleting' | 'step.empty';

interface RecordHead {
  readonly seq: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** The requester: X-Patchbay-Client, the user or the User-Agent; null when there was no request. */
  readonly by: string | null;
  /** The changes of one request are one step, named for the first of them. Absent: no request, or nothing that is undone. */
  readonly step?: number;
  /** The step that this one reverts. */
  readonly inverts?: number;
  /** Ports of a link's frames, so that links of running nodes are found again after a restart. */
  readonly udp_ports?: UdpPorts;
}

export type RecordOf<A extends Action> = { readonly [K in A]: RecordHead & { readonly action: K } & Payloads[K] }[A];
/** A single change with its sequence number. */
export type LogRecord = RecordOf<Action>;
/** A line of a log: one change, or several that stand or fall together. */
export type LogLine = LogRecord | readonly LogRecord[];

interface ChangeHead {
  readonly udpPorts?: UdpPorts;
  /** A client asked for it, and may undo it. */
  readonly undoable?: boolean;
}
export type ChangeOf<A extends Action> = { readonly [K in A]: ChangeHead & { readonly action: K } & Payloads[K] }[A];
/** A change that is about to be recorded. */
export type ProjectChange = ChangeOf<Action>;
/** Fields of a record that are needed to apply, revert and announce it. */
export type Changed<A extends Action> = {
  readonly [K in A]: { readonly action: K; readonly udp_ports?: UdpPorts } & Payloads[K];
}[A];
