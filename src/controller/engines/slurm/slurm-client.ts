/** Slurm through its commands `sbatch`, `squeue`, `scancel` and `scontrol`, as this process's user. */
import { runTool } from '../../../process/tool.ts';
import { EngineError } from '../engine.ts';

export interface SlurmJob {
  readonly id: number;
  /** Base state of the job in capitals, such as `PENDING`; `COMPLETING` where that flag is set. */
  readonly state: string;
  /** Slurm's word for why it is in this state, such as `Resources`; `None` or empty: none. */
  readonly reason: string;
  /** The first node that was allocated to it; null: none yet. */
  readonly host: string | null;
  /** Time at which the job's limit or its preemption ends it; null: no limit. */
  readonly endsAt: Date | null;
  /** Number of times that Slurm has put the job back into its queue. */
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
const scriptSignals = { URG: 23, WINCH: 28 } as const;
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

const timeoutMs = 20_000;
/** Longest comment, which is the last field: squeue cuts it. */
const longestComment = 400;
/** Fields of `squeue --Format`; those before the last one hold no bar. */
const jobFormat = `JobID:20|,State:20|,BatchHost:256|,Reason:64|,EndTime:20|,RestartCnt:10|,Comment:${longestComment}`;
/** Words that Slurm prints for a value that is not set. */
const unset: ReadonlySet<string> = new Set(['', 'N/A', 'n/a', '(null)', 'Unknown', 'None']);

export class SlurmClient {
  readonly #env: Readonly<Record<string, string>>;

  /** `env`: added to the environment of the commands, such as `SLURM_CONF`. */
  constructor(env: Readonly<Record<string, string>> = {}) {
    this.#env = env;
  }

  async submit(job: SlurmSubmission): Promise<void> {
    const options: Record<string, string | number> = {
      'job-name': job.name,
      comment: job.comment,
      chdir: job.folder,
      output: job.output,
      'cpus-per-task': job.cpus,
      ntasks: 1,
      mem: `${job.memory}M`,
      ...job.words,
      ...(job.minutes !== null && { time: job.minutes }),
      // Names only: their values come from the environment of sbatch.
      export: ['PATH', 'HOME', ...Object.keys(job.environment)].join(','),
    };
    const list = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    await this.#run('sbatch', ['--parsable', '--no-requeue', ...list], { input: job.script, env: job.environment });
  }

  /**
   * Jobs of this user whose comment begins with `tag`; those that ended lately as well. `name`: the one they were submitted with; empty:
   * all names. Anyone may give a job the name and the comment of ours, which all users see.
   */
  async jobs(name: string, tag: string): Promise<SlurmJob[]> {
    const selection = [`--user=${process.getuid?.()}`, ...(name === '' ? [] : [`--name=${name}`])];
    const args = ['--noheader', '--states=all', ...selection, `--Format=${jobFormat}`];
    const jobs = (await this.#run('squeue', args)).split('\n').map(jobOfLine);
    return jobs.filter((job) => job !== undefined).filter(({ comment }) => comment.startsWith(tag));
  }

  async nodes(): Promise<SlurmNode[]> {
    const text = await this.#run('scontrol', ['--oneliner', 'show', 'nodes']);
    return text.split('\n').flatMap((line) => nodeOfLine(line) ?? []);
  }

  /** Signals the script of a job. */
  async signal(job: number, signal: ScriptSignal): Promise<void> {
    await this.#run('scancel', ['--batch', '--signal', String(scriptSignals[signal]), String(job)]);
  }

  /** SIGTERM to all its processes, and SIGKILL after `KillWait` of slurm.conf. No error when it has ended. */
  async cancel(job: number): Promise<void> {
    await this.#run('scancel', [String(job)]);
  }

  async #run(program: string, args: readonly string[], { env = {}, input }: CommandInput = {}): Promise<string> {
    const options = { timeoutMs, env: { LC_ALL: 'C', ...this.#env, ...env, SLURM_TIME_FORMAT: '%s' } };
    const { stdout, reason, stderr } = await runTool(program, args, { ...options, ...(input !== undefined && { input }) });
    // A job that has ended cannot be cancelled.
    if (reason === '' || (program === 'scancel' && /already completed|Invalid job id/i.test(stderr))) return stdout;
    throw new EngineError(`${program} failed: ${reason.slice(0, 500)}`, { isFinal: isHopeless(stderr) });
  }
}

/** Whether Slurm will refuse the same job again, by its words: nodes that are drained, busy or down now are none of them. */
export function isHopeless(words: string): boolean {
  return /node configuration is not available|invalid (partition|feature|account|qos|license)|not permitted to use|nodes not in this partition|permission denied|limit is (beyond|invalid)|more processors/i.test(
    words,
  );
}

interface CommandInput {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

function jobOfLine(line: string): SlurmJob | undefined {
  const [id = '', state = '', host = '', reason = '', end = '', restarts = '', ...comment] = line
    .split('|')
    .map((field) => field.trim());
  if (!/^\d+$/.test(id)) return undefined;
  return {
    id: Number(id),
    state,
    reason: unset.has(reason) ? '' : reason,
    host: unset.has(host) ? null : host,
    endsAt: dateOf(/^\d+$/.test(end) ? Number(end) : undefined),
    restarts: Number(restarts) || 0,
    comment: comment.join('|'),
  };
}

/** `NodeName=n1 Arch=… State=IDLE+DRAIN … Reason=words of people [root@…]`: a value ends before the next name. */
function nodeOfLine(line: string): SlurmNode | undefined {
  const fields = new Map(Array.from(line.matchAll(/(\w+)=(.*?)(?=\s+\w+=|\s*$)/g), ([, name = '', value = '']) => [name, value]));
  const name = fields.get('NodeName');
  if (name === undefined) return undefined;
  const text = (key: string) => {
    const value = fields.get(key) ?? '';
    return unset.has(value) ? '' : value;
  };
  const number = (key: string) => Number(text(key)) || 0;
  return {
    name,
    partitions: namesOf(text('Partitions')),
    // A node that does not answer has a star.
    states: text('State').replace('*', '+NOT_RESPONDING').split('+'),
    reason: text('Reason'),
    cpus: number('CPUTot'),
    freeCpus: Math.max(0, number('CPUTot') - number('CPUAlloc')),
    memory: number('RealMemory'),
    freeMemory: Math.max(0, number('RealMemory') - number('AllocMem')),
    disk: number('TmpDisk'),
    features: namesOf(text('ActiveFeatures')),
  };
}

function namesOf(list: string): string[] {
  return list.split(',').filter((name) => name !== '');
}

/** Converts seconds since 1970; 0 and values beyond any calendar: none. */
function dateOf(seconds: number | undefined): Date | null {
  return seconds === undefined || seconds <= 0 || seconds > 0xffff_fffe ? null : new Date(seconds * 1000);
}
