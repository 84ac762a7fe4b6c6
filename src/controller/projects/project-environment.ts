/** What a project is given, and what it gives to who copies it. */
import type { Limit } from '../bounded.ts';
import type { Computes } from '../computes/computes.ts';
import type { KeptCaptures } from '../links/kept-captures.ts';
import type { Log } from '../log.ts';
import type { Registry } from '../registry.ts';
import type { Restores } from '../snapshots/snapshot-restores.ts';
import type { Symbols } from '../symbols/symbols.ts';
import type { LiveProject } from './live-project.ts';
import type { Project } from './project.ts';
import type { Topology } from './topology.ts';

export interface ProjectEnvironment {
  readonly computes: Computes;
  readonly registry: Registry;
  readonly captures: KeptCaptures;
  readonly restores: Restores;
  readonly configsPath: string;
  readonly symbols: Symbols;
  readonly version: string;
  readonly log: Log;
  /** A server that starts again opens many projects. */
  readonly openings: Limit;
  /** How long after its last listener has left a project is closed, and whether its nodes may run then. */
  readonly autoClose: { readonly graceMs: number; readonly evenRunning: boolean };
  /** Tells listeners of the controller. */
  readonly announce: (action: string, project: Project) => void;
  /** The object of a project is another one. */
  readonly onChange: () => void;
}
export interface ProjectPlace {
  readonly path: string;
  readonly filename: string;
}
/** A project that stands still. `live` is undefined when it is closed. */
export interface FrozenProject {
  readonly topology: Topology;
  readonly live: LiveProject | undefined;
}
