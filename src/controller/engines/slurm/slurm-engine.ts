/**
 * Slices as batch jobs of Slurm. Jobs carry controller and slice in their comment, so that a controller that starts again finds
 * them. A slice may have several: one that was lost ends some time after the next one was submitted. The newest that keeps its
 * place counts, else the newest. Slurm has no notifications: the list is polled, and at once after `place` and `release`.
 */
import { EventEmitter, once } from 'node:events';
import { Retry } from '../../../lib/retry.ts';
import {
  type Engine,
  EngineError,
  type EngineLimits,
  type Offer,
  type SliceListener,
  type SliceOrder,
  type SliceReport,
} from '../engine.ts';
import { jobName, reportOf, type SlurmSettings, sliceOf, submissionOf, tagOf } from './slice-job.ts';
import type { ScriptSignal, SlurmClient, SlurmJob, SlurmNode, SlurmSubmission } from './slurm-client.ts';

interface ReportedJob {
  readonly job: SlurmJob;
  readonly report: SliceReport;
}

type ReportedJobs = ReadonlyMap<string, ReportedJob>;

/** States of nodes on which nothing can be placed. */
const unusable =
  /^(DOWN|DRAIN|DRAINED|DRAINING|FAIL|FAILING|MAINT|RESERVED|NOT_RESPONDING|NO_RESPOND|POWER_DOWN|POWERED_DOWN|UNKNOWN)$/;
/** Time between two signals to a slice that is to end. */
const pressMs = 1_000;
const retryTimes = { firstMs: 500, longestMs: 15_000 };

export class SlurmEngine implements Engine {
  readonly name = 'slurm';
  readonly canBeAsked = true;
  readonly #client: Pick<SlurmClient, keyof SlurmClient>;
  readonly #settings: SlurmSettings;
  readonly #pollMs: number;
  /** `poll`: look now. */
  readonly #events = new EventEmitter();
  /** Owners of the slices that were placed or seen here, by slice. */
  readonly #owners = new Map<string, string>();
  readonly #enforcements = new Map<number, NodeJS.Timeout>();
  /** Lists that were asked for so far. */
  #polls = 0;
  /** Number of the latest list that was requested before a slice's job was submitted, by slice. */
  readonly #submitted = new Map<string, number>();

  /** `pollMs`: what Slurm's own documents ask of programs that poll. */
  constructor(client: Pick<SlurmClient, keyof SlurmClient>, settings: SlurmSettings, pollMs = 2_000) {
    this.#client = client;
    this.#settings = settings;
    this.#pollMs = pollMs;
  }

  /** Offers the free resources of the partition's nodes, merged by size; then whole nodes that are busy now. */
  async offer(): Promise<readonly Offer[]> {
    const { partition, kvm_feature } = this.#settings;
    const nodes = (await this.#nodes()).filter(({ states }) => !states.some((state) => unusable.test(state)));
    const offers = new Map<string, Offer>();
    const add = (node: SlurmNode, size: { cpus: number; memory: number }, wait: number | null) => {
      const name = partition || node.partitions[0] || 'slurm';
      const kvm = node.features.includes(kvm_feature);
      const key = JSON.stringify([name, size.cpus, size.memory, node.disk, kvm, wait]);
      const count = (offers.get(key)?.count ?? 0) + 1;
      // Where Slurm does not count temporary disk, it does not limit it either.
      offers.set(key, { name, ...size, disk: node.disk || Number.MAX_SAFE_INTEGER, kvm, count, wait });
    };
    for (const node of nodes) {
      if (node.freeCpus > 0 && node.freeMemory > 0) add(node, { cpus: node.freeCpus, memory: node.freeMemory }, 0);
      if (node.freeCpus < node.cpus || node.freeMemory < node.memory) add(node, { cpus: node.cpus, memory: node.memory }, null);
    }
    return [...offers.values()].toSorted((a, b) => (a.wait ?? 1) - (b.wait ?? 1) || b.cpus - a.cpus || b.memory - a.memory);
  }

  /** A job that is lost is cancelled: who places its slice again has waited for the end of its lease. */
  async place(order: SliceOrder): Promise<void> {
    // A crash or a lost answer may have left a job of this slice.
    const jobs = await this.#jobsOf(order.owner, order.id);
    this.#owners.set(order.id, order.owner);
    // Where one runs, is suspended or is about to end, its end is reported, and the slice is placed again then.
    if (jobs.some(keepsPlace)) return;
    for (const { job, report } of jobs) {
      if (report.state === 'lost') await this.#client.cancel(job.id);
    }
    await this.#submit(submissionOf(order, this.#settings));
    this.#submitted.set(order.id, this.#polls);
    this.#events.emit('poll');
  }

  async release(id: string, { keepDisks }: { readonly keepDisks: boolean }): Promise<void> {
    for (const { job, report } of await this.#jobsOf(this.#owners.get(id) ?? '', id)) {
      if (report.state === 'ended') continue;
      if (job.state !== 'RUNNING' || report.state === 'lost') await this.#client.cancel(job.id);
      else {
        await this.#client.signal(job.id, keepDisks ? 'WINCH' : 'URG');
        this.#enforce(job.id, keepDisks ? 'WINCH' : 'URG');
      }
    }
    this.#events.emit('poll');
  }

  async watch(owner: string, listener: SliceListener, signal: AbortSignal): Promise<void> {
    const retry = new Retry(retryTimes);
    let known: ReportedJobs | undefined;
    while (!signal.aborted) {
      const polled = this.#nextPoll(signal);
      this.#polls += 1;
      const poll = this.#polls;
      try {
        const found = await this.#jobsBySlice(owner);
        if (signal.aborted) return;
        retry.succeeded();
        // Slices that were placed meanwhile have their earlier jobs in this list.
        const old = new Set([...this.#submitted].filter(([, at]) => at >= poll).map(([id]) => id));
        if (known) {
          const jobs = withKnown(found, known, old);
          announceChanges(known, jobs, listener);
          known = jobs;
        } else if (old.size === 0) {
          listener.onProblem(null);
          listener.onList(Array.from(found.values(), ({ report }) => report));
          known = found;
        }
        await polled;
      } catch (error) {
        if (signal.aborted) return;
        // Other errors than `EngineError` are reported as well: a watch never rejects.
        known = undefined;
        listener.onProblem((error as Error).message);
        await retry.pause(signal);
      }
    }
  }

  limits(): Promise<EngineLimits> {
    const { minutes, grace, data_folder, kvm_feature } = this.#settings;
    return Promise.resolve({
      slices: null,
      walltime: minutes > 0 ? minutes * 60 : null,
      grace,
      disks: data_folder === '' ? 'none' : 'anywhere',
      remarks: [
        ...(data_folder === ''
          ? ['The disks of machines end with their slice: name a folder that all nodes share as data_folder in [Slurm].']
          : []),
        ...(kvm_feature === ''
          ? ['No machine gets /dev/kvm: name the feature of nodes that have it as kvm_feature in [Slurm].']
          : []),
      ],
    });
  }

  /** Jobs keep running. */
  async close(): Promise<void> {
    for (const timer of this.#enforcements.values()) clearTimeout(timer);
  }

  /**
   * Slurm has one error (2015) for what the partition lacks now and what it will never have: it will never have more than its
   * largest node, be that down or drained.
   */
  async #submit(submission: SlurmSubmission): Promise<void> {
    try {
      await this.#client.submit(submission);
    } catch (error) {
      if (!(error instanceof EngineError) || error.isFinal) throw error;
      const nodes = await this.#nodes().catch(() => []);
      const isTooLarge =
        nodes.length > 0 && !nodes.some((node) => node.cpus >= submission.cpus && node.memory >= submission.memory);
      throw isTooLarge
        ? new EngineError(`${error.message}: no node is as large as it needs`, { isFinal: true, cause: error })
        : error;
    }
  }

  /** Lists the nodes of the partition, whatever their state. */
  async #nodes(): Promise<SlurmNode[]> {
    const { partition } = this.#settings;
    return (await this.#client.nodes()).filter(({ partitions }) => partition === '' || partitions.includes(partition));
  }

  /** All jobs of a slice. Without owner, of any: the slice was placed by an earlier process. */
  async #jobsOf(owner: string, id: string): Promise<ReportedJob[]> {
    const jobs = owner === '' ? this.#client.jobs('', 'patchbay ') : this.#client.jobs(jobName(owner), tagOf(owner, id));
    return this.#reported((await jobs).filter((job) => sliceOf(job) === id));
  }

  /** The one that counts of each slice. */
  async #jobsBySlice(owner: string): Promise<ReportedJobs> {
    const jobs = await this.#client.jobs(jobName(owner), tagOf(owner));
    const reported = await this.#reported(jobs.toSorted((a, b) => a.id - b.id));
    for (const { report } of reported) this.#owners.set(report.id, owner);
    // Jobs that keep a place come last: as long as there is one, nothing is submitted (`place`), and its end is awaited.
    const ordered = [...reported.filter((one) => !keepsPlace(one)), ...reported.filter(keepsPlace)];
    return new Map(ordered.map((one) => [one.report.id, one]));
  }

  async #reported(jobs: readonly SlurmJob[]): Promise<ReportedJob[]> {
    const hasHosts = jobs.some(({ host }) => host !== null);
    const nodes = new Map((hasHosts ? await this.#client.nodes() : []).map((node) => [node.name, node]));
    return jobs.map((job) => ({ job, report: reportOf(job, nodes.get(job.host ?? '')) }));
  }

  /**
   * A signal that came before the script had its traps is lost: it is sent again. What is not gone within the grace is ended by
   * Slurm. Where this process ends before, the next one that releases the slice does it.
   */
  #enforce(job: number, signal: ScriptSignal): void {
    if (this.#enforcements.has(job)) return;
    const begun = performance.now();
    const stop = () => {
      clearInterval(timer);
      this.#enforcements.delete(job);
    };
    const press = async () => {
      if (performance.now() - begun < this.#settings.grace * 1000) return this.#client.signal(job, signal);
      stop();
      return this.#client.cancel(job);
    };
    // The job has ended, or Slurm does not answer. In the second case the slice is still reported, and the controller asks again.
    const timer = setInterval(() => void press().catch(stop), pressMs).unref();
    this.#enforcements.set(job, timer);
  }

  async #nextPoll(signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const end = () => waiting.abort();
    const timer = setTimeout(end, this.#pollMs);
    signal.addEventListener('abort', end);
    try {
      await once(this.#events, 'poll', { signal: waiting.signal });
    } catch {
      // The time was over.
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  }
}

/** Whether the job occupies its slice: no other job is submitted for the slice then. */
function keepsPlace({ report: { state } }: ReportedJob): boolean {
  return state !== 'ended' && state !== 'lost';
}

/** Returns `found`, completed by the earlier reports of the slices in `ids`. */
function withKnown(found: ReportedJobs, known: ReportedJobs, ids: ReadonlySet<string>): ReportedJobs {
  const of = (jobs: ReportedJobs, isWanted: (id: string) => boolean) => [...jobs].filter(([id]) => isWanted(id));
  return new Map([...of(found, (id) => !ids.has(id)), ...of(known, (id) => ids.has(id))]);
}

/** The next job of a slice may have the same words as the one before: that it has ended as well is news. */
function announceChanges(known: ReportedJobs, jobs: ReportedJobs, listener: SliceListener): void {
  for (const [id, { job, report }] of jobs) {
    const before = known.get(id);
    if (before?.job.id !== job.id || JSON.stringify(before.report) !== JSON.stringify(report)) listener.onChange(report);
  }
  for (const [id, { report }] of known) {
    if (!jobs.has(id)) listener.onChange({ id, state: 'ended', reason: null, host: report.host, endsAt: null });
  }
}
