/** Context that the parts of the compute share. Made once, in `compute.ts`. */
import type { Driver } from '../emulators/driver.ts';
import type { Host } from '../emulators/host/host.ts';
import type { BpfCompiler } from '../fabric/bpf-compile.ts';
import type { NodeType } from '../schema/node.ts';
import type { RunFacts } from '../schema/node-runs.ts';
import type { Settings } from '../schema/settings.ts';
import type { BusyCaptures } from './captures/busy-captures.ts';
import type { ConsoleAccess } from './host/console-admission.ts';
import type { ImageClaims } from './host/image-claims.ts';
import type { KeptFolders } from './host/kept-folders.ts';
import type { Ports } from './host/ports.ts';
import type { ReservedPorts } from './host/reserved-ports.ts';
import type { SavedStates } from './host/saved-states.ts';
import type { FabricWiring } from './links/wiring.ts';
import type { ProjectRecord, Store } from './store.ts';

/** Lease of a slice, which runs machines only while its controller knows of it; the lease of another compute never changes. */
export interface MachineLease {
  /** A slice: what it ends on its own is interrupted, and its controller has it started again. */
  readonly isSlice: boolean;
  /** Nothing may start or resume. */
  isOver: boolean;
  /** The server is about to end: machines may end by the same signal. */
  isEnding: boolean;
  /** `bootMs()` after which its guard ends what runs. */
  deadline: number;
  /** Grows when the controller declares the slice lost: what was asked before happens elsewhere. 0 before it is known, and without a lease. */
  epoch: number;
  /** Resolves when the server has its first lease, or the first renewal of that of an earlier server. */
  readonly begun: PromiseWithResolvers<void>;
}

/** Notice for listeners of the compute. */
export interface ComputeNotice {
  readonly action: 'node.updated' | 'node.deleted' | 'capture.stopped' | 'log.error' | 'log.warning' | 'log.info';
  readonly event: Readonly<Record<string, unknown>>;
  readonly project_id?: string;
  /** Run facts of `node.updated`. They are outside the node's object, because an earlier controller takes its keys for properties. */
  readonly run?: RunFacts;
}

export interface Context extends ConsoleAccess {
  readonly settings: Settings;
  readonly store: Store;
  readonly ports: Ports;
  readonly wiring: FabricWiring;
  readonly captures: BusyCaptures;
  readonly imageClaims: ImageClaims;
  readonly lease: MachineLease;
  readonly drivers: ReadonlyMap<NodeType, Driver>;
  readonly bpf: BpfCompiler;
  readonly log: Host['log'];
  emit(event: ComputeNotice): void;
}

/** The part of a project that its nodes need. */
export interface ProjectView {
  readonly id: string;
  /** Folder, absolute. */
  readonly path: string;
  readonly record: ProjectRecord;
  /** Machines that continue from memory stay paused: the project lets them run together, when its links are connected. */
  readonly holdsMachines: boolean;
  readonly reservedPorts: Pick<ReservedPorts, 'add' | 'take'>;
  readonly keptFolders: KeptFolders;
  readonly savedStates: SavedStates;
}
