/** Slurm through its commands, where a site has no slurmrestd: `sbatch`, `squeue`, `scancel` and `scontrol`, as this process's user. */
import { runTool } from '../../../process/tool.ts';
import { EngineError } from '../engine.ts';
import {
  dateOf,
  type ScriptSignal,
  type SlurmClient,
  type SlurmJob,
  type SlurmNode,
  type SlurmSubmission,
  scriptSignals,
  wordsOf,
} from './slurm-client.ts';

const timeoutMs = 20_000;
/** Format of `squeue --format`: fields before the last one hold no bar. */
const jobFormat = '%i|%T|%B|%r|%e|%k';
/** Words that Slurm prints for a value that is not set. */
const unset: ReadonlySet<string> = new Set(['', 'N/A', 'n/a', '(null)', 'Unknown', 'None']);

export class SlurmCommands implements SlurmClient {
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

  /** Jobs of this user: anyone may give a job the name and the comment of ours, which all users see. */
  async jobs(name: string, tag: string): Promise<SlurmJob[]> {
    const selection = [`--user=${process.getuid?.()}`, ...(name === '' ? [] : [`--name=${name}`])];
    const args = ['--noheader', '--states=all', ...selection, `--format=${jobFormat}`];
    const jobs = (await this.#run('squeue', args)).split('\n').map(jobOfLine);
    return jobs.filter((job) => job !== undefined).filter(({ comment }) => comment.startsWith(tag));
  }

  async nodes(): Promise<SlurmNode[]> {
    const text = await this.#run('scontrol', ['--oneliner', 'show', 'nodes']);
    return text.split('\n').flatMap((line) => nodeOfLine(line) ?? []);
  }

  async signal(job: number, signal: ScriptSignal): Promise<void> {
    await this.#run('scancel', ['--batch', '--signal', String(scriptSignals[signal]), String(job)]);
  }

  async cancel(job: number): Promise<void> {
    await this.#run('scancel', [String(job)]);
  }

  async close(): Promise<void> {}

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
  const [id = '', state = '', host = '', reason = '', end = '', ...comment] = line.split('|');
  if (!/^\d+$/.test(id)) return undefined;
  return {
    id: Number(id),
    state,
    reason: unset.has(reason) ? '' : reason,
    host: unset.has(host) ? null : host,
    endsAt: dateOf(/^\d+$/.test(end) ? Number(end) : undefined),
    // Jobs are submitted with --no-requeue.
    restarts: 0,
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
    partitions: wordsOf(text('Partitions')),
    // A node that does not answer has a star.
    states: text('State').replace('*', '+NOT_RESPONDING').split('+'),
    reason: text('Reason'),
    cpus: number('CPUTot'),
    freeCpus: Math.max(0, number('CPUTot') - number('CPUAlloc')),
    memory: number('RealMemory'),
    freeMemory: Math.max(0, number('RealMemory') - number('AllocMem')),
    disk: number('TmpDisk'),
    features: wordsOf(text('ActiveFeatures')),
  };
}
