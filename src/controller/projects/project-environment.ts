/** Dependencies of a project, and the operations that it offers to code that copies it. */
import type { Limit } from '../../lib/bounded.ts';
import type { Log } from '../../lib/log.ts';
import type { ForkedFrom } from '../../schema/project.ts';
import type { Symbols } from '../catalog/symbols.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import type { CaptureStore } from '../live/captures/capture-store.ts';
import type { NodeInputs } from '../live/host/project-context.ts';
import type { LiveProject } from '../live/live-project.ts';
import type { Topology } from '../model/topology.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import type { KnownProject } from './project.ts';
import type { Registry } from './registry.ts';
import type { Restores } from './snapshot-restores.ts';

interface ProjectFollower {
  /** Called when a compute has not answered that it closes the project. */
  readonly notClosedOn: (compute: RegisteredCompute, projectId: string) => void;
  /** Tells listeners of the controller. */
  readonly announce: (action: string, project: KnownProject) => void;
  /** The object of a project is another one. */
  readonly onChange: (project: KnownProject) => void;
}

export interface ProjectEnvironment extends ProjectFollower {
  readonly computes: Computes;
  readonly registry: Registry;
  readonly captures: CaptureStore;
  readonly restores: Restores;
  readonly reconciler: Reconciler;
  readonly nodeInputs: NodeInputs;
  readonly symbols: Symbols;
  readonly version: string;
  readonly log: Log;
  /** A server that starts again opens many projects. */
  readonly openings: Limit;
  /** Time after its last listener has left at which a project is closed, and whether its nodes may run then. */
  readonly autoClose: { readonly graceMs: number; readonly evenRunning: boolean };
}
export interface ProjectPlace {
  readonly path: string;
  readonly filename: string;
  readonly forked_from?: ForkedFrom;
}
/** A project that stands still. `live` is undefined when it is closed. */
export interface FrozenProject {
  readonly topology: Topology;
  readonly live: LiveProject | undefined;
}
