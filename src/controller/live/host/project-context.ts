/** Data and functions shared by the parts of an open project, complete before the first part is created. */

import type { Symbols } from '../../catalog/symbols.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import type { Computes } from '../../computes/computes.ts';
import type { ProjectChange } from '../../log/records.ts';
import type { NodeEntry } from '../../model/topology.ts';

/** A message to listeners of a project. */
export interface Notice {
  readonly action: string;
  readonly event: unknown;
  /** Number of the change that it announces. */
  readonly seq?: number;
}
/** A change that is about to be made. */
export interface Commit {
  readonly change: ProjectChange;
  /** Has it take effect; returns what listeners are sent, if anything. */
  readonly apply: () => object | undefined;
}

/** A node that is about to be made on its compute. */
export interface UnmadeNode {
  readonly id: string;
  readonly projectId: string;
  readonly entry: NodeEntry;
  requireCompute(): RegisteredCompute;
}

/** Inputs from the server for creating and starting nodes. */
export interface NodeInputs {
  /** Folder of start-up configurations. */
  readonly configsPath: string;
  /** Licences that clients keep on this server for the starts of licensed kinds. */
  readonly license: () => object;
  /** Puts the copy of a node's files into the project's folder if its slice has lost them. @throws what its compute answers */
  readonly restoreFiles: (project: Pick<ProjectContext, 'folder' | 'notify'>, node: UnmadeNode) => Promise<void>;
}

/** Given to nodes, drawings, links and captures when they are constructed. */
export interface ProjectContext {
  readonly projectId: string;
  /** Folder of the project, absolute. */
  readonly folder: string;
  readonly nodeInputs: NodeInputs;
  readonly symbols: Symbols;
  readonly computes: Computes;
  /**
   * Makes a change durable, then has it take effect (`apply` returns what listeners are sent, if anything) and notifies listeners.
   * @throws `storage_failed`; nothing changed then
   */
  readonly commit: (change: ProjectChange, apply: Commit['apply']) => Promise<void>;
  /** Several changes that stand or fall together, also when the server dies. @throws `storage_failed`; nothing changed then */
  readonly commitAll: (commits: readonly Commit[]) => Promise<void>;
  /** Notifies listeners of a state that is not a change of the project. */
  readonly notify: (action: string, event: object) => void;
  /**
   * Announces the project to a compute before its nodes are made there; `isForgotten`: again, as the compute does not know it any more.
   * @throws `project_closed`, and what the compute answers
   */
  readonly announceTo: (compute: RegisteredCompute, again?: { readonly isForgotten: boolean }) => Promise<void>;
}
