/**
 * Interface of engines. An engine is a driver for a program that places work on machines (Kubernetes, Slurm, local child
 * processes).
 *
 * An engine starts one process, `patchbay compute --join URL`, somewhere; ends it; and reports its state. It knows no project and
 * no node. It stores nothing: the slices of a controller carry its id as a label (`owner`), by which an engine finds them again
 * after a restart. Every verb is idempotent, and may be called again with the same arguments after a crash or a lost answer.
 *
 * Failures reject with an `EngineError`, whose message is shown to people. Its cause is logged. Neither may hold the token of an
 * order.
 */

/** Resources that a slice needs on its machine: the sum of its nodes' needs and of the process itself. */
export interface SliceNeeds {
  /** Processors, in steps of 0.001. */
  readonly cpus: number;
  /** MiB. */
  readonly memory: number;
  /** MiB in its data folder. */
  readonly disk: number;
  /** The slice's machines use `/dev/kvm`. */
  readonly kvm: boolean;
  /** Images that its nodes use: an engine that knows which hosts hold them prefers these hosts. */
  readonly images: readonly SliceImage[];
}

interface SliceImage {
  readonly name: string;
  /** SHA-256 of the content in lower-case hexadecimal; null: not computed yet. */
  readonly sha256: string | null;
  /** Bytes. */
  readonly size: number;
}

/** A slice that is to be placed. The controller has stored it before it calls `place`. */
export interface SliceOrder {
  /** A lower-case UUID; the id of its compute as well, and a name that every engine may use for its object. */
  readonly id: string;
  /** The id of the controller, a lower-case UUID: the label by which `watch` finds its slices. */
  readonly owner: string;
  /**
   * Title for people, such as the name of a project: 1 to 64 characters of any kind, so an engine that has rules for names must adapt it.
   */
  readonly title: string;
  readonly needs: SliceNeeds;
  /** Address of the controller for slices: `http(s)://host:port`. */
  readonly joinUrl: string;
  /** Proves that the slice may join, once. It is passed in the environment only (`joinVariable`): never in arguments, labels or logs. */
  readonly token: string;
  /** Place it on this host (`SliceReport.host`), where its data folder is. Absent: on any. */
  readonly host?: string;
}

/** The environment variable of a slice's process that holds its token. */
export const joinVariable = 'PATCHBAY_JOIN';

/** Arguments of the `patchbay` program for a slice; an engine appends `--data-dir`, and `--host` or `--port` where it needs to. */
export function sliceArguments({ joinUrl }: Pick<SliceOrder, 'joinUrl'>): string[] {
  return ['compute', '--join', joinUrl];
}

/** A size of slice that can be had. The controller asks before it partitions a project; nothing is reserved. */
export interface Offer {
  /** Host, node pool or partition, as people know it at their engine. */
  readonly name: string;
  /** Processors that one slice can have there at most. */
  readonly cpus: number;
  /** MiB. */
  readonly memory: number;
  /** MiB. */
  readonly disk: number;
  readonly kvm: boolean;
  /** Number of slices of that size that can be placed; null: unknown. */
  readonly count: number | null;
  /** Seconds until a slice runs, from the engine's own estimate; 0: at once; null: unknown. */
  readonly wait: number | null;
}

/** Limits of the engine that apply to every slice, whatever its needs. */
export interface EngineLimits {
  /** Slices of this controller at a time; null: no limit. */
  readonly slices: number | null;
  /** Seconds after which a slice is ended; null: never. */
  readonly walltime: number | null;
  /** Seconds between SIGTERM and SIGKILL when a slice is ended. */
  readonly grace: number;
  /** The data folder of a slice is found again when the same id is placed again: `anywhere`, on the same `host` only, or not. */
  readonly disks: 'anywhere' | 'host' | 'none';
  /** Missing rights, quota or device plugins that would improve the service: one sentence each, with the fix. */
  readonly remarks: readonly string[];
}

/**
 * State of a slice.
 * - `pending`: accepted, its process does not run yet.
 * - `running`: its process was started. Only the controller knows whether it has joined.
 * - `suspended`: the engine stopped its process (SIGSTOP, a frozen control group), and will resume or end it. The slice is not
 *   started elsewhere meanwhile: its machines would run twice for a moment when the process is resumed.
 * - `draining`: its process still runs, and its host asks it to leave; it is ended at `endsAt` where that is known.
 * - `lost`: the engine cannot tell, usually because the host does not answer. **Its process may still run**: the slice is not
 *   started elsewhere until its lease has run out.
 * - `ended`: the engine knows that **no process of the slice runs any more** (and none will, until it is placed again). It may be
 *   started elsewhere at once. An engine that is not sure reports `lost`.
 */
export type SliceState = 'pending' | 'running' | 'suspended' | 'draining' | 'lost' | 'ended';

export interface SliceReport {
  readonly id: string;
  readonly state: SliceState;
  /** A sentence for people, in the engine's own words where it has some: why it waits, was lost, or ended. Null: nothing to say. */
  readonly reason: string | null;
  /** Where it runs or ran, as its engine names it; null: nowhere yet. */
  readonly host: string | null;
  /** Time at which the engine will end the slice (walltime, drain); null: not known. */
  readonly endsAt: Date | null;
}

export interface SliceListener {
  /**
   * All slices of the owner: first of all, and whenever the engine had to list again. A slice that the controller knows and that
   * is missing has `ended`.
   */
  readonly onList: (slices: readonly SliceReport[]) => void;
  /** Reports a slice that changed or was placed. `ended` may be reported several times, or only by absence from the next list. */
  readonly onChange: (slice: SliceReport) => void;
  /** The engine cannot be reached, with the reason, and is tried again; null: it answers again (a list follows). No slice is lost by that. */
  readonly onProblem: (problem: string | null) => void;
}

export interface Engine {
  /** Name of the engine's folder: `process`, `kubernetes`, `slurm`. */
  readonly name: string;
  /**
   * Whether a slice can ask it if it still has its place (`src/slice/engine-word.ts`). Once `release` has resolved and `watch` does not report
   * the slice as running, the answer is no, for good.
   */
  readonly canBeAsked: boolean;

  /** Lists the machines on which a slice can start now, the best first; empty: none. @throws EngineError */
  offer(): Promise<readonly Offer[]>;

  /**
   * Has the slice started. Resolves when the engine has accepted it, which is not when it runs. A slice with this id that exists
   * already is left as it is, whatever its token. After `ended`, the same id may be placed again.
   * @throws EngineError with `isFinal` when the engine will never accept it: it is too large, or not permitted
   */
  place(order: SliceOrder): Promise<void>;

  /**
   * Has the slice ended: SIGTERM, then SIGKILL after the grace. Resolves when the engine has accepted that; `ended` follows by
   * `watch`. Resolves also when there is no such slice. With `keepDisks`, its data folder stays for the next `place` of this id, as
   * far as `limits` says; without, nothing is left of it. @throws EngineError
   */
  release(id: string, options: { readonly keepDisks: boolean }): Promise<void>;

  /**
   * Reports all slices with this owner and each change, until `signal` aborts; then resolves, with nothing left open. Loss of the
   * connection to the engine is handled inside: it retries, and lists again. Never rejects.
   */
  watch(owner: string, listener: SliceListener, signal: AbortSignal): Promise<void>;

  /** @throws EngineError */
  limits(): Promise<EngineLimits>;
}

/** Error of an engine that could not carry out a request. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  /** Trying again later is of no use. */
  readonly isFinal: boolean;

  constructor(message: string, { isFinal = false, ...options }: ErrorOptions & { isFinal?: boolean } = {}) {
    super(message, options);
    this.isFinal = isFinal;
  }
}
