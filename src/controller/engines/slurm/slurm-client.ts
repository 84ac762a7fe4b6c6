/**
 * Interface to Slurm with two implementations: slurmrestd's socket (`slurm-rest.ts`) and Slurm's commands (`slurm-commands.ts`).
 */

export interface SlurmJob {
  readonly id: number;
  /** Its base state in capitals, such as `PENDING`; `COMPLETING` where that flag is set. */
  readonly state: string;
  /** Slurm's word for why it is in this state, such as `Resources`; `None` or empty: none. */
  readonly reason: string;
  /** The first node that was allocated to it; null: none yet. */
  readonly host: string | null;
  /** When its time limit or its preemption ends it; null: no limit. */
  readonly endsAt: Date | null;
  /** How often Slurm has put it back into the queue. */
  readonly restarts: number;
  readonly comment: string;
}

export interface SlurmNode {
  readonly name: string;
  readonly partitions: readonly string[];
  /** State and flags in capitals: `IDLE`, `DOWN`, `DRAIN`, `NOT_RESPONDING`. */
  readonly states: readonly string[];
  /** Why it is drained or down, in the words of the administrator or of Slurm; empty: no reason. */
  readonly reason: string;
  readonly cpus: number;
  readonly freeCpus: number;
  /** MiB. */
  readonly memory: number;
  readonly freeMemory: number;
  /** MiB of temporary disk; 0: Slurm does not count it. */
  readonly disk: number;
  readonly features: readonly string[];
}

/** Signals that processes ignore unless they handle them, by number on Linux: they may reach the machines of a slice as well. */
export const scriptSignals = { URG: 23, WINCH: 28 } as const;
export type ScriptSignal = keyof typeof scriptSignals;

/** A batch job of one task on one node. */
export interface SlurmSubmission {
  readonly name: string;
  readonly comment: string;
  readonly script: string;
  /** Added to the environment of the job; never passed in arguments. */
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly output: string;
  readonly cpus: number;
  /** MiB. */
  readonly memory: number;
  /** Words of Slurm, by their names in `sbatch --help`: `partition`, `account`, `qos`, `licenses`, `constraint`, `nodelist`. */
  readonly words: Readonly<Record<string, string>>;
  /** Time limit; null: that of the partition. */
  readonly minutes: number | null;
}

export interface SlurmClient {
  submit(job: SlurmSubmission): Promise<void>;
  /** Jobs whose comment begins with `tag`; those that ended lately as well. `name`: the one they were submitted with; empty: all names. */
  jobs(name: string, tag: string): Promise<SlurmJob[]>;
  nodes(): Promise<SlurmNode[]>;
  /** Signals the script of a job; where Slurm cannot signal the script only, all processes of the job. */
  signal(job: number, signal: ScriptSignal): Promise<void>;
  /** SIGTERM to all its processes, and SIGKILL after `KillWait` of slurm.conf. No error when it has ended. */
  cancel(job: number): Promise<void>;
  close(): Promise<void>;
}

/** Slurm's numbers: plain in old versions, `{ set, infinite, number }` since 0.0.39. Undefined: not set, or no limit. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const { set, infinite, number } = value as Record<string, unknown>;
  return set === false || infinite === true || typeof number !== 'number' ? undefined : number;
}

/** A word, a list of words, or words with commas; in capitals or not. */
export function wordsOf(value: unknown): string[] {
  const parts = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [];
  return parts
    .filter((part) => typeof part === 'string')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Converts seconds since 1970; 0 and values beyond any calendar: none. */
export function dateOf(seconds: number | undefined): Date | null {
  return seconds === undefined || seconds <= 0 || seconds > 0xffff_fffe ? null : new Date(seconds * 1000);
}
