/**
 * Slices as batch jobs of Slurm. Jobs carry controller and slice in their comment, so that a controller that starts again finds them; the
 * newest job of a slice is the one that counts. Slurm has no notifications: the list is polled, and at once after `place` and `release`.
 */
import { EventEmitter, once } from 'node:events';
import { Retry } from '../../../lib/retry.ts';
import type { Engine, EngineLimits, Offer, SliceListener, SliceOrder, SliceReport } from '../engine.ts';
import { jobName, reportOf, type SlurmSettings, sliceOf, submissionOf, tagOf } from './slice-job.ts';
import type { ScriptSignal, SlurmClient, SlurmJob, SlurmNode } from './slurm-client.ts';

export interface SlurmEngineOptions {
  readonly client: SlurmClient;
  readonly settings: SlurmSettings;
  /** Default 2,000 ms: what Slurm's own documents ask of programs that poll. */
  readonly pollMs?: number;
}

interface ReportedJob {
  readonly job: SlurmJob;
  readonly report: SliceReport;
}

/** States of nodes on which nothing can be placed. */
const unusable =
  /^(DOWN|DRAIN|DRAINED|DRAINING|FAIL|FAILING|MAINT|RESERVED|NOT_RESPONDING|NO_RESPOND|POWER_DOWN|POWERED_DOWN|UNKNOWN)$/;
/** Between two signals to a slice that is to end. */
const pressMs = 1_000;
const retryTimes = { firstMs: 500, longestMs: 15_000 };

export class SlurmEngine implements Engine {
  readonly name = 'slurm';
  readonly #client: SlurmClient;
  readonly #settings: SlurmSettings;
  readonly #pollMs: number;
  /** `poll`: look now. */
  readonly #events = new EventEmitter();
  /** Owners of the slices that were placed or seen here, by slice. */
  readonly #owners = new Map<string, string>();
  readonly #enforcements = new Map<number, NodeJS.Timeout>();

  constructor({ client, settings, pollMs = 2_000 }: SlurmEngineOptions) {
    this.#client = client;
    this.#settings = settings;
    this.#pollMs = pollMs;
  }

  /** By size of what is free on the nodes of the partition; then whole nodes that are busy now. */
  async offer(): Promise<readonly Offer[]> {
    const { partition, kvm_feature } = this.#settings;
    const nodes = (await this.#client.nodes()).filter(
      ({ states, partitions }) =>
        !states.some((state) => unusable.test(state)) && (partition === '' || partitions.includes(partition)),
    );
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
    if (jobs.some(({ report }) => report.state !== 'ended' && report.state !== 'lost')) return;
    for (const { job, report } of jobs) {
      if (report.state === 'lost') await this.#client.cancel(job.id);
    }
    await this.#client.submit(submissionOf(order, this.#settings));
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
    let known: ReadonlyMap<string, SliceReport> | undefined;
    while (!signal.aborted) {
      const polled = this.#nextPoll(signal);
      try {
        const reports = await this.#reports(owner);
        if (signal.aborted) return;
        retry.succeeded();
        if (known) announceChanges(known, reports, listener);
        else {
          listener.onProblem(null);
          listener.onList([...reports.values()]);
        }
        known = reports;
        await polled;
      } catch (error) {
        if (signal.aborted) return;
        // Also what is no `EngineError`: a watch never rejects.
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
    await this.#client.close();
  }

  /** All jobs of a slice. Without owner, of any: the slice was placed by an earlier process. */
  async #jobsOf(owner: string, id: string): Promise<ReportedJob[]> {
    const jobs = owner === '' ? this.#client.jobs('', 'patchbay ') : this.#client.jobs(jobName(owner), tagOf(owner, id));
    return this.#reported((await jobs).filter((job) => sliceOf(job) === id));
  }

  async #reports(owner: string): Promise<Map<string, SliceReport>> {
    const jobs = await this.#client.jobs(jobName(owner), tagOf(owner));
    // The newest job of a slice replaces those before it.
    const reported = await this.#reported(jobs.toSorted((a, b) => a.id - b.id));
    for (const { report } of reported) this.#owners.set(report.id, owner);
    return new Map(reported.map(({ report }) => [report.id, report]));
  }

  async #reported(jobs: readonly SlurmJob[]): Promise<ReportedJob[]> {
    const hasHosts = jobs.some(({ host }) => host !== null);
    const nodes = new Map((hasHosts ? await this.#client.nodes() : []).map((node) => [node.name, node]));
    return jobs.map((job) => ({ job, report: reportOf(job, nodes.get(job.host ?? '')) }));
  }

  /**
   * A signal that came before the script had its traps is lost: it is sent again. What is not gone within the grace is ended by Slurm. Where
   * this process ends before, the next one that releases the slice does it.
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
    // It has ended, or Slurm does not answer: the slice is still reported then, and the controller asks again.
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

function announceChanges(
  known: ReadonlyMap<string, SliceReport>,
  reports: ReadonlyMap<string, SliceReport>,
  listener: SliceListener,
): void {
  for (const [id, report] of reports) {
    if (JSON.stringify(known.get(id)) !== JSON.stringify(report)) listener.onChange(report);
  }
  for (const [id, { host }] of known) {
    if (!reports.has(id)) listener.onChange({ id, state: 'ended', reason: null, host, endsAt: null });
  }
}
