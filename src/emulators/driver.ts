/**
 * The interface of every kind's driver for the compute. The compute owns the life of a node (lock, status, events, folder, console
 * server, links); a driver knows how one kind is checked, started, taken over and stopped. No base class: a node *has* an emulator.
 */
import type { Readable, Writable } from 'node:stream';
import type { Route } from '../api/route.ts';
import type { PortSpec } from '../fabric/protocol.ts';
import type { MoveOffer } from '../schema/move.ts';
import type { ConsoleType } from '../schema/node.ts';
import type { Kind } from './kind.ts';

/** Everything a client may set on a node, complete and checked: what the driver's `create` returned. Frozen; replaced on change. */
export type Properties = Readonly<Record<string, unknown>>;

/** A name that a project gives a value; its nodes may be given it. */
export interface ProjectVariable {
  readonly name: string;
  readonly value?: string;
}

/** The project of a node. */
interface ProjectOfNode {
  readonly projectId: string;
  readonly projectDirectory: string;
  readonly variables?: readonly ProjectVariable[];
}

/** A node as its driver sees it. */
export interface NodeView extends ProjectOfNode {
  /** Sources of a node's number, for kinds with numbers: the last run, whose command line is empty before it, or else the first free one from `from` on. */
  readonly numbers: { readonly from: number; readonly lastCommandLine: string };
  readonly nodeId: string;
  readonly name: string;
  /** Working folder; `start` may rely on it being there, `create` and `update` may not. */
  readonly directory: string;
  /** Short private folder for sockets (paths stay below 107 bytes); exists while the node runs, emptied before each start. */
  readonly runtimeDirectory: string;
  readonly properties: Properties;
  readonly console: { readonly type: ConsoleType; readonly port: number | null; readonly host: string };
  /** Whether a link should be seen as plugged in on this adapter: connected, and not suspended. */
  carrier(adapter: number): boolean;
  /** Called just before a machine runs. @throws lease_expired when the machines of this compute have ended since the start began */
  requireLease(): void;
  /** Warns clients of something that does not stop the work (`log.warning`). */
  warn(message: string): void;
}

/** A console that the emulator serves itself to any number of clients, as a screen: each has a connection of its own to its Unix socket. */
export interface ScreenSource {
  readonly type: 'screen';
  readonly path: string;
}

/** Size of a terminal, in characters. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** Where the console server finds the emulator's console. At most one connection is made to it and always drained. */
export type ConsoleSource =
  | {
      type: 'unix';
      path: string;
      /** File with everything written so far; seeds the scrollback on adoption. */
      log?: string;
      telnet?: boolean;
      /** Sent first. The other side then begins with its last output, so that it is connected only while there is a client. */
      greeting?: string;
      /** Gives the terminal a size; where it is undefined, clients are not asked for theirs. */
      resize?(size: TerminalSize): Promise<void>;
    }
  /** `telnet`: the other side speaks telnet itself; its negotiation is stripped. */
  | { type: 'tcp'; port: number; telnet: boolean };

export interface Ending {
  /** `stopped`: we asked. `exited`: it ended by itself with code 0. `failed`: everything else. */
  readonly how: 'stopped' | 'exited' | 'failed';
  /** Explanation for people: exit code or signal, and the last words of the output. */
  readonly reason: string;
}

/** Saves the memory of a machine in steps: it has to be paused during one of them only. */
export interface MemorySaver {
  readonly ramBytes: number;
  /** Resolves when the running machine has taken what was sent to it until now. */
  settle(): Promise<void>;
  /** Takes the memory of the paused machine, which may resume when this resolves. */
  transfer(): Promise<void>;
  /** Completes what is saved, while the machine runs. */
  finish(): Promise<void>;
  /** Ends the processes that are left of it, at any time. Never rejects. */
  dispose(): Promise<void>;
}

/** A stream of a move (`streamsOf` of its offer), as the emulator sends and takes it. */
export interface MoveStream {
  readonly from?: Readable;
  readonly into?: Writable;
}

/** A running machine on its way to another compute. Its streams are read and written meanwhile. */
export interface Departure {
  readonly offer: MoveOffer;
  /** Resolves when the emulator sends or takes it. @throws move_refused */
  stream(name: string): Promise<MoveStream>;
  /** Resolves when its disks there are the same, and stay so. */
  mirror(): Promise<void>;
  /** Resolves when its guest is paused, and all but the rest of its memory was sent. */
  pause(): Promise<void>;
  /** Resolves when all was sent: for how long the guest has been paused, milliseconds, at most. */
  finish(): Promise<number>;
  /** The guest continues here, at any time until it has ended. */
  abort(): Promise<void>;
  /** Closes the streams, before the machine is ended. */
  end(): void;
}

/** A machine that comes from another compute. */
export interface MachineArrival {
  readonly offer: MoveOffer;
  /** Called when the machine takes its streams. */
  readonly ready: (stream: (name: string) => MoveStream) => void;
  /** Aborts when the move was given up. */
  readonly signal: AbortSignal;
}

/** Verbs of a driver for the memory of its machines. */
interface MemoryVerbs {
  /** Checks saved memory before it is restored; `name` is the node's. @throws memory_refused */
  check(folder: string, name: string): Promise<void>;
  /** Checks a state of `saveState`. Only of kinds with it. @throws memory_refused */
  checkState?(state: unknown, name: string): void;
  /**
   * Explains for people why copies of a machine would write to disks of each other; undefined where they would not. Only of kinds whose
   * machines can be kept as templates.
   */
  findSharedDisk?(properties: Properties): string | undefined;
  /**
   * Receives a machine that runs on another compute, as `start`; it is paused when this resolves. Only of kinds that can move live. @throws
   * move_refused
   */
  receive?(node: NodeView, arrival: MachineArrival): Promise<Emulator>;
}

/** A running emulator. */
export interface Emulator {
  /** The record by which `adopt` finds the emulator after the server died: JSON, kept by the compute from before `start` returns. */
  readonly record: Readonly<Record<string, unknown>>;
  readonly commandLine: string;
  /** Settles once, when no process is left. Never rejects. */
  readonly ended: Promise<Ending>;
  readonly state: 'started' | 'suspended';
  /** Calls back on a change of `state` that was not requested here (guest suspended itself, internal error). */
  onState(listener: (state: 'started' | 'suspended') => void): void;
  suspend(): Promise<void>;
  resume(): Promise<void>;
  /**
   * Lets a machine run that was started from memory: until then it is paused, though its state is "started". It is connected by `connect`
   * before. A machine that was started otherwise runs already, and nothing happens. Only of kinds that save memory.
   */
  runRestored?(connect?: () => Promise<void>): Promise<void>;
  /** Resets the machine without ending the process; false when the kind must be stopped and started instead. */
  reset(): Promise<boolean>;
  /** Ends the machine as the node's properties say (`on_close`), at the latest by force; resolves when no process is left. */
  stop(options?: { now?: boolean }): Promise<void>;
  /** Where the fabric connects for this adapter (and port); undefined when the running emulator has no such adapter. */
  port(adapter: number, port: number): PortSpec | undefined;
  /**
   * Makes a port ready before a NIO is bound to it, which may fail; `closePort` gives up what it needed when the NIO is gone. Doing either
   * again changes nothing. Only of kinds whose ports work on their own.
   */
  openPort?(adapter: number, port: number): Promise<void>;
  closePort?(adapter: number, port: number): Promise<void>;
  /** Calls back when `record` has changed without a request. */
  onRecord?(listener: () => void): void;
  /** Shows the guest that the cable is in or out, where the kind can. */
  setCarrier(adapter: number, up: boolean): Promise<void>;
  console(): ConsoleSource | ScreenSource | undefined;
  /** A second console, and the port at which clients look for it. */
  auxiliary?(): { readonly source: ConsoleSource; readonly port: number } | undefined;
  /**
   * Prepares to save its memory in a folder, which it makes. Only kinds that can. A failure leaves no process.
   * @returns the reason, for people, where this machine's memory cannot be saved
   */
  saveMemory?(folder: string): Promise<MemorySaver | string>;
  /** Returns its state as JSON, in place of `saveMemory`. Only of kinds in the fabric, which are held with the links of their project. */
  saveState?(): Promise<unknown>;
  /** Prepares to continue on another compute. @returns the reason, for people, where this machine cannot */
  depart?(): Promise<Departure | string>;
  /**
   * Brings copies of its disks, which are files in the node's folder that nothing else writes to, to one instant, while it runs. One call at a
   * time. @returns names of files: of the disk, and of its copy
   */
  copyDisks?(): Promise<ReadonlyMap<string, string>>;
  /** Properties changed while running: what can take effect at once does. */
  changed(properties: Properties): Promise<void>;
  /** Lets go without stopping it: the server ends, the emulator keeps running. */
  release(): void;
}

/** Options in the request of a start, as `kind.start` allows. */
export type StartOptions = Readonly<Record<string, unknown>>;

/** Where a node that is made or changed stands. */
export interface NodePlace {
  readonly nodeId: string;
  readonly projectDirectory: string;
  readonly projectId?: string;
  readonly variables?: readonly ProjectVariable[];
  readonly name?: string;
  /** A NIO is bound to one of its ports. */
  readonly connected?: boolean;
  /** Reports the progress of something that takes long (`log.info`). */
  inform?(message: string): void;
  /** Warns clients of a part of the request that is not met (`log.warning`). */
  warn?(message: string): void;
}

/** Gives nodes to routes that only one kind has. */
export interface NodeAccess {
  /** @throws node_not_found, project_not_found */
  get(path: { project_id: string; node_id: string }): NodeView;
  suspend(path: { project_id: string; node_id: string }): Promise<void>;
  resume(path: { project_id: string; node_id: string }): Promise<void>;
  /**
   * Runs `work` on a stopped node, whose folder exists, while nothing else happens to it; `what` says what it is for.
   * @throws node_not_found, project_not_found, node_running
   */
  whileStopped<T>(path: { project_id: string; node_id: string }, what: string, work: (node: NodeView) => Promise<T>): Promise<T>;
}

/** Numbers of the other nodes, for a driver that numbers its nodes, when a node is made. */
export interface NodeNumbers {
  /** Values of a property of the other nodes of this kind. */
  readonly taken?: (property: string, where: 'project' | 'compute') => ReadonlySet<unknown>;
}

export interface Driver {
  readonly kind: Kind;
  /** Nodes get numbers that no two share: one is made after the other. */
  readonly numbered?: true;
  /**
   * Completes and checks a creation request (validated against `kind.create`): defaults, images, binaries. Leaves nothing behind.
   * `node_id`, `name`, `console` and `console_type` are the compute's and not part of what is returned.
   */
  create(input: Properties, node: NodePlace & NodeNumbers): Promise<Properties>;
  /** Completes and checks a change: returns all properties, or throws with nothing changed. */
  update(current: Properties, changes: Properties, node: NodePlace): Promise<Properties>;
  /**
   * Keys of the node object of the compute's API that come from the properties. Must be quick: no I/O, cached facts only. `command_line`: of a
   * node that lacks something, what, behind `unusableMark`.
   */
  present(properties: Properties, nodeId?: string): Record<string, unknown>;
  /**
   * Starts the node, from saved memory (`savedMemoryName`) where its folder holds some, or from the `saved` state: JSON, not checked, of kinds with
   * `checkState`.
   */
  start(node: NodeView, options?: StartOptions, saved?: unknown): Promise<Emulator>;
  /** Keeps the memory of machines. Only of kinds whose memory can be saved. */
  readonly memory?: MemoryVerbs;
  /** Takes over what `record` describes; undefined when it no longer runs (then nothing of it is left running). */
  adopt(node: NodeView, record: Readonly<Record<string, unknown>>): Promise<Emulator | undefined>;
  /** The node got another name; files in its folder follow. */
  renamed?(directory: string, from: string, to: string): Promise<void>;
  /** The node is gone, or was never completed: what the driver keeps for it elsewhere goes too. Its folder is the compute's. */
  removed?(nodeId: string): Promise<void>;
  /** Files to write when the node is made (`startup_script`); called once, after the node is durable. */
  populate?(directory: string, input: Properties, name: string): Promise<void>;
  /** Routes that no other kind has. */
  routes?(nodes: NodeAccess): Route[];
}
