/** Inputs of an action's rules: the stored state, and the parts of an open project needed to revert and announce changes. */
import { isDeepStrictEqual } from 'node:util';
import type { DrawingInput } from '../../../schema/drawing.ts';
import type { LinkEnd, LinkInput } from '../../../schema/link.ts';
import type { TSchema } from '../../../schema/type.ts';
import type { NodeObject } from '../../model/node.ts';
import type { ComputeEntry, DrawingEntry, LinkEntry, LinkExtras, NodeEntry, ProjectEntry } from '../../model/topology.ts';
import type { WantedRun } from '../../model/wanted.ts';
import type { Action, Changed, UdpPorts } from '../records.ts';

/** Content of a project file and its log together. */
export interface StoredState {
  project: ProjectEntry;
  readonly nodes: Map<string, NodeEntry>;
  readonly links: Map<string, LinkEntry>;
  readonly drawings: Map<string, DrawingEntry>;
  readonly computes: readonly ComputeEntry[];
  /** Ids of all computes that had a node of the project, and may still have files of it. */
  readonly pastComputes: Set<string>;
  readonly udpPorts: Map<string, UdpPorts>;
  readonly wanted: Map<string, WantedRun>;
  /** Nodes whose deletion began and did not end. */
  readonly deleting: Set<string>;
  /** Number of the change with which the project was last rewound; 0: never. */
  incarnation: number;
}

/** Choices of a revert. */
export interface HowInverted {
  /** A deleted node or link is part of the project again also when its compute cannot make it now. */
  readonly isKept?: boolean;
}

/** The open project in which changes are reverted. */
export interface RevertTarget {
  /** The project's own fields. */
  readonly entry: ProjectEntry;
  update(fields: object): Promise<void>;
  readonly nodes: {
    find(nodeId: string): { readonly entry: NodeEntry } | undefined;
    isNamed(name: string): boolean;
    /** Undefined when its compute is not registered. */
    computeOf(entry: NodeEntry): object | undefined;
    delete(nodeId: string): Promise<void>;
    restore(entry: NodeEntry, how?: HowInverted): Promise<void>;
    reapply(nodeId: string, fields: Partial<NodeEntry>): Promise<void>;
  };
  readonly links: {
    find(linkId: string): { readonly entry: LinkEntry } | undefined;
    isTaken(end: LinkEnd): boolean;
  };
  readonly linkOperations: {
    delete(linkId: string): Promise<void>;
    create(body: LinkInput & LinkExtras, linkId: string, how?: HowInverted): Promise<unknown>;
    update(linkId: string, body: LinkInput & LinkExtras): Promise<unknown>;
  };
  readonly drawings: {
    findEntry(drawingId: string): DrawingEntry | undefined;
    /** The drawing that a stored `svg` stands for. */
    picture(stored: string): Promise<string>;
    delete(drawingId: string): Promise<void>;
    create(body: DrawingInput): Promise<unknown>;
    update(drawingId: string, body: DrawingInput): Promise<unknown>;
  };
}

/** The project as it will be when the later changes of the step have been reverted. */
export interface Outlook {
  readonly project: RevertTarget;
  /**
   * Whether a thing will exist, or what another key stands for will be so; undefined when the step says nothing about it so far. Every
   * rule asks this before it looks at the project as it is.
   */
  willExist(id: string): boolean | undefined;
  expect(id: string, exists: boolean): void;
  /** Returns true from the second call for an object on: of several changes of an object, only the last must be as it was left. */
  isSeen(id: string): boolean;
}

/** The key under which an `Outlook` records whether a node or drawing will be locked. */
export const lockOf = (id: string) => `${id}/locked`;

/** Converts stored entries to objects of the API. */
export interface NoticeView {
  nodeObject(stored: NodeEntry): NodeObject;
  /** The drawing that a stored `svg` stands for. */
  picture(stored: string): Promise<string>;
}

export interface ActionRules<A extends Action> {
  /** Schemas of `event` and `was` on disk. */
  readonly schema: { readonly event: TSchema; readonly was: TSchema };
  readonly apply: (state: StoredState, change: Changed<A>) => void;
  /** Why it cannot be reverted as things are now, for people; undefined when it can. */
  readonly conflict: (outlook: Outlook, change: Changed<A>) => string | undefined;
  /** Follows it by its opposite. */
  readonly invert: (project: RevertTarget, change: Changed<A>, how?: HowInverted) => Promise<unknown>;
  /** The event for a listener that missed it; undefined when listeners are not sent any. */
  readonly notice: (source: NoticeView, change: Changed<A>) => object | undefined | Promise<object>;
}

/** Returns the fields of `before` that differ in `after`, as far as `after` has them. */
export function differing<T extends object>(before: T, after: object): Partial<T> {
  const later = after as Record<string, unknown>;
  const entries = Object.entries(before).filter(([key, value]) => key in later && !isDeepStrictEqual(value, later[key]));
  return Object.fromEntries(entries) as Partial<T>;
}

/** Whether the state to reapply is as the change left it. Of properties, only the changed ones are compared. */
export function isAsLeft(now: object, left: object, wanted: object): boolean {
  return Object.entries(wanted).every(([key, before]) => {
    const [one, other] = [now, left].map((each) => (each as Record<string, unknown>)[key]);
    if (key !== 'properties') return isDeepStrictEqual(one, other);
    const names = Object.keys(differing(before as object, other as object));
    return names.every((name) =>
      isDeepStrictEqual((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]),
    );
  });
}
