/** What the parts of an open project share. */

import type { Symbols } from '../../catalog/symbols.ts';
import type { Compute } from '../../computes/compute.ts';
import type { Computes } from '../../computes/computes.ts';
import type { Change } from '../../log/records.ts';

/** A message to listeners of a project. */
export interface Notice {
  readonly action: string;
  readonly event: unknown;
  /** Number of the change that it tells of. */
  readonly seq?: number;
}
/** A change that is about to be made. */
export interface Commit {
  readonly change: Change;
  /** Has it take effect; returns what listeners are sent, if anything. */
  readonly apply: () => object | undefined;
}

export interface ProjectHost {
  readonly projectId: string;
  /** Folder of the project, absolute. */
  readonly folder: string;
  readonly configsPath: string;
  readonly symbols: Symbols;
  readonly computes: Computes;
  /**
   * Makes a change durable, then has it take effect (`apply` returns what listeners are sent, if anything) and tells listeners.
   * @throws `storage_failed`; nothing changed then
   */
  commit(change: Change, apply: Commit['apply']): Promise<void>;
  /** Several changes that stand or fall together, also when the server dies. @throws `storage_failed`; nothing changed then */
  commitAll(commits: readonly Commit[]): Promise<void>;
  /** Tells listeners what is not a change of the project. */
  notify(action: string, event: object): void;
  /** Sees to it that the project exists on a compute before its nodes do. */
  ensureOn(compute: Compute): Promise<void>;
}

/** What nodes need to know of the links on them. */
export interface LinksOfNodes {
  /** Ends of links on this node. */
  endsOn(nodeId: string): { adapter: number; port: number }[];
  /** Deletes the links on a node that goes; errors are left aside. */
  deleteOn(nodeId: string): Promise<void>;
  /** The node exists on its compute now, and may not have before. */
  rewire(nodeId: string): Promise<void>;
}
