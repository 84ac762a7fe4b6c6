/**
 * Slurm through `slurmrestd` on a Unix socket. Requests are made as the user that slurmrestd runs as, who owns the socket: it
 * accepts that user and root.
 *
 * Written for openapi/v0.0.38 (Slurm 22.05, Debian 12), the oldest that is accepted. Of later versions the newest is taken that
 * both know; their differences are the properties of `newer`. Source: https://slurm.schedmd.com/rest_api.html and its release
 * notes.
 */
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { Agent, Dispatcher } from 'undici';
import { EngineError } from '../engine.ts';
import { ElementSplitter } from './element-splitter.ts';
import {
  dateOf,
  numberOf,
  type ScriptSignal,
  type SlurmClient,
  type SlurmJob,
  type SlurmNode,
  type SlurmSubmission,
  scriptSignals,
  wordsOf,
} from './slurm-client.ts';

const oldest = 38;
const newest = 44;
const timeoutMs = 20_000;
/** Slurm's words for a job that is not there any more. */
const hasEnded = /already complet|invalid job id|no such process/i;
/** An answer that is not a list. */
const longestAnswer = 4 << 20;

type SlurmFields = Readonly<Record<string, unknown>>;

export class SlurmRest implements SlurmClient {
  readonly #socketPath: string;
  #agent: Promise<Agent> | undefined;
  #version: Promise<number> | undefined;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  async submit(job: SlurmSubmission): Promise<void> {
    const version = await this.#offered();
    const body = { script: job.script, job: propertiesOf(job, version > oldest) };
    const { fields, status } = await this.#json('POST', await this.#path('job/submit'), body);
    refuseErrors(fields, status);
    if (numberOf(fields.job_id) === undefined) throw new EngineError('slurmrestd answered no job to a submission');
  }

  async jobs(_name: string, tag: string): Promise<SlurmJob[]> {
    const owners = await this.#owners();
    const all = await this.#list('jobs', (fields) => (owners.has(numberOf(fields.user_id)) ? jobOf(fields) : undefined), tag);
    return all.filter(({ comment }) => comment.startsWith(tag));
  }

  nodes(): Promise<SlurmNode[]> {
    return this.#list('nodes', nodeOf);
  }

  async signal(job: number, signal: ScriptSignal): Promise<void> {
    const version = await this.#offered();
    const flags = version > oldest ? '&flags=BATCH_JOB' : '';
    await this.#end(`${await this.#path(`job/${job}`)}?signal=${scriptSignals[signal]}${flags}`);
  }

  async cancel(job: number): Promise<void> {
    await this.#end(await this.#path(`job/${job}`));
  }

  /** Cancels a job, and ignores the error for a job that has ended already. */
  async #end(path: string): Promise<void> {
    const { fields, status } = await this.#json('DELETE', path);
    try {
      refuseErrors(fields, status);
    } catch (error) {
      if (!hasEnded.test((error as Error).message)) throw error;
    }
  }

  async close(): Promise<void> {
    await (await this.#agent)?.destroy();
  }

  /** Users whose jobs are ours: anyone may give a job the comment of one, which all users see. */
  async #owners(): Promise<ReadonlySet<number | undefined>> {
    try {
      return new Set([process.getuid?.() ?? 0, (await stat(this.#socketPath)).uid]);
    } catch (cause) {
      throw new EngineError(`slurmrestd at ${this.#socketPath} does not answer: ${(cause as Error).message}`, { cause });
    }
  }

  async #path(what: string): Promise<string> {
    return `/slurm/v0.0.${await this.#offered()}/${what}`;
  }

  /** Asked once; after a failure, again. */
  #offered(): Promise<number> {
    this.#version ??= this.#findVersion().catch((error: unknown) => {
      this.#version = undefined;
      throw error;
    });
    return this.#version;
  }

  /** The document of all routes has 100 KiB and more; its paths are all that is read. */
  async #findVersion(): Promise<number> {
    const text = await readText((await this.#request('GET', '/openapi/v3')).body);
    const offered = Array.from(text.matchAll(/slurm\\?\/v0\.0\.(\d{2})\\?\/jobs/g), ([, version]) => Number(version));
    const usable = offered.filter((version) => version >= oldest && version <= newest);
    if (usable.length === 0)
      throw new EngineError(
        `slurmrestd at ${this.#socketPath} offers none of openapi/v0.0.${oldest} to v0.0.${newest}: start it with "-s openapi/v0.0.${oldest}", or leave its socket out of the configuration to use sbatch`,
        { isFinal: true },
      );
    return Math.max(...usable);
  }

  /** `needed`: elements without this text are not parsed. */
  async #list<T>(key: 'jobs' | 'nodes', read: (fields: SlurmFields) => T | undefined, needed = ''): Promise<T[]> {
    const found: T[] = [];
    const splitter = new ElementSplitter(key, (text) => {
      if (needed !== '' && !text.includes(needed)) return;
      const item = read(parse(text));
      if (item) found.push(item);
    });
    const answer = await this.#request('GET', await this.#path(key));
    if (answer.statusCode >= 300) refuseErrors(parse(await readText(answer.body)), answer.statusCode);
    await readChunks(answer.body, (chunk) => {
      if (!splitter.add(chunk)) throw new EngineError('slurmrestd lists something that is no job and no node: it is too long');
    });
    // A job that is not listed has ended.
    if (!splitter.isComplete) throw new EngineError(`slurmrestd answered no complete list of ${key}`);
    return found;
  }

  async #json(method: 'POST' | 'DELETE', path: string, body?: object): Promise<{ fields: SlurmFields; status: number }> {
    const answer = await this.#request(method, path, body);
    return { fields: parse(await readText(answer.body)), status: answer.statusCode };
  }

  async #request(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Dispatcher.ResponseData> {
    const { request } = await import('undici');
    this.#agent ??= import('undici').then(({ Agent }) => new Agent({ connect: { socketPath: this.#socketPath } }));
    try {
      return await request(`http://slurmrestd${path}`, {
        method,
        dispatcher: await this.#agent,
        signal: AbortSignal.timeout(timeoutMs),
        ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
    } catch (cause) {
      throw new EngineError(`slurmrestd at ${this.#socketPath} does not answer: ${(cause as Error).message}`, { cause });
    }
  }
}

function propertiesOf(job: SlurmSubmission, newer: boolean): SlurmFields {
  const { nodelist, ...words } = job.words;
  const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', ...job.environment };
  return {
    name: job.name,
    comment: job.comment,
    current_working_directory: job.folder,
    standard_output: job.output,
    cpus_per_task: job.cpus,
    tasks: 1,
    memory_per_node: job.memory,
    ...words,
    ...(job.minutes !== null && { time_limit: job.minutes }),
    ...(newer
      ? {
          requeue: false,
          environment: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
          ...(nodelist !== undefined && { required_nodes: [nodelist] }),
        }
      : // v0.0.38 reads options of sbatch; its own `requeue` is taken for true whatever its value.
        { no_requeue: true, environment, ...(nodelist !== undefined && { nodelist }) }),
  };
}

function jobOf(fields: SlurmFields): SlurmJob | undefined {
  const id = numberOf(fields.job_id);
  if (id === undefined) return undefined;
  const states = wordsOf(fields.job_state).map((word) => word.toUpperCase());
  const [state = ''] = states;
  const preempted = dateOf(numberOf(fields.preempt_time));
  const [host] = wordsOf(fields.batch_host);
  return {
    id,
    state: states.includes('COMPLETING') ? 'COMPLETING' : state,
    reason: typeof fields.state_reason === 'string' ? fields.state_reason : '',
    host: host ?? null,
    endsAt: preempted ?? dateOf(numberOf(fields.end_time)),
    restarts: numberOf(fields.restart_cnt) ?? 0,
    comment: typeof fields.comment === 'string' ? fields.comment : '',
  };
}

function nodeOf(fields: SlurmFields): SlurmNode | undefined {
  if (typeof fields.name !== 'string') return undefined;
  const [cpus = 0, used = 0] = [numberOf(fields.cpus), numberOf(fields.alloc_cpus)];
  const [memory = 0, usedMemory = 0] = [numberOf(fields.real_memory), numberOf(fields.alloc_memory)];
  const states = [...wordsOf(fields.state), ...wordsOf(fields.state_flags)];
  return {
    name: fields.name,
    partitions: wordsOf(fields.partitions),
    states: states.map((state) => state.toUpperCase()),
    reason: typeof fields.reason === 'string' ? fields.reason : '',
    cpus,
    freeCpus: Math.max(0, cpus - used),
    memory,
    freeMemory: Math.max(0, memory - usedMemory),
    disk: numberOf(fields.temporary_disk) ?? 0,
    features: wordsOf(fields.active_features),
  };
}

function parse(text: string): SlurmFields {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as SlurmFields;
  } catch {
    // The message below says it.
  }
  throw new EngineError(`slurmrestd answered something that is no JSON object: ${text.slice(0, 200)}`);
}

/** @throws EngineError with the words of Slurm */
function refuseErrors({ errors }: SlurmFields, status = 200): void {
  const list = (Array.isArray(errors) ? errors : []).filter(
    (item): item is SlurmFields => typeof item === 'object' && item !== null,
  );
  if (list.length === 0 && status < 300) return;
  const words = list.flatMap(({ description, error }) => [description, error]).filter((word) => typeof word === 'string');
  throw new EngineError(`Slurm refuses: ${[...new Set(words)].join('; ').slice(0, 500) || `status ${status}`}`, {
    isFinal: list.some(({ error_code, error_number }) => isHopeless(numberOf(error_code) ?? numberOf(error_number))),
  });
}

/**
 * Whether Slurm will refuse the same job again: partition (2000, 2002 to 2004), processors (2005), node configuration (2014),
 * account (2045, 2046), licence (2048), time limit (2051), QOS (2066). What lacks a node or a partition only now is none of them.
 * Source: slurm/slurm_errno.h
 */
function isHopeless(code: number | undefined): boolean {
  return code !== undefined && [2000, 2002, 2003, 2004, 2005, 2014, 2045, 2046, 2048, 2051, 2066].includes(code);
}

async function readText(body: Readable): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  await readChunks(body, (chunk) => {
    size += chunk.length;
    if (size > longestAnswer) throw new EngineError(`slurmrestd answered more than ${longestAnswer >> 20} MiB`);
    chunks.push(chunk);
  });
  return Buffer.concat(chunks).toString();
}

/** A listener that throws ends the answer; a connection that breaks is an `EngineError`, too. */
async function readChunks(body: Readable, onChunk: (chunk: Uint8Array) => void): Promise<void> {
  try {
    for await (const chunk of body) onChunk(chunk as Uint8Array);
  } catch (cause) {
    throw cause instanceof EngineError ? cause : new EngineError(`slurmrestd broke off: ${(cause as Error).message}`, { cause });
  }
}
